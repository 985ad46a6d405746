// SPDX-License-Identifier: Apache-2.0
import DashboardModel
package import TerminalCanvas

/// The one table of commands and their keys; to add a key is to add a record.
package struct Keymap: Sendable {
  package let commands: [Command]
  /// The commands that are in the palette only.
  let unbound: [Command]

  private let index: [KeyContext: [Key: Command]]

  package static let standard = Keymap(
    commands: always + screen + panes + timeline + scenario + overlays, unbound: unbound)

  init(commands: [Command], unbound: [Command]) {
    self.commands = commands
    self.unbound = unbound
    index = Dictionary(grouping: commands, by: \.context).mapValues { group in
      Dictionary(
        group.flatMap { command in command.keys.map { ($0, command) } }, uniquingKeysWith: { first, _ in first })
    }
  }

  /// The command of a key: the first one in the contexts, in their order.
  package func command(for key: Key, in contexts: [KeyContext]) -> Command? {
    contexts.lazy.compactMap { index[$0]?[key] }.first
  }

  package func command(named name: String, in contexts: [KeyContext]) -> Command? {
    contexts.lazy.compactMap { context in commands.first { $0.name == name && $0.context == context } }.first
  }

  /// The commands of some contexts in order, each name only once.
  package func commands(in contexts: [KeyContext], where isWanted: (Command) -> Bool = { _ in true }) -> [Command] {
    var taken: Set<String> = []
    return contexts.flatMap { context in
      commands.filter { $0.context == context && isWanted($0) && taken.insert($0.name).inserted }
    }
  }
}

/// The keymap as text for people.
package enum KeyReference {
  private static let order: [KeyContext] =
    [.screen, .past, .replay, .scenario, .always] + [Pane.collections, .writes, .network, .feed].map(KeyContext.pane)
    + [.requests, .pane(.detail)]
    + Overlay.Kind.allCases.map(KeyContext.overlay)

  /// The output of `hearth keys`: a section per context, a line per command with its keys, its name and its help.
  package static func plainText(_ keymap: Keymap = .standard) -> String {
    var lines: [String] = []
    for context in order {
      let commands = (keymap.commands + keymap.unbound).filter { $0.context == context }
      guard !commands.isEmpty else { continue }
      if !lines.isEmpty { lines.append("") }
      let title = context == .always ? "In every dialog too" : context.title
      lines.append("\(title) [\(["keys", context.section].compactMap(\.self).joined(separator: "."))]")
      lines += commands.map { command in
        "  " + Self.pad(command.keyText(.ascii, limit: 9), to: 18) + Self.pad(command.name, to: 19) + command.help
      }
    }
    return lines.joined(separator: "\n") + "\n"
  }

  private static func pad(_ text: String, to width: Int) -> String {
    text + String(repeating: " ", count: max(2, width - text.count))
  }
}
