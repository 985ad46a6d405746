// SPDX-License-Identifier: Apache-2.0
import SeededRandom
import Testing

@testable import Terminal

@Suite("Colours are said once")
struct ColorFilterTests {
  @Test(
    "What is set already, or reset before it is used, is left out",
    arguments: [
      ("\u{1B}[38;5;1m\u{1B}[48;5;2ma\u{1B}[38;5;3m\u{1B}[48;5;2mb", "\u{1B}[38;5;1;48;5;2ma\u{1B}[38;5;3mb"),
      ("\u{1B}[31m\u{1B}[44ma\u{1B}[31m\u{1B}[44mb", "\u{1B}[31;44mab"),
      ("a\u{1B}[39;49m\u{1B}(B\u{1B}[m", "a\u{1B}(B\u{1B}[m"),
      ("\u{1B}[39;49mb", "\u{1B}[39;49mb"),
      ("\u{1B}[31ma\u{1B}[39;49m\u{1B}[31mb", "\u{1B}[31ma\u{1B}[39;49m\u{1B}[31mb"),
      ("\u{1B}[31ma\u{1B}[mb\u{1B}[31mc", "\u{1B}[31ma\u{1B}[mb\u{1B}[31mc"),
      ("\u{1B}[31ma\u{1B}[0;1mb\u{1B}[31mc", "\u{1B}[31ma\u{1B}[0;1mb\u{1B}[31mc"),
      ("\u{1B}[31ma\u{1B}7\u{1B}[31mb", "\u{1B}[31ma\u{1B}7\u{1B}[31mb"),
      ("\u{1B}[38;2;1;2;3ma\u{1B}[38;2;1;2;3m\u{1B}[48;2;4;5;6mb", "\u{1B}[38;2;1;2;3ma\u{1B}[48;2;4;5;6mb"),
      ("\u{1B}[31m\u{1B}[41m\n\u{1B}[3;4Ha", "\u{1B}[41m\n\u{1B}[3;4H\u{1B}[31ma"),
      ("\u{1B}[31m\u{1B}[3;4H\u{1B}[32ma", "\u{1B}[3;4H\u{1B}[32ma"),
      ("\u{1B}[31m\u{1B}[2Ja", "\u{1B}[31m\u{1B}[2Ja"), ("\u{1B}[3", "\u{1B}[3"), ("\u{1B}", "\u{1B}"), ("", ""),
    ])
  func shortened(_ frame: String, _ expected: String) {
    #expect(String(decoding: ColorFilter.filtered(Array(frame.utf8)), as: UTF8.self) == expected)
  }

  @Test("Every character keeps its colours, in random frames")
  func colours() {
    var random = SeededGenerator(seed: 11)
    let parts = [
      "a", "b", "漢", "\n", "\u{1B}[31m", "\u{1B}[32m", "\u{1B}[97m", "\u{1B}[41m", "\u{1B}[104m", "\u{1B}[38;5;9m",
      "\u{1B}[48;5;9m", "\u{1B}[38;2;1;2;3m", "\u{1B}[48;2;1;2;3m", "\u{1B}[39;49m", "\u{1B}[m", "\u{1B}[0m",
      "\u{1B}[1m", "\u{1B}[0;7m", "\u{1B}(B", "\u{1B}[3;4H", "\u{1B}[K", "\u{1B}[38;5;1;48;5;2m",
    ]
    for round in 0..<2_000 {
      let frame = (0..<Int.random(in: 0...24, using: &random)).map { _ in parts.randomElement(using: &random) ?? "" }
        .joined()
      let filtered = String(decoding: ColorFilter.filtered(Array(frame.utf8)), as: UTF8.self)
      #expect(drawn(filtered) == drawn(frame), "seed 11 round \(round): \(frame.debugDescription)")
      #expect(filtered.utf8.count <= frame.utf8.count, "seed 11 round \(round): \(frame.debugDescription)")
    }
  }

  /// What is drawn or erased, each with the look it has.
  private func drawn(_ frame: String) -> [String] {
    var look: [String: String] = [:]
    var drawn: [String] = []
    var rest = frame.unicodeScalars[...]
    func note(_ what: String) {
      // A line that scrolls in shows nothing but its background, and a move of the cursor nothing at all.
      let shown = what.hasSuffix("H") ? [:] : what == "\n" ? look.filter { $0.key == "bg" } : look
      drawn.append(what + shown.sorted { $0.key < $1.key }.map { " \($0.key)=\($0.value)" }.joined())
    }
    while let scalar = rest.popFirst() {
      guard scalar == "\u{1B}" else {
        note(String(scalar))
        continue
      }
      guard rest.popFirst() == "[" else {
        _ = rest.popFirst()
        continue
      }
      let parameters = String(String.UnicodeScalarView(rest.prefix { !(0x40...0x7E).contains($0.value) }))
      rest = rest.dropFirst(parameters.unicodeScalars.count)
      let final = rest.popFirst() ?? "?"
      guard final == "m" else {
        note("\(parameters)\(final)")
        continue
      }
      var numbers = parameters.split(separator: ";", omittingEmptySubsequences: false).map { Int($0) ?? 0 }[...]
      while let number = numbers.popFirst() {
        switch number {
        case 0: look = [:]
        case 38, 48:
          let count = numbers.first == 5 ? 2 : 4
          look[number == 38 ? "fg" : "bg"] = numbers.prefix(count).map(String.init).joined(separator: ".")
          numbers = numbers.dropFirst(count)
        case 39: look["fg"] = nil
        case 49: look["bg"] = nil
        case 30...37, 90...97: look["fg"] = String(number)
        case 40...47, 100...107: look["bg"] = String(number)
        default: look["a\(number)"] = "on"
        }
      }
    }
    return drawn
  }
}
