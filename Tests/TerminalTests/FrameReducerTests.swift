// SPDX-License-Identifier: Apache-2.0
import FirestoreTesting
import SeededRandom
import TerminalCanvas
import TerminalTesting
import Testing

@testable import Terminal

@Suite("Reduced terminal output")
struct FrameReducerTests {
  private static func reduced(_ frames: [String], abilities: FrameReducer.Abilities = .init()) -> [String] {
    var reducer = FrameReducer(height: 8, abilities: abilities)
    // What a terminal has before the first frame is not known.
    _ = reducer.reduced(Array("\u{1B}(B\u{1B}[ma".utf8))
    return frames.map { String(decoding: reducer.reduced(Array($0.utf8)), as: UTF8.self) }
  }

  @Test(
    "Styles are sent once, relative to the terminal's state, across frames too",
    arguments: [
      (["\u{1B}[38;5;1m\u{1B}[48;5;2ma\u{1B}[38;5;3m\u{1B}[48;5;2mb"], ["\u{1B}[38;5;1;48;5;2ma\u{1B}[38;5;3mb"]),
      (["\u{1B}[31;44ma\u{1B}[39;49m\u{1B}(B\u{1B}[m", "\u{1B}[32;44mb"], ["\u{1B}[31;44ma", "\u{1B}[32mb"]),
      (["\u{1B}[31ma\u{1B}[m", "b"], ["\u{1B}[31ma", "\u{1B}[mb"]),
      (["\u{1B}[31ma\u{1B}[0;1m\u{1B}[31mb\u{1B}[m\u{1B}[31mc"], ["\u{1B}[31ma\u{1B}[1mb\u{1B}[22mc"]),
      (["\u{1B}[1;2ma\u{1B}[0;2mb"], ["\u{1B}[1;2ma\u{1B}[0;2mb"]),
      (["\u{1B}[31;1;4ma\u{1B}[0;1;31mb"], ["\u{1B}[1;4;31ma\u{1B}[24mb"]),
      (["\u{1B}[31m \u{1B}[32ma\u{1B}[41m \u{1B}[4m "], [" \u{1B}[32ma\u{1B}[41m \u{1B}[4m "]),
      (["\u{1B}[31m\u{1B}[2J\u{1B}[3;4Ha"], ["\u{1B}7\u{1B}[1;8r\u{1B}8\u{1B}[2J\u{1B}[3;4H\u{1B}[31ma"]),
      (["\u{1B}[3", "\u{1B}", ""], ["\u{1B}7\u{1B}[1;8r\u{1B}8\u{1B}[3", "\u{1B}", ""]),
      (["\u{1B}[38:5:9ma\u{1B}[31mb\u{1B}[0;32mc"], ["\u{1B}[38:5:9ma\u{1B}[31mb\u{1B}[0;32mc"]),
    ])
  func looks(_ frames: [String], _ expected: [String]) {
    #expect(Self.reduced(frames) == expected)
  }

