// SPDX-License-Identifier: Apache-2.0

/// A complete control sequence `CSI parameters final`, as sent by xterm, rxvt, the linux console and kitty.
struct ControlSequence {
  private let prefix: UInt8?
  private let intermediate: UInt8?
  private let final: UInt8
  private let numbers: [Int]

  /// - Parameter parameters: the bytes 0x20–0x3F before the final byte.
  init(parameters: ArraySlice<UInt8>, final: UInt8) {
    self.final = final
    prefix = parameters.first.flatMap { (0x3C...0x3F).contains($0) ? $0 : nil }
    intermediate = parameters.last.flatMap { (0x20...0x2F).contains($0) ? $0 : nil }
    let digits = parameters.filter { (0x30...0x3B).contains($0) }
    numbers = digits.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false).map { field in
      // Sub-parameters after a colon refine a value; only the value matters here.
      field.prefix { $0 != UInt8(ascii: ":") }.reduce(0) { min($0 * 10 + Int($1) - 0x30, 1_000_000) }
    }
  }

  var beginsPaste: Bool { prefix == nil && final == UInt8(ascii: "~") && number(0) == 200 }

  /// The event of the sequence; `nil` if it has no meaning for this program.
  var event: InputEvent? {
    if prefix == UInt8(ascii: "<"), [UInt8(ascii: "M"), UInt8(ascii: "m")].contains(final) { return mouse }
    if prefix != nil || intermediate != nil { return .reply(.other) }
    switch final {
    case UInt8(ascii: "I"): return .focus(true)
    case UInt8(ascii: "O"): return .focus(false)
    case UInt8(ascii: "n"): return .reply(number(0) == 0 ? .drawn : .other)
    case UInt8(ascii: "c"), UInt8(ascii: "t"), UInt8(ascii: "y"): return .reply(.other)
    case UInt8(ascii: "R") where !(numbers.count == 2 && number(0) == 1 && (2...8).contains(number(1))):
      return numbers.count == 2 ? .reply(.other) : .key(Key(.f(3)))
    case UInt8(ascii: "u"): return unicodeKey(number(0), modifiers: number(1))
    case UInt8(ascii: "~"):
      if number(0) == 27 { return unicodeKey(number(2), modifiers: number(1)) }
      return tildeKey.map { .key(Key($0, Self.modifiers(number(1)))) }
    case UInt8(ascii: "Z"): return .key(Key(.backTab, Self.modifiers(number(1))))
    default: return Self.letterKey(final).map { .key(Key($0, Self.modifiers(number(1)))) }
    }
  }

  private func number(_ index: Int) -> Int { index < numbers.count ? numbers[index] : 0 }

  /// Decodes modifiers. xterm counts them from 1. Bit 3 is meta, which means alt.
  static func modifiers(_ parameter: Int) -> Key.Modifiers {
    guard (2...16).contains(parameter) else { return [] }
    let bits = parameter - 1
    var modifiers: Key.Modifiers = []
    if bits & 1 != 0 { modifiers.insert(.shift) }
    if bits & 10 != 0 { modifiers.insert(.alt) }
    if bits & 4 != 0 { modifiers.insert(.ctrl) }
    return modifiers
  }

  /// The key of a final letter after `CSI` or `SS3`.
  static func letterKey(_ byte: UInt8) -> Key.Base? {
    switch byte {
    case UInt8(ascii: "A"): .up
    case UInt8(ascii: "B"): .down
    case UInt8(ascii: "C"): .right
    case UInt8(ascii: "D"): .left
    case UInt8(ascii: "H"): .home
    case UInt8(ascii: "F"): .end
    case UInt8(ascii: "P")...UInt8(ascii: "S"): .f(Int(byte - UInt8(ascii: "P")) + 1)
    default: nil
    }
  }

  private var tildeKey: Key.Base? {
    switch number(0) {
    case 1, 7: .home
    case 2: .insert
    case 3: .delete
    case 4, 8: .end
    case 5: .pageUp
    case 6: .pageDown
    case 11...15: .f(number(0) - 10)
    case 17...21: .f(number(0) - 11)
    case 23, 24: .f(number(0) - 12)
    case 25, 26: .f(number(0) - 12)
    case 28, 29: .f(number(0) - 13)
    case 31...34: .f(number(0) - 14)
    default: nil
    }
  }

  private func unicodeKey(_ code: Int, modifiers: Int) -> InputEvent? {
    let modifiers = Self.modifiers(modifiers)
    switch code {
    case 9: return .key(Key(.tab, modifiers))
    case 13: return .key(Key(.enter, modifiers))
    case 27: return .key(Key(.escape, modifiers))
    case 8, 127: return .key(Key(.backspace, modifiers))
    case 0..<0x20, 0x7F..<0xA0, 0xE000...0xF8FF: return nil
    default:
      guard let scalar = UInt32(exactly: code).flatMap(Unicode.Scalar.init) else { return nil }
      return .key(Key(.character(Character(scalar)), modifiers))
    }
  }

  /// The mouse event of `CSI < buttons ; column ; row M|m` (mode 1006). Columns and rows are counted from 1.
  private var mouse: InputEvent? {
    guard numbers.count == 3, number(0) < 256, number(1) >= 1, number(2) >= 1 else { return nil }
    let bits = number(0)
    var modifiers: Key.Modifiers = []
    if bits & 4 != 0 { modifiers.insert(.shift) }
    if bits & 8 != 0 { modifiers.insert(.alt) }
    if bits & 16 != 0 { modifiers.insert(.ctrl) }
    func event(_ kind: MouseEvent.Kind, _ button: MouseEvent.Button) -> InputEvent {
      .mouse(MouseEvent(kind: kind, button: button, x: number(1) - 1, y: number(2) - 1, modifiers: modifiers))
    }
    if bits & 0x40 != 0 {
      // 66 and 67 are the horizontal wheel, 128 and above the extra buttons.
      switch bits & 0xE3 {
      case 0x40: return event(.wheelUp, .none)
      case 0x41: return event(.wheelDown, .none)
      default: return nil
      }
    }
    guard bits & ~0x3F == 0 else { return nil }
    let buttons: [MouseEvent.Button] = [.left, .middle, .right, .none]
    let button = buttons[bits & 3]
    if final == UInt8(ascii: "m") { return event(.release, button) }
    if bits & 0x20 != 0 { return button == .none ? nil : event(.drag, button) }
    return button == .none ? event(.release, .none) : event(.press, button)
  }
}
