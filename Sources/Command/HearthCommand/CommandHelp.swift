// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CommandOutput
import Spelling

/// Additions to the help texts and errors of the argument parser.
enum CommandHelp {
  /// Replaces the parser's help for `hearth` itself with the short help. Other texts are returned unchanged.
  static func completed(_ message: String) -> String {
    message == HearthCommand.helpMessage() ? ShortHelp.text : message
  }

  /// The complete help of `hearth`: every command, the manual pages, and the options of the dashboard, because `hearth`
  /// without a command opens it.
  static var whole: String {
    let message = HearthCommand.helpMessage()
    let dashboard = HearthCommand.helpMessage(for: DashboardCommand.self)
    guard let options = dashboard.firstRange(of: "OPTIONS:") else { return message }
    return "\(message)\n\n\(ManualPage.list)\n\nDASHBOARD " + dashboard[options.lowerBound...]
  }

  /// The failure for `help` with an unknown command. The parser would print the general help instead.
  static func unknownTopic(_ arguments: [String]) -> CommandFailure? {
    if let asked = unknownCommand(arguments) { return asked }
    guard arguments.first == "help", arguments.count > 1, let topic = arguments.last, !topic.hasPrefix("-") else {
      return nil
    }
    if arguments.count == 2, topic == "help" { return nil }
    let known = names(below: arguments.dropFirst().dropLast())
    if known.contains(topic) || ManualPage.asked(arguments) != nil { return nil }
    if arguments.count == 2, let answer = ForeignLine.answer(to: [topic]) { return CommandFailure(.usage, answer) }
    let pages = arguments.count == 2 ? ManualPage.all.map(\.topic) : []
    let nearest = nearest(to: topic, among: known.isEmpty ? names(below: []) : known + pages)
    return CommandFailure(.usage, "Unknown command '\(arguments.dropFirst().joined(separator: " "))'\(nearest)")
  }

  /// The failure for `--help` after an unknown command. The parser would print the help of the parent command instead.
  private static func unknownCommand(_ arguments: [String]) -> CommandFailure? {
    guard let place = arguments.firstIndex(where: { $0 == "--help" || $0 == "-h" }), place > 0 else { return nil }
    var path: [String] = []
    for word in arguments[..<place] {
      let known = names(below: path[...])
      if word.hasPrefix("-") || word == "help" || known.isEmpty { return nil }
      guard known.contains(word) else {
        if path.isEmpty, let answer = ForeignLine.answer(to: [word]) { return CommandFailure(.usage, answer) }
        return CommandFailure(
          .usage, "Unknown command '\((path + [word]).joined(separator: " "))'\(nearest(to: word, among: known))")
      }
      path.append(word)
    }
    return nil
  }

