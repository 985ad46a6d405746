// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A command with a backslash, which concerns the shell itself and not the data.
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

  /// The syntax of the command, and its effect.
  var usage: (form: String, text: String) {
    switch self {
    case .help: ("\\?", "this list")
    case .commandHelp: ("\\h [COMMAND]", "help for a command, or all commands")
    case .connect:
      (
        "\\c [NAME|PLACE|-]",
        "go to a connection, emulator:HOST:PORT, cloud:PROJECT, ./FOLDER, or back; alone: say where"
      )
    case .connections: ("\\l", "list the connections of connections.toml")
    case .describe: ("\\d [PATH]", "list collections, or what is below a path")
    case .expanded: ("\\x [on|off]", "show documents with a line for each field")
    case .edit: ("\\e", "edit what was last run in $EDITOR, and run it")
    case .watch: ("\\watch [SECONDS] [TIMES]", "run the last command again and again; ctrl-c ends it")
    case .copy: ("\\copy PATH to|from FILE", "documents to a file, or from one: JSON lines, .csv or .tsv")
    case .timing: ("\\timing [on|off]", "say how long each command took")
    case .file: ("\\i FILE", "run the commands of a file")
    case .output: ("\\o [FILE]", "write what commands print to a file; alone: end that")
    case .history: ("\\s", "what was typed before")
    case .system: ("\\! [COMMAND]", "run a command of the system, or its shell")
    case .quit: ("\\q", "leave; ctrl-d does too")
    }
  }

  /// The largest number of words after the command; `nil` for any number.
  var largestCount: Int? {
    switch self {
    case .help, .connections, .edit, .history, .quit: 0
    case .expanded, .timing, .file, .output: 1
    case .watch: 2
    case .copy: 3
    case .commandHelp, .connect, .describe, .system: nil
    }
  }

  /// The command meant by words of other shells without a backslash: commands of sqlite3, and words of mongosh and
  /// MySQL.
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

  /// The names of the commands in other shells.
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
