// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CommandOptions
import CommandOutput
import DashboardHost
import DataCommands
import FirestoreModel
import Glibc
import Synchronization

/// Runs one command from its words to its exit status. It runs as a process or as a line in `hearth shell`.
enum CommandRun {
  /// Parses the arguments and runs the command.
  /// - Parameter given: the words without the name of the program.
  static func perform(_ given: [String]) async throws {
    let translated = try EmulatorArguments(given)
    let arguments = translated?.words ?? given
    for remark in translated?.remarks ?? [] { StandardError.write("hearth: \(remark)") }
    if arguments == ["help", "--all"] { return try OutputFile.print("\(ShownText(lines: CommandHelp.whole))\n") }
    if let failure = CommandHelp.unknownTopic(arguments) { throw failure }
    if let page = ManualPage.asked(arguments) { return try page.print() }
    do {
      var command = try parsed(arguments)
      // The words after -- belong to the command that `exec` runs.
      try refuseRepetitions(in: Array(arguments.prefix { $0 != "--" }))
      try refuseWrites(of: command)
      tellDefault(of: command, arguments)
      if var asynchronous = command as? any AsyncParsableCommand {
        try await asynchronous.run()
      } else {
        try command.run()
      }
    } catch  where HearthCommand.exitCode(for: error) == .success {
      // The user requested the help, the version or a completion script.
      let message = HearthCommand.fullMessage(for: error)
      if !message.isEmpty { try OutputFile.print("\(ShownText(lines: CommandHelp.completed(message)))\n") }
    }
  }

  private static func parsed(_ arguments: [String]) throws -> any ParsableCommand {
    let failure = ParsingFailure()
    return try ParsingFailure.$current.withValue(failure) {
      // Parsing one command is much faster than parsing all of them, which only error messages need.
      let named = HearthCommand.configuration.subcommands.first { $0.configuration.commandName == arguments.first }
      // Requests for help go to the whole tree, which knows the full name of each command.
      if let named, let command = try? named.parseAsRoot(Array(arguments.dropFirst())), type(of: command) == named {
        return command
      }
      do { return try HearthCommand.parseAsRoot(arguments) } catch {
        throw failure.failure ?? error
      }
    }
  }

  /// - Throws: if an option that takes one value is repeated. The parser would silently use the last value.
  private static func refuseRepetitions(in arguments: [String]) throws(CommandFailure) {
    let given = arguments.filter { $0.hasPrefix("-") }.map { $0.split(separator: "=", maxSplits: 1).first ?? "" }
    // The parser's description is slow to read, and most command lines repeat no option.
    guard Set(given).count < given.count, let grammar = CommandGrammar.ofProcess else { return }
    let shape = CommandLineShape(arguments, grammar)
    let known = (shape.command ?? grammar.root.subcommand("dashboard"))?.arguments ?? []
    for (index, option) in shape.options.enumerated() where option.value != nil {
      guard let argument = known.first(where: { $0.isCalled(option.name) }), argument.kind == .option,
        !argument.isRepeating, shape.options[..<index].contains(where: { argument.isCalled($0.name) })
      else { continue }
      throw CommandFailure(.usage, "\(option.name) is given twice. Remove one.")
    }
  }

  private static func refuseWrites(of command: any ParsableCommand) throws(CommandFailure) {
    guard let writing = command as? any WritingCommand, writing.writes else { return }
    let name = type(of: command).configuration.commandName ?? "this"
    if case .embedded(let folder?) = writing.storage.locations.backend, ReadOnlyDisk.holds(folder) {
      throw CommandFailure(.permissionDenied, "'\(name)' writes, but \(folder) is on a read-only file system.")
    }
    guard writing.storage.isReadOnly else { return }
    let connection = writing.storage.completion?.connection
    let who = connection?.isReadOnly == true ? "the connection \(connection?.name ?? "") is" : "this shell is"
    throw CommandFailure(.permissionDenied, "'\(name)' writes, but \(who) read-only.")
  }

  /// Prints the destination that is used and the reason, if a command that writes names no destination. Prints only if
  /// standard error is a terminal.
  private static func tellDefault(of command: any ParsableCommand, _ arguments: [String]) {
    guard let writing = command as? any WritingCommand, writing.writes, isatty(STDERR_FILENO) == 1,
      !Surroundings.current.keepsConnections, !arguments.contains("--quiet"), !arguments.contains("-q"),
      let completion = writing.storage.completion, let source = completion.source, let named = completion.connection
    else { return }
    StandardError.write("hearth: this writes to \(named.name). \(source.remark)")
  }

  /// Reports why a command failed, on one line. On a terminal, also shows the position of the error.
  /// - Parameters:
  ///   - place: the position of the command in its text, such as `line 3: `.
  ///   - arguments: the words of the command.
  /// - Returns: the exit status.
  static func report(_ error: any Error, at place: String = "", arguments: [String]) -> Int32 {
    switch error {
    case is OutputFile.ClosedPipe:
      // The reader of the output has disconnected, which is not an error.
      return 0
    case let interruption as Interrupted: return interruption.exitStatus
    case let failure as CommandFailure: return report(failure, at: place)
    case let status as RPCStatus: return report(CommandFailure(status), at: place)
    default:
      let complaint = CommandHelp.complaint(
        HearthCommand.fullMessage(for: error), arguments: CommandLine.arguments.prefix(1) + arguments)
      if let complaint { StandardError.write("hearth: \(place)\(complaint)") }
      return HearthCommand.exitCode(for: error).rawValue
    }
  }

  private static func report(_ failure: CommandFailure, at place: String) -> Int32 {
    if !StandardError.hasSaid(failure.message) { StandardError.write("hearth: \(place)\(failure.message)") }
    // Scripts rely on a single line.
    if isatty(STDERR_FILENO) == 1 { for line in failure.excerpt { StandardError.write("  \(line)") } }
    return failure.status.rawValue
  }
}
