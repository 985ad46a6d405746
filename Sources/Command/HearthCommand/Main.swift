// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CommandOutput
import DataCommands
import FirestoreGRPC
import FirestoreSQLite
import Foundation
import Glibc

@main
struct Main {
  /// Runs the program. A usage error exits with 64 (`EX_USAGE`), any other failure with its `ExitStatus`. Both print
  /// one line. Help and version exit with 0.
  static func main() async {
    // Dispatch requests a higher priority for some threads, which only root gets, and writes each refusal to the
    // system's log. Users who set the variable themselves can read these messages.
    setenv("LIBDISPATCH_LOG", "NO", 0)
    SQLiteMemory.disableAccounting()
    StandardStreams.reserve()
    FatalSignals.takeDefaultActions(environment: ProcessInfo.processInfo.environment)
    let arguments = Array(CommandLine.arguments.dropFirst())
    if CompletionAnswer.isAsked(arguments) { return await CompletionAnswer.print(arguments) }
    do {
      if let script = CompletionScript.answer(arguments) { return try OutputFile.print(data: script.text) }
      try checkArguments()
      try await CommandRun.perform(arguments)
    } catch {
      let status = CommandRun.report(error, arguments: arguments)
      if status != 0 { exit(status) }
    }
  }

  /// - Throws: if an argument is not valid UTF-8. Otherwise replacement characters would be written to documents or
  ///   used in searches.
  private static func checkArguments() throws(CommandFailure) {
    for (index, argument) in CommandLine.arguments.enumerated() where argument.unicodeScalars.contains("\u{FFFD}") {
      guard let bytes = CommandLine.unsafeArgv[index] else { continue }
      if String(validatingCString: bytes) == nil {
        throw CommandFailure(.usage, "argument \(index) is not UTF-8: \(argument)")
      }
    }
  }
}

/// `hearth`: a command with subcommands. Without a subcommand, it opens the dashboard.
struct HearthCommand: ParsableCommand {
  static let programVersion = Release.version

  #if DEBUG
    /// The suffix of the version in a debug build.
    private static let optimization = " debug"
  #else
    private static let optimization = ""
  #endif

  static let configuration = CommandConfiguration(
    commandName: "hearth",
    abstract: "Watch, change and unplug a Firestore database from the terminal.",
    usage: """
      hearth [<dashboard options>]
      hearth <command> [<options>]
      """,
    discussion: """
      Without a command: the dashboard on the embedded backend, with its data and a durable cache under \
      $XDG_DATA_HOME/hearth.
      """,
    version: programVersion + optimization,
    subcommands: [
      DashboardCommand.self, DatabasesCommand.self, ListCommand.self, TreeCommand.self, GetCommand.self,
      CountCommand.self, SumCommand.self, AverageCommand.self, DistinctCommand.self, ExplainCommand.self,
      AddCommand.self, CreateCommand.self, SetCommand.self, UpdateCommand.self, EditCommand.self, DeleteCommand.self,
      ClearCommand.self, CopyCommand.self, MoveCommand.self, DiffCommand.self, SchemaCommand.self, StatsCommand.self,
      WatchCommand.self, WallCommand.self, AttachCommand.self, ImportCommand.self, ExportCommand.self,
      BackupCommand.self, RestoreCommand.self, CacheCommand.self,
      PlayCommand.self, ServeCommand.self, ExecCommand.self, ProxyCommand.self, RulesCommand.self, RepairCommand.self,
      ThemeCommand.self,
      PathsCommand.self, ConfigCommand.self, KeysCommand.self, PlainCommand.self, RecordCommand.self,
      ReplayCommand.self, RedactCommand.self, DrawCommand.self,
      ShellCommand.self, MCPCommand.self, ConnectionsCommand.self,
    ],
    defaultSubcommand: DashboardCommand.self)
}

/// Signals that are caused by a bug in the program, or by a user who requests a core dump.
enum FatalSignals {
  private static let all = [SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV, SIGQUIT]

  /// Restores the default action of the fatal signals, which ends the process immediately.
  ///
  /// Swift's runtime handles such signals with a backtrace. For a program of this size, the backtrace takes a minute,
  /// and on a terminal it waits for a key. During this time, a service would neither run nor be restarted. Users who
  /// set `SWIFT_BACKTRACE` get the backtrace. The dashboard installs its own handlers later. They restore the terminal,
  /// and then trigger the default action.
  static func takeDefaultActions(environment: [String: String]) {
    guard environment["SWIFT_BACKTRACE"] == nil else { return }
    for number in all {
      var current = sigaction()
      sigaction(number, nil, &current)
      // A signal that the caller ignores remains ignored.
      if unsafeBitCast(current.__sigaction_handler.sa_handler, to: Int.self) == 1 { continue }
      signal(number, SIG_DFL)
    }
  }
}
