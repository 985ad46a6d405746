// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CommandOptions
import CommandOutput
import CommandTransfer
import DashboardHost
import DataCommands
import FirestoreModel
import FirestoreProtocol
import FirestoreText
import Foundation
import Glibc
import Spelling

/// A command that starts with a backslash. It concerns the shell itself, not the data.
enum BackslashCommand: String, CaseIterable {
  case help = "?"
  case commandHelp = "h"
  case connect = "c"
  case connections = "l"
  case describe = "d"
  case expanded = "x"
  case timing
  case watch
  case copy
  case edit = "e"
  case file = "i"
  case output = "o"
  case history = "s"
  case system = "!"
  case quit = "q"

  /// The syntax of the command, and a description.
  var usage: (form: String, text: String) {
    switch self {
    case .help: ("\\?", "this list")
    case .commandHelp: ("\\h [COMMAND]", "help for a command, or all commands")
    case .connect:
      (
        "\\c [NAME|PLACE|-]",
        "switch to a connection, emulator:HOST:PORT, cloud:PROJECT, ./FOLDER, or back (-); alone: show the current one"
      )
    case .connections: ("\\l", "list the connections of connections.toml")
    case .describe: ("\\d [PATH]", "list collections, or the contents of a path")
    case .expanded: ("\\x [on|off]", "show documents with one line per field")
    case .edit: ("\\e", "edit the last command in $EDITOR, and run it")
    case .watch: ("\\watch [SECONDS] [TIMES]", "repeat the last command; ctrl-c ends it")
    case .copy: ("\\copy PATH to|from FILE", "copy documents to or from a file: JSON lines, .csv or .tsv")
    case .timing: ("\\timing [on|off]", "print the time of each command")
    case .file: ("\\i FILE", "run the commands of a file")
    case .output: ("\\o [FILE]", "write the output to a file; alone: to the terminal again")
    case .history: ("\\s", "show the history")
    case .system: ("\\! [COMMAND]", "run a system command, or the system's shell")
    case .quit: ("\\q", "quit; so does ctrl-d")
    }
  }

  /// The maximum number of words after the command; `nil` for no limit.
  var largestCount: Int? {
    switch self {
    case .help, .connections, .edit, .history, .quit: 0
    case .expanded, .timing, .file, .output: 1
    case .watch: 2
    case .copy: 3
    case .commandHelp, .connect, .describe, .system: nil
    }
  }

  /// The equivalent command for words that other shells (sqlite3, mongosh and MySQL) use without a backslash.
  static func meant(by words: [String]) -> BackslashCommand? {
    guard let first = words.first?.lowercased() else { return nil }
    switch first {
    case ".tables": return .describe
    case ".databases", ".dbs": return .connections
    case ".help": return .help
    case ".read": return .file
    case ".output", ".once": return .output
    case ".timer": return .timing
    case ".import", ".dump": return .copy
    case ".shell", ".system": return .system
    case ".open", "use", "connect": return .connect
    case "history": return .history
    case "show" where words.count == 2:
      return ["collections", "tables", "dbs", "databases"].contains(words[1].lowercased()) ? .describe : nil
    default: return nil
    }
  }

  /// The names that other shells use for backslash commands.
  private static let synonyms: [String: BackslashCommand] = [
    "": .help, "help": .help, "conninfo": .connect, "connect": .connect, "use": .connect, "u": .connect,
    "list": .connections, "dt": .describe, "dn": .describe, "d+": .describe, "dt+": .describe, "ls": .describe,
    "describe": .describe, "include": .file, "ir": .file, "source": .file, ".": .file, "out": .output,
    "history": .history, "quit": .quit, "exit": .quit, "edit": .edit,
  ]

  init?(name: String) {
    guard let found = BackslashCommand(rawValue: name) ?? Self.synonyms[name.lowercased()] else { return nil }
    self = found
  }

  static var list: [String] {
    let width = allCases.map(\.usage.form.count).max() ?? 0
    return allCases.map { $0.usage.form.padding(toLength: width + 2, withPad: " ", startingAt: 0) + $0.usage.text }
  }
}

extension ShellSession {
  func run(backslash name: String, _ rest: String, at place: String) async -> Int32 {
    do {
      guard let command = BackslashCommand(name: name) else {
        let names = BackslashCommand.allCases.map(\.rawValue)
        let hint = NearestName.suggestion(for: name, among: names.filter { $0.count > 1 }).map {
          " Did you mean \\\($0)?"
        }
        throw CommandFailure(.usage, "unknown command \\\(name).\(hint ?? " \\? lists all.")")
      }
      return try await run(command, rest, at: place)
    } catch {
      return CommandRun.report(error, at: place, arguments: [])
    }
  }

  private func run(_ command: BackslashCommand, _ rest: String, at place: String) async throws -> Int32 {
    // The system's shell splits the words itself.
    let words = command == .system ? [] : try Self.words(rest, of: command)
    switch command {
    case .help:
      let others = "Words without a backslash are commands: get, set, count, watch, …; \\h lists them."
      let lines = BackslashCommand.list + ["", others, "TAB completes, ctrl-r searches."]
      try OutputFile.print(lines.map { ShownText($0) }.asLines())
    case .commandHelp: return await run(["help"] + words, at: place)
    case .connect: try await connect(words)
    case .connections: return await run(["connections"], at: place)
    case .describe: return await run(["ls"] + words, at: place)
    case .timing: isTiming = try Self.flag(words, of: command, isTiming, "Timing", quietly: options.isQuiet)
    case .expanded:
      surroundings.isExpanded = try Self.flag(
        words, of: command, surroundings.isExpanded, "Expanded display", quietly: options.isQuiet)
    case .edit: return try await edit()
    case .watch: return try await watch(words)
    case .copy: return try await copy(words, at: place)
    case .file:
      guard let file = words.first else {
        throw CommandFailure(.usage, "\\i needs the name of a file.")
      }
      return try await run(file: UserPath.absolute(file))
    case .output: try redirect(to: words.first)
    case .history:
      for entry in history?.entries ?? [] { try OutputFile.print(data: entry + "\n") }
    case .system: return try SystemCommand.run(rest)
    case .quit: end()
    }
    return 0
  }

