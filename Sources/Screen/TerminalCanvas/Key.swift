// SPDX-License-Identifier: Apache-2.0

/// A key press with its modifiers. Key presses that terminals cannot distinguish are equal.
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

  /// Creates a key press from a key and its modifiers, and converts it to its canonical form.
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

  /// The character that the key types into a text field; `nil` for keys with modifiers and for keys without a
  /// character.
  package var typedCharacter: Character? {
    guard case .character(let character) = base, modifiers.isEmpty else { return nil }
    return character
  }

  private static let controlAliases: [Character: Base] = ["m": .enter, "i": .tab, "[": .escape, "h": .backspace]
}

extension Key: LosslessStringConvertible {
  /// Parses the notation of keymaps and help: `j`, `G`, `ctrl-d`, `shift-tab`, `alt-x`, `space`, `enter`, `f5`.
  ///
  /// Returns `nil` for an empty or unknown name, and for control characters. Key names and modifiers are
  /// case-insensitive; single characters are not.
  package init?(_ description: String) {
    var rest = Substring(description)
    var modifiers: Modifiers = []
    while let modifier = Self.modifierNames.first(where: { name, _ in
      rest.count > name.count && rest.prefix(name.count).lowercased() == name
    }) {
      modifiers.insert(modifier.1)
      rest = rest.dropFirst(modifier.0.count)
    }
    if let base = Self.bases[rest.lowercased()] {
      self.init(base, modifiers)
    } else if rest.count == 1, let character = rest.first, Self.isTypable(character) {
      self.init(.character(character), modifiers)
    } else if rest.first?.lowercased() == "f", let number = Int(rest.dropFirst()), (1...35).contains(number) {
      self.init(.f(number), modifiers)
    } else {
      return nil
    }
  }

  package var description: String {
    let prefix = Self.modifierNames.filter { modifiers.contains($0.1) }.map(\.0).joined()
    switch base {
    case .character(" "): return prefix + "space"
    case .character(let character): return prefix + String(character)
    case .f(let number): return prefix + "f\(number)"
    default: return prefix + (Self.names.first { $0.1 == base }?.0 ?? "?")
    }
  }

  private static func isTypable(_ character: Character) -> Bool {
    character.unicodeScalars.allSatisfy { $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value) }
  }

  private static let modifierNames: [(String, Modifiers)] = [("ctrl-", .ctrl), ("alt-", .alt), ("shift-", .shift)]

  /// The names of keys. If a key has several names, the first one is printed.
  private static let names: [(String, Base)] = [
    ("up", .up), ("down", .down), ("left", .left), ("right", .right), ("home", .home), ("end", .end),
    ("pgup", .pageUp), ("pageup", .pageUp), ("pgdn", .pageDown), ("pagedown", .pageDown), ("enter", .enter),
    ("return", .enter), ("esc", .escape), ("escape", .escape), ("shift-tab", .backTab), ("backtab", .backTab),
    ("tab", .tab), ("backspace", .backspace), ("del", .delete), ("delete", .delete), ("ins", .insert),
    ("insert", .insert), ("space", .character(" ")),
  ]

  private static let bases: [String: Base] = Dictionary(uniqueKeysWithValues: names)
}

/// A line in the section `[keys]` of a user's configuration: the keys that replace a command's default keys.
package struct KeyBinding: Hashable, Sendable {
  /// The section, such as `live-feed` for `[keys.live-feed]`. `nil` means `[keys]`, which applies to the whole screen
  /// and to every pane that has the command.
  package var section: String?
  package var command: String
  /// The keys in the syntax of `Key`. An empty list removes the command's keys.
  package var keys: [String]
  /// The line number in the file.
  package var line: Int?

  package init(section: String? = nil, _ command: String, _ keys: [String], line: Int? = nil) {
    self.section = section
    self.command = command
    self.keys = keys
    self.line = line
  }

  /// The name of the command, prefixed with the section.
  package var name: String { section.map { "\($0).\(command)" } ?? command }
}
