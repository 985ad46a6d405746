// SPDX-License-Identifier: Apache-2.0
import TerminalCanvas

/// Encodes a keymap as the keys that differ from the standard ones.
extension Keymap: Codable {
  private struct Binding: Codable {
    var context: String
    var command: String
    var keys: [Key]

    func means(_ command: Command) -> Bool { command.name == self.command && command.context.title == context }
  }

  package func encode(to encoder: any Encoder) throws {
    let standard = Keymap.standard.commands + Keymap.standard.unbound
    let changed = (commands + unbound).filter { command in
      standard.first { $0.name == command.name && $0.context == command.context }?.keys != command.keys
    }
    try changed.map { Binding(context: $0.context.title, command: $0.name, keys: $0.keys) }.encode(to: encoder)
  }

  /// Decodes a keymap; commands that this program does not have are left out.
  package init(from decoder: any Decoder) throws {
    let bindings = try [Binding](from: decoder)
    if bindings.isEmpty {
      self = .standard
      return
    }
    let all = (Keymap.standard.commands + Keymap.standard.unbound).map { command in
      bindings.first { $0.means(command) }.map { command.bound(to: $0.keys) } ?? command
    }
    self.init(commands: all.filter { !$0.keys.isEmpty }, unbound: all.filter(\.keys.isEmpty))
  }
}
