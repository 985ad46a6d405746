// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CommandOptions
import CommandOutput
import DashboardHost
import FirestoreModel
import Foundation
import Glibc

/// `hearth shell`: runs commands one after the other in one process.
struct ShellCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "shell", abstract: "Type several commands over one open connection.",
    discussion: """
      Takes the same commands as the command line, without 'hearth' before them, and completes commands, options, \
      paths, fields and files with TAB. JSON needs no quotes. A command continues on the next line while a quote or a \
      bracket is open. Text after a | runs in the system's shell, as in get cities | head. \\? lists more: other \
      connections, help, files, times, an editor. ctrl-c ends the running command, ctrl-d the shell.

      Without a terminal it runs the lines of standard input, and with --command those commands. It stops at the first \
      failure and exits with its status.

      Example: echo 'count cities' | hearth shell -C local
      """)

  @Option(
    name: .shortAndLong, parsing: .unconditionalSingleValue,
    help: ArgumentHelp("Run these commands, separated by ; or lines. May be repeated.", valueName: "commands"))
  var command: [String] = []

  @Flag(help: "Without a terminal: continue after a failed command; the exit status is the first failure's.")
  var keepGoing = false

  @Flag(help: "Reject every command that writes.")
  var readonly = false

  @OptionGroup var headless: HeadlessOptions
  @OptionGroup var storage: StorageOptions

  mutating func run() async throws {
    let isInteractive = command.isEmpty && isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1
    let environment = ProcessInfo.processInfo.environment
    let canEdit = isInteractive && !["dumb", "", nil].contains(environment["TERM"])
    if !canEdit, command.isEmpty, isatty(STDIN_FILENO) == 1, !headless.quiet {
      StandardError.write("hearth: line editing is not available; each line runs as typed. ctrl-d ends.")
    }
    let session = ShellSession(
      ShellSession.Options(
        storage: storage, isReadOnly: readonly,
        // A user who types commands continues after an error.
        keepsGoing: keepGoing || (command.isEmpty && isatty(STDIN_FILENO) == 1), isQuiet: headless.quiet,
        paths: .ofProcess),
      readsCommands: command.isEmpty && isatty(STDIN_FILENO) == 0, isTyped: isInteractive)
    let signals = ShellSignals(session.surroundings, isInteractive: canEdit)
    var status: Int32 = 0
    if canEdit {
      status = await session.runTerminal(signals)
    } else if command.isEmpty {
      status = await session.runInput()
    }
    for text in command {
      let next = await session.run(text, from: .argument)
      if status == 0 { status = next }
      if await session.isEnding || (next != 0 && !keepGoing) { break }
    }
    if status != 0 { throw ExitCode(status) }
  }
}
