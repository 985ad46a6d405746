// SPDX-License-Identifier: Apache-2.0
package import TerminalCanvas

/// The one table of commands; to add a key is to add a record.
package enum Keymap {
  package static let commands: [Command] = always + screen + panes + overlays

  private static let index: [KeyContext: [Key: Command]] = Dictionary(grouping: commands, by: \.context)
    .mapValues { group in
      Dictionary(
        group.flatMap { command in command.keys.map { ($0, command) } }, uniquingKeysWith: { first, _ in first })
    }

  /// The command of a key, looked up in the contexts in order.
  package static func command(for key: Key, in contexts: [KeyContext]) -> Command? {
    contexts.lazy.compactMap { index[$0]?[key] }.first
  }

  static func command(named name: String, in contexts: [KeyContext]) -> Command? {
    contexts.lazy.compactMap { context in commands.first { $0.name == name && $0.context == context } }.first
  }

  /// All commands of some contexts in order, without those that one of the same name hides.
  static func commands(in contexts: [KeyContext], where isWanted: (Command) -> Bool = { _ in true }) -> [Command] {
    var taken: Set<String> = []
    return contexts.flatMap { context in
      commands.filter { $0.context == context && isWanted($0) && taken.insert($0.name).inserted }
    }
  }
}
