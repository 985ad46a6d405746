// SPDX-License-Identifier: Apache-2.0

/// Takes out of a frame what it says about colours without need. ncurses sets both colours whenever a pair changes,
/// although a theme has few backgrounds, and gives the default colours back before it resets everything.
///
/// Colours are set when something is drawn with them, both in one sequence. Everything else passes unchanged, and what
/// is not understood ends all assumptions.
struct ColorFilter {
  /// The parameters that set a colour, such as `38;5;253`; `nil` where it is not known or the terminal's own.
  private typealias Color = ArraySlice<UInt8>

  /// The ends of sequences that move the cursor or set where lines scroll, and draw nothing.
  private static let moves = Set("ABCDGHdr".utf8)

  private enum Part: Hashable { case foreground, background }

  private var output: [UInt8] = []
  private var current: [Part: Color] = [:]
  private var wanted: [Part: Color] = [:]
  /// A sequence that gives the default colours back, until it is known to be needed.
  private var defaults: Color = []

  static func filtered(_ frame: [UInt8]) -> [UInt8] {
    var filter = ColorFilter()
    filter.output.reserveCapacity(frame.count)
    var rest = frame[...]
    while let byte = rest.first {
      if byte == 0x1B {
        rest = rest.dropFirst(filter.escape(rest))
      } else {
        // A line that scrolls in has the background; a return draws nothing.
        if byte == UInt8(ascii: "\n") { filter.settle([.background]) } else if byte >= 0x20 { filter.settle() }
        filter.output.append(byte)
        rest = rest.dropFirst()
      }
    }
    filter.settle()
    return filter.output
  }

  /// - Returns: how many bytes were taken.
  private mutating func escape(_ rest: ArraySlice<UInt8>) -> Int {
    let start = rest.startIndex
    guard rest.count > 2 else { return pass(rest) }
    if rest[start + 1] == UInt8(ascii: "("), rest[start + 2] == UInt8(ascii: "B") {
      // The character set has nothing to do with colours.
      output += rest.prefix(3)
      return 3
    }
    guard rest[start + 1] == UInt8(ascii: "["),
      let end = rest.dropFirst(2).firstIndex(where: { (0x40...0x7E).contains($0) })
    else {
      forget()
      return pass(rest.prefix(2))
    }
    let sequence = rest[start...end]
    guard rest[end] == UInt8(ascii: "m") else {
      guard Self.moves.contains(rest[end]) else { return pass(sequence) }
      output += sequence
      return sequence.count
    }
    let parameters = rest[start + 2..<end]
    switch Self.part(of: parameters) {
    case let part?: wanted[part] = parameters
    case nil where parameters.elementsEqual("39;49".utf8):
      wanted = [:]
      current = [:]
      defaults = sequence
    case nil where parameters.isEmpty || parameters.elementsEqual([UInt8(ascii: "0")]):
      // Everything is given back, so what was to be set before does not matter.
      forget()
      output += sequence
    case nil:
      settle()
      current = [:]
      output += sequence
    }
    return sequence.count
  }

  private mutating func pass(_ bytes: ArraySlice<UInt8>) -> Int {
    settle()
    output += bytes
    return bytes.count
  }

  private mutating func forget() {
    wanted = [:]
    current = [:]
    defaults = []
  }

  /// Sets the colours that differ from the present ones.
  private mutating func settle(_ parts: [Part] = [.foreground, .background]) {
    output += defaults
    defaults = []
    guard !wanted.isEmpty else { return }
    var changes: [Color] = []
    for part in parts {
      guard let color = wanted.removeValue(forKey: part), color != current[part] else { continue }
      current[part] = color
      changes.append(color)
    }
    guard let first = changes.first else { return }
    output += [0x1B, UInt8(ascii: "[")] + first
    for color in changes.dropFirst() { output += [UInt8(ascii: ";")] + color }
    output.append(UInt8(ascii: "m"))
  }

  /// Which colour the parameters set, if they do nothing else: `31`, `97`, `38;5;253`, `48;2;17;20;26`. The forms with
  /// colons are left as they are.
  private static func part(of parameters: ArraySlice<UInt8>) -> Part? {
    guard !parameters.contains(UInt8(ascii: ":")) else { return nil }
    let numbers = parameters.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false)
      .map { Int(String(decoding: $0, as: UTF8.self)) ?? -1 }
    switch (numbers.first ?? -1, numbers.count) {
    case (30...37, 1), (90...97, 1): return .foreground
    case (40...47, 1), (100...107, 1): return .background
    case (38, 3) where numbers[1] == 5, (38, 5) where numbers[1] == 2: return .foreground
    case (48, 3) where numbers[1] == 5, (48, 5) where numbers[1] == 2: return .background
    default: return nil
    }
  }
}
