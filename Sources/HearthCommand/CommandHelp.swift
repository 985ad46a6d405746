// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Spelling

/// What the parser's own texts lack.
enum CommandHelp {
  /// The help of `hearth` itself is followed by the dashboard's options, since that is what it opens.
  static func completed(_ message: String) -> String {
    guard message == HearthCommand.helpMessage() else { return message }
    let dashboard = HearthCommand.helpMessage(for: DashboardCommand.self)
    guard let options = dashboard.firstRange(of: "OPTIONS:") else { return message }
    return message + "\n\nDASHBOARD " + dashboard[options.lowerBound...]
  }

  /// `help` for a command that does not exist, which the parser takes for help in general.
  static func unknownTopic(_ arguments: [String]) -> CommandFailure? {
    guard arguments.first == "help", arguments.count > 1, let topic = arguments.last, !topic.hasPrefix("-") else {
      return nil
    }
    if arguments.count == 2, topic == "help" { return nil }
    let known = names(below: arguments.dropFirst().dropLast())
    if known.contains(topic) { return nil }
    let nearest = nearest(to: topic, among: known.isEmpty ? names(below: []) : known)
    return CommandFailure(.usage, "There is no command '\(arguments.dropFirst().joined(separator: " "))'\(nearest)")
  }

  /// The parser's complaint as one line, with the nearest option or command in place of one that does not exist.
  /// - Returns: `nil` where nothing is to be said.
  static func complaint(_ message: String, arguments: [String]) -> String? {
    guard let first = message.split(separator: "\n").first.map(String.init) else { return nil }
    let reason = first.hasPrefix("Error: ") ? String(first.dropFirst("Error: ".count)) : first
    let given = arguments.dropFirst()
    if reason.hasPrefix("Unknown option"), let unknown = reason.firstMatch(of: /--?[\w-]+/) {
      // The parser does not count --help and --version among its options.
      let known = HearthCommand.helpMessage(for: command(in: given)).matches(of: /--[a-z][a-z-]+/)
      let nearest = nearest(to: String(unknown.output), among: known.map { String($0.output) })
      return reason.replacing(/\.? Did you mean .*/, with: "") + nearest
    }
    if reason.contains("nexpected argument"), !reason.contains("Did you mean"),
      let unknown = reason.firstMatch(of: /'([\w-]+)'/).map({ String($0.output.1) }),
      let place = given.firstIndex(of: unknown)
    {
      return reason + nearest(to: unknown, among: names(below: given[..<place]))
    }
    return reason
  }

  /// The names that may stand behind those of commands; none where something else stands before.
  private static func names(below path: ArraySlice<String>) -> [String] {
    var commands = HearthCommand.configuration.subcommands
    for name in path {
      commands = commands.first { $0.configuration.commandName == name }?.configuration.subcommands ?? []
    }
    return commands.compactMap { $0.configuration.commandName }
  }

  /// What other programs call these commands.
  static let synonyms = [
    "cat": "get", "show": "get", "read": "get", "select": "get", "find": "get", "query": "get", "list": "ls",
    "dir": "ls", "collections": "ls", "rm": "delete", "del": "delete", "remove": "delete", "drop": "delete",
    "cp": "copy", "mv": "move", "rename": "move", "put": "set", "write": "set", "insert": "add", "push": "add",
    "new": "create", "patch": "update", "edit": "update", "tail": "watch", "listen": "watch", "follow": "watch",
    "dump": "export", "backup": "export", "restore": "import", "load": "import", "average": "avg", "mean": "avg",
    "total": "sum", "index": "indexes", "emulator": "serve", "server": "serve", "themes": "theme",
    "repl": "shell", "console": "shell", "psql": "shell", "connection": "connections", "hosts": "connections",
  ]

  private static func nearest(to name: String, among known: [String]) -> String {
    if let meant = synonyms[name.lowercased()], known.contains(meant) { return ". Here that is '\(meant)'." }
    if known.isEmpty { return "" }
    // Short names are near to many others.
    guard let best = NearestName.closest(to: name, among: known), best.edits <= max(1, name.utf8.count / 3) else {
      return ". --help lists what there is."
    }
    return ". The nearest is '\(best.name)'."
  }

  /// The sub-command that the arguments name, or else the one that runs without a name.
  private static func command(in arguments: some Sequence<String>) -> any ParsableCommand.Type {
    let named = arguments.first { _ in true }
    return HearthCommand.configuration.subcommands.first { $0.configuration.commandName == named }
      ?? DashboardCommand.self
  }
}
