// SPDX-License-Identifier: Apache-2.0
import DashboardModel
package import TerminalCanvas

/// The single table of all commands and their keys. To add a key, add a record.
package struct Keymap: Sendable {
  package let commands: [Command]
  /// The palette-only commands.
  let unbound: [Command]

  private let index: [KeyContext: [Key: Command]]

  package static let standard = Keymap(
    commands: always + screen + panes + timeline + scenario + overlays, unbound: unbound)

  /// The commands that end, delete, discard or undo something. They run by a key or by their full name, never by an
  /// abbreviated name.
  static let runByFullName: Set<String> = [
    "quit", "quit-now", "interrupt", "delete", "remove-field", "cancel-write", "drop-rejected", "clear-feed", "evict",
    "purge", "undo", "redo",
  ]

  init(commands: [Command], unbound: [Command]) {
    self.commands = commands
    self.unbound = unbound
    index = Dictionary(grouping: commands, by: \.context).mapValues { group in
      Dictionary(
        group.flatMap { command in command.keys.map { ($0, command) } }, uniquingKeysWith: { first, _ in first })
    }
  }

  /// The command that a key triggers: the first match in the order of the contexts.
  package func command(for key: Key, in contexts: [KeyContext]) -> Command? {
    contexts.lazy.compactMap { index[$0]?[key] }.first
  }

  package func command(named name: String, in contexts: [KeyContext]) -> Command? {
    contexts.lazy.compactMap { context in commands.first { $0.name == name && $0.context == context } }.first
  }

  /// The commands of some contexts in order. Each name occurs once.
  package func commands(in contexts: [KeyContext], where isWanted: (Command) -> Bool = { _ in true }) -> [Command] {
    var taken: Set<String> = []
    return contexts.flatMap { context in
      commands.filter { $0.context == context && isWanted($0) && taken.insert($0.name).inserted }
    }
  }
}

