// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import FirestoreModel
import Foundation
import Glibc
import Spelling

extension ShellSession {
  func run(backslash name: String, _ rest: String, at place: String) async -> Int32 {
    do {
      guard let command = BackslashCommand(name: name) else {
        let names = BackslashCommand.allCases.map(\.rawValue)
        let hint = NearestName.suggestion(for: name, among: names.filter { $0.count > 1 }).map {
          " Did you mean \\\($0)?"
        }
        throw CommandFailure(.usage, "there is no \\\(name).\(hint ?? " \\? shows what there is.")")
      }
      return try await run(command, rest, at: place)
    } catch {
      return CommandRun.report(error, at: place, arguments: [])
    }
  }

  private func run(_ command: BackslashCommand, _ rest: String, at place: String) async throws -> Int32 {
    // What the system's shell understands is its own.
    let words = command == .system ? [] : try Self.words(rest, of: command)
    switch command {
    case .help:
      let others = "Everything else is a command: get, set, count, watch, …; \\h lists them."
      try OutputFile.print(
        (BackslashCommand.list + ["", others, "TAB completes, ctrl-r searches."]).joined(separator: "\n") + "\n")
    case .commandHelp: return await run(["help"] + words, at: place)
    case .connect: try connect(words)
    case .connections: return await run(["connections"], at: place)
    case .describe: return await run(["ls"] + words, at: place)
    case .timing: try setTiming(words)
    case .file:
      guard let file = words.first else {
        throw CommandFailure(.usage, "\\i needs the name of a file.")
      }
      return try await run(file: UserPath.absolute(file))
    case .output: try redirect(to: words.first)
    case .history:
      for entry in history?.entries ?? [] { try OutputFile.print(entry + "\n") }
    case .system: return try SystemCommand.run(rest)
    case .quit: end()
    }
    return 0
  }

  /// - Throws: for words that would be passed over: what begins with a backslash takes its whole line.
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
        .usage, "\\\(command.rawValue) takes its whole line: what follows the ; belongs into a line of its own.")
    }
    if let limit = command.largestCount, words.count > limit {
      throw CommandFailure(
        .usage, "\\\(command.rawValue) does not take \"\(words[limit])\". It is \(command.usage.form).")
    }
    return words
  }

  private func setTiming(_ words: [String]) throws(CommandFailure) {
    switch words.first?.lowercased() {
    case nil: isTiming.toggle()
    case "on": isTiming = true
    case "off": isTiming = false
    case let other?: throw CommandFailure(.usage, "\\timing \(other): expected on or off.")
    }
    if !options.isQuiet { StandardError.write("Timing is \(isTiming ? "on" : "off").") }
  }

  /// Goes to another backend; commands that name one themselves still do.
  private func connect(_ words: [String]) throws {
    if !words.isEmpty {
      let arguments = words.count == 1 && !words[0].hasPrefix("-") ? ["--connection", words[0]] : words
      let failure = ParsingFailure()
      do {
        surroundings.storage = try ParsingFailure.$current.withValue(failure) { try StorageOptions.parse(arguments) }
      } catch {
        let text = StorageOptions.message(for: error)
        throw failure.failure ?? CommandFailure(.usage, "\\c: \(text)")
      }
    }
    if !options.isQuiet || words.isEmpty { StandardError.write(whereabouts) }
  }

  /// Where commands go, in a sentence.
  var whereabouts: String {
    let locations = surroundings.storage.locations(options.paths)
    let name = locations.connection.map { "\($0.name): " } ?? ""
    var marks = locations.marks
    if options.isReadOnly, !locations.isReadOnly { marks.append("read-only") }
    let place = "\(name)\(locations.place(options.paths)), \(locations.database.project)/\(locations.database.database)"
    return ([place] + marks).joined(separator: ", ") + "."
  }
}
