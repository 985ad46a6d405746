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
    commandName: "shell", abstract: "Type commands one after the other, over one open connection.",
    discussion: """
      Takes the same commands as the command line, without 'hearth' before them, and completes commands, options, \
      paths, fields and files with TAB. JSON needs no quotes; a command goes on in the next line where a quote or a \
      bracket is open. What follows a | is for the system's shell, as in get cities | head. \\? lists what else there is: \
      other connections, help, files, times, an editor. ctrl-c ends a command that \
      runs, ctrl-d the shell.

      Without a terminal it runs the lines of standard input, and with --command those of its text, up to the first \
      that fails, and ends with that one's exit status.

      Example: echo 'count cities' | hearth shell -C local
      """)

  @Option(
    name: .shortAndLong, parsing: .unconditionalSingleValue,
    help: ArgumentHelp("Run these commands, parted by ; or lines, and end. May be repeated.", valueName: "commands"))
  var command: [String] = []

  @Flag(help: "Without a terminal: go on after a command that failed; the exit status is that of the first that did.")
  var keepGoing = false

  @Flag(help: "Refuse every command that writes.")
  var readonly = false

  @OptionGroup var headless: HeadlessOptions
  @OptionGroup var storage: StorageOptions

  mutating func run() async throws {
    let isInteractive = command.isEmpty && isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1
    let environment = ProcessInfo.processInfo.environment
    let canEdit = isInteractive && !["dumb", "", nil].contains(environment["TERM"])
    if !canEdit, command.isEmpty, isatty(STDIN_FILENO) == 1, !headless.quiet {
      StandardError.write("hearth: lines cannot be edited here; each is run as it is. ctrl-d ends.")
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