/// The keymap as readable text.
package enum KeyReference {
  private static let order: [KeyContext] =
    [.screen, .past, .replay, .scenario, .always] + [Pane.collections, .writes, .network, .feed].map(KeyContext.pane)
    + [.requests, .pane(.detail)]
    + Overlay.Kind.allCases.map(KeyContext.overlay)

  /// The output of `hearth keys`: a section per context, and a line per command with its keys, its name and its help.
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

extension Keymap {
  /// This keymap with a user's bindings.
  ///
  /// A binding is skipped if it names an unknown command or key, or a key that already runs another command in the same
  /// context. If a binding is skipped, its command keeps its previous keys. All other bindings apply. If two bindings
  /// use the same key, the first applies.
  package func remapped(_ bindings: [KeyBinding]) -> (keymap: Keymap, problems: [KeyProblem]) {
    var problems: [KeyProblem] = []
    var wanted: [Int: [Key]] = [:]
    for (index, binding) in bindings.enumerated() {
      do throws(KeyProblem) { wanted[index] = try keys(of: binding, &problems) } catch { problems.append(error) }
    }
    while true {
      let bound = commands(bound: wanted, bindings)
      guard let (index, problem) = conflict(in: bound, bindings) else {
        let all = bound.map(\.command)
        let keymap = Keymap(commands: all.filter { !$0.keys.isEmpty }, unbound: all.filter(\.keys.isEmpty))
        return (keymap, problems.sorted { ($0.line ?? 0) < ($1.line ?? 0) })
      }
      problems.append(problem)
      wanted[index] = nil
    }
  }

  /// A command, and the index of the binding that set its keys.
  private typealias Bound = (command: Command, binding: Int?)

  private func commands(bound wanted: [Int: [Key]], _ bindings: [KeyBinding]) -> [Bound] {
    (commands + unbound).map { command in
      // A binding for one pane takes precedence over a binding for all panes.
      let index = wanted.keys.filter { bindings[$0].means(command) }.max { one, two in
        (bindings[one].section == nil ? 0 : 1, one) < (bindings[two].section == nil ? 0 : 1, two)
      }
      return (index.flatMap { wanted[$0] }.map { command.bound(to: $0) } ?? command, index)
    }
  }

  /// The last binding that uses a key of another command, with its error message.
  private func conflict(in bound: [Bound], _ bindings: [KeyBinding]) -> (Int, KeyProblem)? {
    var found: (Int, KeyProblem)?
    for (place, one) in bound.enumerated() {
      for other in bound[..<place] {
        guard let index = [one.binding, other.binding].compactMap(\.self).max(), index >= found?.0 ?? 0,
          one.command.context.overlaps(other.command.context),
          one.command.name != other.command.name || one.command.context == other.command.context,
          let key = one.command.keys.first(where: other.command.keys.contains)
        else { continue }
        let holder = one.binding == index ? other.command : one.command
        let reason =
          "\(bindings[index].name): \(key) is bound to \(holder.name) there (\(holder.help)); rebind that command too"
        found = (index, KeyProblem(line: bindings[index].line, reason: reason))
      }
    }
    return found
  }

  private func keys(of binding: KeyBinding, _ problems: inout [KeyProblem]) throws(KeyProblem) -> [Key] {
    let all = commands + unbound
    func problem(_ reason: String, _ hint: String = "") -> KeyProblem {
      KeyProblem(line: binding.line, reason: "\(binding.name): \(reason)\(hint)")
    }
    let sections = Set(all.compactMap(\.context.section))
    if let section = binding.section, !sections.contains(section) {
      throw problem("no part of the screen is called \(section)", Self.hint(section, sections.sorted()))
    }
    let meant = all.filter(binding.means)
    guard !meant.isEmpty else {
      if let elsewhere = all.first(where: { $0.name == binding.command })?.context.section {
        throw problem("no such command there; it belongs to [keys.\(elsewhere)]")
      }
      let names = all.filter { $0.context.section == binding.section || binding.section == nil }.map(\.name)
      throw problem("unknown command", Self.hint(binding.command, names))
    }
    let isDialog = meant.contains { if case .overlay = $0.context { true } else { false } }
    var keys: [Key] = []
    for text in binding.keys {
      if let key = Key(text), !isDialog || key.typedCharacter == nil {
        keys.append(key)
      } else if Key(text) != nil {
        problems.append(
          problem("dialogs use \(text) as text or for a choice; use a key with ctrl- or alt-, or f1 to f12"))
      } else {
        problems.append(
          problem("invalid key \"\(text)\"; use a character, space, enter, ctrl-x, alt-x, f5 or similar"))
      }
    }
    if keys.isEmpty, !binding.keys.isEmpty { throw problem("its keys cannot be changed") }
    if keys.isEmpty, ["interrupt", "cancel", "accept", "palette"].contains(binding.command) {
      throw problem("it needs a key")
    }
    return keys
  }

  /// A suggestion of the probably intended name, as a suffix of a message.
  static func hint(_ name: String, _ names: [String]) -> String {
    let near = names.filter { $0.hasPrefix(name) || name.hasPrefix($0) || $0.contains(name) }
    return near.first.map { "; did you mean \($0)?" } ?? "; 'hearth keys' lists them"
  }
}

extension KeyBinding {
  fileprivate func means(_ command: Command) -> Bool {
    guard command.name == self.command else { return false }
    if let section { return command.context.section == section }
    if case .overlay = command.context { return false }
    return true
  }
}

/// The reason why a binding was rejected.
package struct KeyProblem: Error, Hashable, Sendable {
  package var line: Int?
  package var reason: String
}

extension KeyContext {
  /// The name of the context after `keys.` in a configuration file: the title in lowercase with dashes; `nil` for the
  /// whole screen.
  package var section: String? {
    switch self {
    case .always, .screen: nil
    case .past, .replay, .scenario, .pane, .requests, .overlay:
      title.lowercased().split(separator: " ").joined(separator: "-")
    }
  }

  /// Whether the two contexts can be active at the same time. If so, a key could run a command of either context.
  func overlaps(_ other: KeyContext) -> Bool {
    switch (self, other) {
    case (.always, _), (_, .always): true
    case (.screen, .pane), (.pane, .screen), (.screen, .requests), (.requests, .screen): true
    default: self == other
    }
  }
}
