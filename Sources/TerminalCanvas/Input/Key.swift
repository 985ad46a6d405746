// SPDX-License-Identifier: Apache-2.0

/// One key press with its modifiers, in the one form that terminals can tell apart.
///
/// `shift` is part of a character ("G"), `shift-tab` is `backTab`, and `ctrl-m`, `ctrl-i`, `ctrl-[`, `ctrl-h` are
/// `enter`, `tab`, `escape`, `backspace`, because they arrive as the same bytes.
package struct Key: Hashable, Sendable {
  package enum Base: Hashable, Sendable {
    case character(Character)
    case up, down, left, right
    case home, end, pageUp, pageDown
    case enter, escape, tab, backTab, backspace, delete, insert
    /// A function key, counted from 1.
    case f(Int)
  }

  package struct Modifiers: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    package static let shift = Modifiers(rawValue: 1)
    package static let alt = Modifiers(rawValue: 2)
    package static let ctrl = Modifiers(rawValue: 4)
  }

  package let base: Base
  package let modifiers: Modifiers

  /// Brings the pair into its one canonical form.
  package init(_ base: Base, _ modifiers: Modifiers = []) {
    var base = base
    var modifiers = modifiers
    if case .character(let character) = base {
      if modifiers.contains(.ctrl), let lower = character.lowercased().first {
        base = Self.controlAliases[lower] ?? .character(lower)
        if Self.controlAliases[lower] != nil { modifiers.remove(.ctrl) }
      } else if modifiers.contains(.shift), character.isLowercase, let upper = character.uppercased().first {
        base = .character(upper)
      }
      modifiers.remove(.shift)
    } else if base == .tab, modifiers.contains(.shift) {
      base = .backTab
    }
    if base == .backTab { modifiers.remove(.shift) }
    self.base = base
    self.modifiers = modifiers
  }

  package static func character(_ character: Character) -> Key { Key(.character(character)) }
  package static func ctrl(_ character: Character) -> Key { Key(.character(character), .ctrl) }
  package static func alt(_ character: Character) -> Key { Key(.character(character), .alt) }

  /// The text that the key types into a field; `nil` for everything but an unmodified character.
  package var typedCharacter: Character? {
    guard case .character(let character) = base, modifiers.isEmpty else { return nil }
    return character
  }

  private static let controlAliases: [Character: Base] = ["m": .enter, "i": .tab, "[": .escape, "h": .backspace]
}
