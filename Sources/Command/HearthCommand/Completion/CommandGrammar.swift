// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import DashboardHost
import DashboardModel
import Foundation

/// The commands with their options and arguments. They are taken from the parser, so that no second list is needed.
struct CommandGrammar: Sendable {
  struct Name: Decodable, Hashable, Sendable {
    var kind: String
    var name: String
    /// The name as it is typed, with its dashes.
    var typed: String { (kind == "long" ? "--" : "-") + name }
  }

  struct Argument: Decodable, Sendable {
    enum Kind: String, Decodable, Sendable { case positional, option, flag }

    var kind: Kind
    var shouldDisplay: Bool
    var isRepeating: Bool
    var names: [Name]?
    var preferredName: Name?
    var valueName: String?
    var allValues: [String]?
    var abstract: String?

    func isCalled(_ typed: String) -> Bool { names?.contains { $0.typed == typed } == true }
  }

  struct Command: Decodable, Sendable {
    var commandName: String
    var abstract: String?
    var shouldDisplay: Bool
    var subcommands: [Command]?
    var arguments: [Argument]?

    func subcommand(_ name: String) -> Command? { subcommands?.first { $0.commandName == name } }
    var positionals: [Argument] { arguments?.filter { $0.kind == .positional } ?? [] }
    /// The options and flags that are shown.
    var options: [Argument] { arguments?.filter { $0.kind != .positional && $0.shouldDisplay } ?? [] }
  }

  let root: Command

  static let ofProcess: CommandGrammar? = {
    struct Dump: Decodable { var command: Command }
    // The description has the parser's own format. An unknown format disables completion.
    guard let dump = try? JSONDecoder().decode(Dump.self, from: Data(HearthCommand._dumpHelp().utf8)) else {
      return nil
    }
    return CommandGrammar(root: dump.command)
  }()
}

/// The parts of an unfinished command line, determined from its complete words.
struct CommandLineShape: Sendable {
  /// The command; `nil` if the line does not contain one yet.
  private(set) var command: CommandGrammar.Command?
  private(set) var commands: [CommandGrammar.Command]
  private(set) var positionals: [String] = []
  /// The options with their values. Flags have no value.
  private(set) var options: [(name: String, value: String?)] = []
  /// The option whose value must follow.
  private(set) var open: CommandGrammar.Argument?
  private(set) var isAfterTerminator = false

  init(_ words: some Sequence<String>, _ grammar: CommandGrammar) {
    commands = grammar.root.subcommands ?? []
    for word in words { read(word, grammar) }
  }

  private mutating func read(_ word: String, _ grammar: CommandGrammar) {
    if open != nil {
      options[options.count - 1].value = word
      open = nil
    } else if word == "--", !isAfterTerminator {
      isAfterTerminator = true
    } else if word.hasPrefix("-"), word.count > 1, !isAfterTerminator {
      readOption(word, grammar)
    } else if !commands.isEmpty, positionals.isEmpty, let found = commands.first(where: { $0.commandName == word }) {
      // `help` is followed by the names of commands.
      command = found
      commands = word == "help" ? grammar.root.subcommands ?? [] : found.subcommands ?? []
    } else {
      positionals.append(word)
    }
  }

  private mutating func readOption(_ word: String, _ grammar: CommandGrammar) {
    let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    let known = (command ?? grammar.root.subcommand("dashboard"))?.arguments ?? []
    let argument = known.first { $0.isCalled(parts[0]) }
    options.append((parts[0], parts.count > 1 ? parts[1] : nil))
    if argument?.kind == .option, parts.count == 1 { open = argument }
  }

  /// The options that choose the backend and database, as arguments.
  var storage: [String] {
    let names: Set<String> = [
      "--connection", "-C", "--emulator", "--cloud", "--credentials", "--host", "--trust", "--insecure-credentials",
      "--admin-secret", "--as", "--claims",
      "--project", "--database", "--cache", "--data", "--in-memory",
    ]
    return options.filter { names.contains($0.name) }.flatMap { [$0.name] + ($0.value.map { [$0] } ?? []) }
  }

  func has(_ option: String) -> Bool { options.contains { $0.name == option } }
}