  @Test("A terminal that cannot unset single attributes is reset")
  func resets() {
    #expect(
      Self.reduced(["\u{1B}[1;4ma\u{1B}[0;1mb"], abilities: .init(unsetsAttributes: false))
        == ["\u{1B}[1;4ma\u{1B}[0;1mb"])
  }

  @Test("Scroll margins are set once for repeated scrolls, and blanks are not drawn")
  func scrolling() {
    let row = "\u{1B}[3;6r\u{1B}[6;1H\u{1B}[44m\n\u{1B}[1;8r\u{1B}[6;1H\u{1B}[31ma        b\u{1B}[K\u{1B}[m"
    #expect(
      Self.reduced([row, row]) == [
        "\u{1B}[3;6r\u{1B}[6H\u{1B}[44m\n\u{1B}[6H\u{1B}[31ma\u{1B}[8Cb",
        "\u{1B}[6H\n\u{1B}[6Ha\u{1B}[8Cb",
      ])
    #expect(
      Self.reduced([row, "\u{1B}[8;1Hx\u{1B}[A"])[1] == "\u{1B}[8H\u{1B}[mx\u{1B}7\u{1B}[1;8r\u{1B}8\u{1B}[A",
      "margins would stop the cursor")
  }

  @Test("A cursor move within a row sends only the column if the terminal supports it")
  func moves() {
    let frame = "\u{1B}[2;3Ha\u{1B}[2;49Hb\u{1B}[2;1Hc\u{1B}[9dd\u{1B}[9;4He\u{1B}[9;4H\nf\u{1B}[9;7Hg"
    let plain = "\u{1B}[2;3Ha\u{1B}[49Gb\rc\u{1B}[9dd\u{1B}[4Ge\u{1B}[4G\nf\u{1B}[9;7Hg"
    let margins = "\u{1B}7\u{1B}[1;8r\u{1B}8"
    let expected = plain.replacing("\n", with: margins + "\n")
    #expect(Self.reduced([frame], abilities: .init(movesInRow: true)) == [expected])
    #expect(Self.reduced(["\u{1B}[2;3Ha\u{1B}[2;49Hb"]) == ["\u{1B}[2;3Ha\u{1B}[2;49Hb"])
  }

  @Test("Leftover terminal state is undone before other programs use the terminal")
  func finishing() {
    var reducer = FrameReducer(height: 8)
    _ = reducer.reduced(Array("\u{1B}[3;6r\u{1B}[6;1H\u{1B}[44m\n".utf8))
    #expect(String(decoding: reducer.finish(), as: UTF8.self) == "\u{1B}7\u{1B}[r\u{1B}8\u{1B}[m")
    #expect(String(decoding: reducer.reduced(Array("a".utf8)), as: UTF8.self) == "\u{1B}[ma")
  }

  @Test("Reduced random frames show the same picture with fewer bytes", arguments: [true, false])
  func random(_ unsetsAttributes: Bool) {
    var random = SeededGenerator(seed: 11)
    // Wide enough that nothing wraps, which ncurses leaves to no terminal.
    let size = Size(width: 160, height: 8)
    let parts = [
      "a", "bc", "é", " ", "          ", "\u{1B}[31m", "\u{1B}[97m", "\u{1B}[41m", "\u{1B}[104m", "\u{1B}[38;5;9m",
      "\u{1B}[48;5;9m", "\u{1B}[38;2;1;2;3m", "\u{1B}[48;2;1;2;3m", "\u{1B}[39;49m", "\u{1B}[m", "\u{1B}[0m",
      "\u{1B}[1m",
      "\u{1B}[0;7m", "\u{1B}[0;4;31m", "\u{1B}(B", "\u{1B}[3;4H", "\u{1B}[6;1H", "\u{1B}[6;9H", "\u{1B}[8;1H",
      "\u{1B}[K",
      "\u{1B}[3X", "\u{1B}[A", "\u{1B}[B", "\u{1B}[J", "\u{1B}[38;5;1;48;5;2m", "\r", "\u{1B}[2P", "\u{1B}[3@",
      "\u{1B}[4L",
      "\u{1B}[3;6r\u{1B}[6;1H\n\u{1B}[1;8r\u{1B}[6;1H", "\u{1B}[3;6r\u{1B}[6;1H\n\n\u{1B}[1;8r\u{1B}[5;1H",
      "\u{1B}[3;6r\u{1B}[6;1H\u{1B}[2S\u{1B}[1;8r\u{1B}[5;2H", "\u{1B}[2;6r\u{1B}[6;1H\n\u{1B}[1;8r\u{1B}[6;1H",
    ]
    var (before, after) = (0, 0)
    for round in 0..<TestSize.count(25, full: 150) {
      var (raw, model) = (TerminalModel(size: size), TerminalModel(size: size))
      let abilities = FrameReducer.Abilities(unsetsAttributes: unsetsAttributes, movesInRow: true)
      var reducer = FrameReducer(height: size.height, abilities: abilities)
      for _ in 0..<6 {
        if Int.random(in: 0..<20, using: &random) == 0 { reducer.forget() }
        let frame = (0..<Int.random(in: 0...14, using: &random)).map { _ in parts.randomElement(using: &random) ?? "" }
          .joined()
        // Every frame begins at a place and ends without looks, as ncurses makes them.
        let bytes = Array(("\u{1B}[1;1H" + frame + "\u{1B}(B\u{1B}[m").utf8)
        let fewer = reducer.reduced(bytes)
        raw.interpret(bytes)
        model.interpret(fewer)
        (before, after) = (before + bytes.count, after + fewer.count)
        #expect(model.text == raw.text, "seed 11 round \(round): \(frame.debugDescription)")
        #expect(shown(model) == shown(raw), "seed 11 round \(round): \(frame.debugDescription)")
      }
    }
    #expect(after < before)
  }

  /// The looks of all cells, as far as what stands in them shows them.
  private func shown(_ model: TerminalModel) -> [[TerminalModel.Look]] {
    zip(model.text, model.looks).map { text, looks in
      zip(looks, text).map { $1 == " " ? $0.ofBlank : $0 }
    }
  }
}