  /// - Throws: if there are more words than the command uses.
  static func words(_ text: String, of command: BackslashCommand) throws(CommandFailure) -> [String] {
    let statements: [ShellText.Statement]
    do throws(ShellText.Failure) {
      statements = try ShellText.statements(in: text)
    } catch {
      throw CommandFailure(.usage, error.reason)
    }
    guard let first = statements.first else { return [] }
    guard statements.count == 1, case .command(let words, _) = first else {
      throw CommandFailure(
        .usage, "\\\(command.rawValue) uses the whole line. Put the text after ; on a separate line.")
    }
    if let limit = command.largestCount, words.count > limit {
      throw CommandFailure(
        .usage, "\\\(command.rawValue) does not take \"\(words[limit])\". Use \(command.usage.form).")
    }
    return words
  }

  /// Turns a setting on or off, reports the new value, and returns it.
  private static func flag(
    _ words: [String], of command: BackslashCommand, _ before: Bool, _ name: String, quietly isQuiet: Bool
  ) throws(CommandFailure) -> Bool {
    let flag: Bool
    switch words.first?.lowercased() {
    case nil: flag = !before
    case "on": flag = true
    case "off": flag = false
    case let other?: throw CommandFailure(.usage, "\\\(command.rawValue) \(other): expected on or off.")
    }
    if !isQuiet { StandardError.write("\(name) is \(flag ? "on" : "off").") }
    return flag
  }

  /// Changes the default backend. Commands that name a backend in their options still use that backend. Throws if the
  /// server does not respond.
  private func connect(_ words: [String]) async throws {
    if !words.isEmpty {
      let before = surroundings.storage
      let storage = words == ["-"] ? try former() : try Self.storage(words)
      try await check(storage.locations(options.paths))
      (surroundings.storage, lastStorage) = (storage, before)
    }
    if !options.isQuiet || words.isEmpty { StandardError.write(ShownText(whereabouts)) }
  }

  private func former() throws(CommandFailure) -> StorageOptions {
    guard let lastStorage else {
      throw CommandFailure(.usage, "\\c -: there is no previous connection.")
    }
    return lastStorage
  }

  /// The options that are equivalent to a single word, which is a location or the name of a connection.
  private static func arguments(_ words: [String]) throws(CommandFailure) -> [String] {
    guard words.count == 1, !words[0].hasPrefix("-") else { return words }
    let place = PlaceText(words[0])
    guard let database = place.database else { return ["--connection", words[0]] }
    if place.path != nil || place.time != nil {
      throw CommandFailure(.usage, "\\c takes a database without a path, not \(words[0]).")
    }
    return database.options
  }

  private static func storage(_ words: [String]) throws -> StorageOptions {
    let arguments = try arguments(words)
    let failure = ParsingFailure()
    do {
      return try ParsingFailure.$current.withValue(failure) { try StorageOptions.parse(arguments) }
    } catch {
      let text = StorageOptions.message(for: error)
      throw failure.failure ?? CommandFailure(.usage, "\\c: \(text)")
    }
  }

  /// - Throws: the reason why a server does not respond. A permission error counts as a response.
  private func check(_ locations: StorageOptions.Locations) async throws {
    guard !locations.backend.isEmbedded else { return }
    do {
      try await surroundings.run { _ = try await locations.connect().datastore.listCollectionIDs(below: .root) }
    } catch let status as RPCStatus where status.code != .permissionDenied {
      throw CommandFailure(ExitStatus(status), "\\c: \(status.message) The connection is unchanged.")
    } catch is RPCStatus {
      return
    }
  }

  /// Opens the last text in the user's editor, and runs the edited text.
  private func edit() async throws -> Int32 {
    let editor = UserEditor(environment: ProcessInfo.processInfo.environment)
    if let refusal = editor.refusal(isTerminal: UserEditor.hasTerminal) { throw CommandFailure(.usage, refusal) }
    let folder = FileManager.default.temporaryDirectory.appending(path: "hearth-\(UUID().uuidString)")
    try FileManager.default.createDirectory(
      at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    // A remaining folder is among the temporary ones, and only this user has access.
    defer { try? FileManager.default.removeItem(at: folder) }
    let file = folder.appending(path: "commands.hearth")
    let before = lastText.hasSuffix("\n") || lastText.isEmpty ? lastText : lastText + "\n"
    try Data(before.utf8).write(to: file)
    let status = try SystemCommand.run(editor.command(for: file.path))
    if let reason = editor.failure(status) {
      throw CommandFailure(.failure, reason.replacing("nothing was written", with: "nothing was run"))
    }
    let text = try DocumentArgument.text(ofFile: file.path)
    if text.trimming().isEmpty { return 0 }
    lastText = text
    history?.add(String(text.trimming()))
    return await run(text, from: .file("the editor"))
  }

  /// A sentence about the backend and the database that commands use.
  var whereabouts: String {
    let locations = surroundings.storage.locations(options.paths)
    let name = locations.connection.map { "\($0.name): " } ?? ""
    var marks = locations.marks
    if options.isReadOnly, !locations.isReadOnly { marks.append("read-only") }
    let place = "\(name)\(locations.place(options.paths)), \(locations.database.project)/\(locations.database.database)"
    return ([place] + marks).joined(separator: ", ") + "."
  }
}
