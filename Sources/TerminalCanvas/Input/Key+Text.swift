// SPDX-License-Identifier: Apache-2.0

extension Key: LosslessStringConvertible {
  /// Reads the notation of keymaps and help: `j`, `G`, `ctrl-d`, `shift-tab`, `alt-x`, `space`, `enter`, `f5`.
  ///
  /// `nil` for an empty, unknown or control text. Key names and modifiers may be in any case; single characters keep
  /// theirs.
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

  /// The first name of a base is the one printed.
  private static let names: [(String, Base)] = [
    ("up", .up), ("down", .down), ("left", .left), ("right", .right), ("home", .home), ("end", .end),
    ("pgup", .pageUp), ("pageup", .pageUp), ("pgdn", .pageDown), ("pagedown", .pageDown), ("enter", .enter),
    ("return", .enter), ("esc", .escape), ("escape", .escape), ("shift-tab", .backTab), ("backtab", .backTab),
    ("tab", .tab), ("backspace", .backspace), ("del", .delete), ("delete", .delete), ("ins", .insert),
    ("insert", .insert), ("space", .character(" ")),
  ]

  private static let bases: [String: Base] = Dictionary(uniqueKeysWithValues: names)
}
