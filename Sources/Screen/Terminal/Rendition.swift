// SPDX-License-Identifier: Apache-2.0

/// The attributes and colors that the terminal uses for the next output (SGR).
struct Rendition: Equatable {
  /// The attributes as a bit set. The bit numbers are the SGR numbers 1 to 9.
  private(set) var attributes: UInt16 = 0
  /// Parameters such as `38;5;253`; `nil` for the terminal's default color.
  private(set) var foreground: [UInt8]?
  private(set) var background: [UInt8]?

  /// The attributes that are visible on a blank: underlined, blinking, inverse, crossed out.
  private static let onBlanks: UInt16 = 1 << 4 | 1 << 5 | 1 << 7 | 1 << 9

  /// The kind of output for which a rendition is used.
  enum Use {
    case glyph
    /// A blank, an erasure or a line that scrolls in.
    case blank
  }

  /// Whether a blank shows only the background.
  var isPlainOnBlanks: Bool { attributes & Self.onBlanks == 0 }

  /// Applies the parameters of one SGR sequence.
  ///
  /// - Returns: `false` if a parameter is unknown. Parameters with colons are unknown.
  mutating func apply(_ parameters: ArraySlice<UInt8>) -> Bool {
    var fields = parameters.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false)[...]
    var result = self
    while let field = fields.popFirst() {
      guard let number = field.isEmpty ? 0 : Int(String(decoding: field, as: UTF8.self)) else { return false }
      switch number {
      case 0: result = Rendition()
      case 1...5, 7...9: result.attributes |= 1 << UInt16(number)
      case 22: result.attributes &= ~(1 << 1 | 1 << 2)
      case 23...25, 27...29: result.attributes &= ~(1 << UInt16(number - 20))
      case 30...37, 90...97: result.foreground = Array(field)
      case 40...47, 100...107: result.background = Array(field)
      case 39: result.foreground = nil
      case 49: result.background = nil
      case 38, 48:
        let count = fields.first.map { $0.elementsEqual("2".utf8) ? 4 : $0.elementsEqual("5".utf8) ? 2 : 0 } ?? 0
        guard count > 0, fields.count >= count, let last = fields.prefix(count).last else { return false }
        let color = Array(parameters[field.startIndex..<last.endIndex])
        fields = fields.dropFirst(count)
        if number == 38 { result.foreground = color } else { result.background = color }
      default: return false
      }
    }
    self = result
    return true
  }

  /// The rendition that looks like `self` for a kind of output and needs the fewest changes from `shown`.
  func needed(for use: Use, after shown: Rendition) -> Rendition {
    guard use == .blank, isPlainOnBlanks, shown.isPlainOnBlanks else { return self }
    var result = shown
    result.background = background
    return result
  }

  /// The shortest sequence that changes the rendition `shown` to this rendition. `nil` means that the current rendition
  /// is unknown.
  ///
  /// - Parameter unsets: whether the terminal can unset single attributes. Otherwise all attributes are reset first.
  func sequence(after shown: Rendition?, unsets: Bool) -> [UInt8] {
    guard shown != self else { return [] }
    let anew = Self.sequence([Array("0".utf8)] + changes(from: Rendition()))
    let isEmpty = self == Rendition()
    let reset = isEmpty ? Array("\u{1B}[m".utf8) : anew
    guard let shown, unsets || shown.attributes & ~attributes == 0 else { return reset }
    let change = Self.sequence(changes(from: shown))
    return change.count < reset.count ? change : reset
  }

  private func changes(from shown: Rendition) -> [[UInt8]] {
    var changes: [[UInt8]] = []
    var missing = attributes & ~shown.attributes
    let surplus = shown.attributes & ~attributes
    if surplus & 0b110 != 0 {
      // Bold and faint can only be unset together.
      changes.append(Array("22".utf8))
      missing |= attributes & 0b110
    }
    for number in 3...9 where surplus & 1 << UInt16(number) != 0 { changes.append(Array("\(number + 20)".utf8)) }
    for number in 1...9 where missing & 1 << UInt16(number) != 0 { changes.append(Array("\(number)".utf8)) }
    if foreground != shown.foreground { changes.append(foreground ?? Array("39".utf8)) }
    if background != shown.background { changes.append(background ?? Array("49".utf8)) }
    return changes
  }

  private static func sequence(_ parameters: [[UInt8]]) -> [UInt8] {
    Array("\u{1B}[".utf8) + parameters.joined(separator: [UInt8(ascii: ";")]) + Array("m".utf8)
  }
}