  /// The parser's error on one line. For an unknown option or command, suggests a similar one. For misplaced words,
  /// describes the required order.
  /// - Returns: `nil` if there is no error.
  static func complaint(_ message: String, arguments: [String]) -> String? {
    guard let first = message.split(separator: "\n").first.map(String.init) else { return nil }
    let reason = first.hasPrefix("Error: ") ? String(first.dropFirst("Error: ".count)) : first
    let given = arguments.dropFirst()
    if let line = ForeignLine.translation(of: Array(given)) ?? ForeignLine.answer(to: Array(given)) { return line }
    if reason.hasPrefix("Unknown option"), let unknown = reason.firstMatch(of: /--?[\w-]+/) {
      let plain = reason.replacing(/\.? Did you mean .*/, with: "")
      return plain + (misplacedCommand(given) ?? nearestOption(to: String(unknown.output), in: given))
    }
    // An unknown option consumed the missing argument as its value.
    if reason.hasPrefix("Missing expected argument"),
      let unknown = given.dropFirst().first(where: { $0.hasPrefix("--") && $0.count > 2 && !isOption($0, of: given) })
    {
      return "Unknown option '\(unknown)'" + nearestOption(to: unknown, in: given)
    }
    if let line = ForeignLine.execWithoutTerminator(given) { return line }
    if reason.contains("nexpected argument"), !reason.contains("Did you mean"),
      let unknown = reason.firstMatch(of: /'([^']+)'/).map({ String($0.output.1) })
    {
      if let order = misplacedCommand(given) ?? looseCondition(unknown, given) { return reason + order }
      guard let place = given.firstIndex(of: unknown) else { return reason }
      let next = place + 1 < given.endIndex ? given[place + 1].lowercased() : ""
      let isListing = unknown == "show" && ForeignLine.listings.contains(next)
      if let count = argumentCount(of: given[..<place]) { return "\(reason). \(count)" }
      return reason + nearest(to: isListing ? "collections" : unknown, among: names(below: given[..<place]))
    }
    return reason
  }

  /// A sentence about how many arguments the command takes. `nil` for a group of commands, and for a command that takes
  /// any number of arguments.
  private static func argumentCount(of words: ArraySlice<String>) -> String? {
    guard let grammar = CommandGrammar.ofProcess, let command = CommandLineShape(words, grammar).command,
      command.subcommands?.isEmpty != false, !command.positionals.contains(where: \.isRepeating)
    else { return nil }
    let count = command.positionals.count
    let arguments = count == 0 ? "no arguments" : count == 1 ? "one argument" : "\(count) arguments"
    return "'\(command.commandName)' takes \(arguments)."
  }

  /// The advice for a command that was typed after its options or its path; `nil` for other words.
  private static func misplacedCommand(_ given: ArraySlice<String>) -> String? {
    guard let first = given.first, command(named: first) == nil, ForeignLine.synonyms[first.lowercased()] == nil else {
      return nil
    }
    let later = first.hasPrefix("-") ? given.dropFirst() : given.dropFirst().prefix(1)
    guard let place = later.firstIndex(where: { command(named: $0) != nil }) else { return nil }
    let isGroup = ForeignLine.groups.contains(first.lowercased()) && place + 1 < given.endIndex
    let words = [given[place]] + (isGroup ? [] : given[..<place]) + given[(place + 1)...]
    return ". The command comes first: hearth \(words.map { ShellText.typed($0) }.joined(separator: " "))"
  }

  /// The advice for a condition that is not quoted, so that the shell has split it, or that was typed without
  /// `--where`; `nil` for other words.
  private static func looseCondition(_ unknown: String, _ given: ArraySlice<String>) -> String? {
    guard options(of: given).contains("--where"), unknown != "=", unknown.contains("=") || unknown == "where" else {
      return nil
    }
    return ". \(conditionAdvice)"
  }

  static let conditionAdvice = "Quote a condition after its option: --where 'state == CA'"

  /// The options of the command, including --help and --version, which the parser's list omits.
  private static func options(of given: ArraySlice<String>) -> [String] {
    var named = given.first.flatMap { command(named: $0) }
    for word in given.dropFirst() {
      guard let inner = named?.configuration.subcommands.first(where: { $0.configuration.commandName == word }) else {
        break
      }
      named = inner
    }
    return HearthCommand.helpMessage(for: named ?? DashboardCommand.self).matches(of: /--[a-z][a-z-]+/).map {
      String($0.output)
    }
  }

  private static func isOption(_ word: String, of given: ArraySlice<String>) -> Bool {
    let name = word.split(separator: "=", maxSplits: 1).first.map(String.init) ?? word
    return options(of: given).contains(name)
  }

  /// The names of the subcommands of a command path. Empty if the path contains other words.
  private static func names(below path: ArraySlice<String>) -> [String] {
    var commands = HearthCommand.configuration.subcommands
    for name in path {
      commands = commands.first { $0.configuration.commandName == name }?.configuration.subcommands ?? []
    }
    return commands.compactMap { $0.configuration.commandName }
  }

  private static func nearestOption(to name: String, in given: ArraySlice<String>) -> String {
    let known = options(of: given)
    let spelled = name.count == 2 ? name : name.lowercased()
    let meant = ForeignLine.optionSynonyms[spelled, default: []].filter { known.contains($0) || $0 == "--version" }
    guard let last = meant.last else {
      let answers = ForeignLine.optionAnswers
      if let answer = answers["\(given.first ?? "") \(spelled)"] ?? answers[spelled] { return ". \(answer)" }
      let command = String(name.drop { $0 == "-" })
      if self.command(named: command) != nil { return ". Use the command: hearth \(command)" }
      return nearest(to: name, among: known)
    }
    let others = meant.dropLast().map { "'\($0)'" }.joined(separator: ", ")
    return ". Use \(others.isEmpty ? "" : others + " or ")'\(last)' instead."
  }

  private static func nearest(to name: String, among known: [String]) -> String {
    if known.isEmpty { return "" }
    // The first word of a statement in another language is the command.
    let word = name.split(separator: " ").first.map { $0.lowercased() } ?? ""
    if let meant = ForeignLine.synonyms[word], known.contains(meant) || meant == "--version" {
      return ". Use '\(meant)' instead."
    }
    // Short names are similar to many others.
    guard let best = NearestName.closest(to: name, among: known), best.edits <= max(1, name.utf8.count / 3) else {
      return ". See --help."
    }
    return ". The nearest is '\(best.name)'."
  }

  private static func command(named name: String) -> (any ParsableCommand.Type)? {
    HearthCommand.configuration.subcommands.first { $0.configuration.commandName == name }
  }
}

