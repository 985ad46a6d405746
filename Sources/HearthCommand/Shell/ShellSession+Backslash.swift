// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import FirestoreModel
import Foundation
import Glibc
import Spelling

/// What begins with a backslash: about the shell itself, not the data.
enum BackslashCommand: String, CaseIterable {
  case help = "?"
  case commandHelp = "h"
  case connect = "c"
  case connections = "l"
  case describe = "d"
  case timing
  case file = "i"
  case output = "o"
  case history = "s"
  case system = "!"
  case quit = "q"

  /// How it is written, and what it does.
  var usage: (form: String, text: String) {
    switch self {
    case .help: ("\\?", "this list")
    case .commandHelp: ("\\h [COMMAND]", "help for a command, or all commands")
    case .connect: ("\\c [NAME]", "go to a connection, or --emulator HOST:PORT; alone: say where")
    case .connections: ("\\l", "list the connections of connections.toml")
    case .describe: ("\\d [PATH]", "list collections, or what is below a path")
    case .timing: ("\\timing [on|off]", "say how long each command took")
    case .file: ("\\i FILE", "run the commands of a file")
    case .output: ("\\o [FILE]", "write what commands print to a file; alone: end that")
    case .history: ("\\s", "what was typed before")
    case .system: ("\\! [COMMAND]", "run a command of the system, or its shell")
    case .quit: ("\\q", "leave; ctrl-d does too")
    }
  }

  /// What other shells call it.
  private static let synonyms: [String: BackslashCommand] = [
    "": .help, "help": .help, "conninfo": .connect, "connect": .connect, "use": .connect, "u": .connect,
    "list": .connections, "dt": .describe, "dn": .describe, "d+": .describe, "dt+": .describe, "ls": .describe,
    "describe": .describe, "include": .file, "ir": .file, "source": .file, ".": .file, "out": .output,
    "history": .history, "quit": .quit, "exit": .quit, "x": .quit,
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
        throw CommandFailure(.usage, "there is no \\\(name).\(hint ?? " \\? shows what there is.")")
      }
      return try await run(command, rest, at: place)
    } catch {
      return CommandRun.report(error, at: place, arguments: [])
    }
  }

  private func run(_ command: BackslashCommand, _ rest: String, at place: String) async throws -> Int32 {
    let words = try Self.words(rest)
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
      guard let file = words.first, words.count == 1 else {
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

  private static func words(_ text: String) throws(CommandFailure) -> [String] {
    do throws(ShellText.Failure) {
      guard case .command(let words, _)? = try ShellText.statements(in: text).first else { return [] }
      return words
    } catch {
      throw CommandFailure(.usage, error.reason)
    }
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

/// A program of the system that has the terminal, or the streams, of the shell while it runs.
enum SystemCommand {
  /// - Parameter text: for the system's shell; empty for a shell to type in.
  /// - Returns: the exit status, or 128 plus the number of the signal that ended it.
  static func run(_ text: String) throws(CommandFailure) -> Int32 {
    let shell = ProcessInfo.processInfo.environment["SHELL"] ?? "/bin/sh"
    let words = text.isEmpty ? [shell] : ["/bin/sh", "-c", text]
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var (none, defaults) = (sigset_t(), sigset_t())
    sigemptyset(&none)
    sigemptyset(&defaults)
    for number in [SIGPIPE, SIGTSTP] { sigaddset(&defaults, number) }
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setsigdefault(&attributes, &defaults)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK) | Int16(POSIX_SPAWN_SETSIGDEF))
    var pointers: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
    defer { for pointer in pointers { free(pointer) } }
    var process: pid_t = 0
    let code = posix_spawn(&process, words[0], nil, &attributes, &pointers, environ)
    guard code == 0 else {
      throw CommandFailure(.failure, "\(words[0]) cannot be run: \(String(cString: strerror(code))).")
    }
    var status: CInt = 0
    while waitpid(process, &status, 0) != process { if errno != EINTR { return 127 } }
    return status & 0x7F == 0 ? status >> 8 & 0xFF : 128 + (status & 0x7F)
  }
}