/// The help of `hearth` without arguments. It fits a terminal of 40 lines and 80 columns. `hearth help --all` prints
/// the complete help.
enum ShortHelp {
  typealias Row = (commands: [String], text: String)

  /// The most common commands, by purpose.
  static let groups: [(title: String, rows: [Row])] = [
    (
      "THE SCREEN",
      [
        (["dashboard"], "all panes; the default without a command"),
        (["wall"], "the last minute of all listeners"),
        (["attach"], "the client of a running program"),
        (["plain"], "text lines or JSON, without a screen"),
      ]
    ),
    (
      "READ",
      [
        (["databases", "ls", "tree"], "databases, collections and documents"),
        (["get", "watch"], "documents once, or their changes"),
        (["count", "sum", "avg", "distinct"], "statistics of a collection or a field"),
        (["schema", "stats", "diff"], "fields, sizes and differences"),
      ]
    ),
    (
      "WRITE",
      [
        (["add", "create", "set", "update"], "one document; update also query results"),
        (["edit", "delete", "clear"], "in $EDITOR; delete some documents, or all"),
        (["copy", "move"], "documents and collections, also between databases"),
        (["import", "export"], "files: JSON, CSV, bundles, Google's exports"),
        (["backup", "restore"], "a whole database, with its rules and indexes"),
      ]
    ),
    (
      "SERVE AND TEST",
      [
        (["serve"], "a server for Firestore's SDKs, with rules"),
        (["exec"], "a server for one command, such as a test suite"),
        (["proxy"], "show and disturb traffic between client and server"),
        (["rules"], "check files of security rules, test them with cases"),
        (["play"], "scenarios: offline clients, writes, expected events"),
      ]
    ),
    (
      "WORK",
      [
        (["shell"], "several commands over one connection"),
        (["connections"], "named backends, and the default one"),
      ]
    ),
  ]

  static var text: String {
    let parts = groups.map { group in
      "\(group.title)\n"
        + group.rows.map { row in
          "  \(row.commands.joined(separator: ", ").padding(to: 27))\(row.text)\n"
        }.joined()
    }
    return """
      Watch, change and unplug a Firestore database from the terminal.

      USAGE: hearth [OPTIONS]            the dashboard, on a local database
             hearth COMMAND [OPTIONS]

      \(parts.joined())
      The backend: --emulator HOST:PORT, --cloud --project ID, -C CONNECTION,
      --data FOLDER, --in-memory; else a local database in ~/.local/share/hearth.

      hearth COMMAND --help        the options of a command, with examples
      hearth help --all            every command, and the dashboard's options
      hearth help PAGE             the manual: \(pages)
      """
  }

  /// The names of the manual pages, one per line.
  private static var pages: String {
    let names = ManualPage.all.map(\.topic)
    let line = names.count / 2
    return names.prefix(line).joined(separator: ", ") + ",\n"
      + String(repeating: " ", count: 41) + names.dropFirst(line).joined(separator: ", ")
  }
}

extension String {
  fileprivate func padding(to width: Int) -> String {
    self + String(repeating: " ", count: max(1, width - count))
  }
}
