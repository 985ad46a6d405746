// SPDX-License-Identifier: Apache-2.0
package import CommandOutput
package import FirestoreModel

/// The environment of a command apart from its arguments: a separate process, or a shell that runs several commands.
package protocol CommandSurroundings: Sendable {
  /// Whether all writes are rejected, whatever the connection.
  var isReadOnly: Bool { get }
  /// Whether commands are read from standard input. If so, a command cannot read its data from there.
  var readsCommands: Bool { get }
  /// Whether commands that write a single document report the write.
  var tellsWrites: Bool { get }
  /// Whether the default format shows documents with a line for each field.
  var isExpanded: Bool { get }
  /// Whether connections remain open for the next command. If so, a backend in memory can contain data.
  var keepsConnections: Bool { get }

  /// Adds a backend to the options if they do not name one.
  func complete(_ options: inout StorageOptions) throws

  /// Connects to a database, or returns the open connection.
  func connection(
    _ choice: BackendChoice, _ database: DatabaseID, _ open: () throws(CommandFailure) -> BackendConnection
  ) throws(CommandFailure) -> BackendConnection

  /// Starts observing the events that interrupt a command that would otherwise run forever.
  func interruptions() -> Interruptions
}

/// The environment of the running command.
package enum Surroundings {
  @TaskLocal package static var current: any CommandSurroundings = ProcessSurroundings()
}

/// A process that runs one command.
package struct ProcessSurroundings: CommandSurroundings {
  package let isReadOnly = false
  package let readsCommands = false
  package let tellsWrites = false
  package let isExpanded = false
  package let keepsConnections = false

  package func complete(_ options: inout StorageOptions) throws { try options.completeByDefault() }

  package func connection(
    _ choice: BackendChoice, _ database: DatabaseID, _ open: () throws(CommandFailure) -> BackendConnection
  ) throws(CommandFailure) -> BackendConnection { try open() }

  package func interruptions() -> Interruptions { .ofProcess() }
}

extension FormatOptions {
  /// - Parameter isTable: whether the default format is a table.
  package func format(orTable isTable: Bool) throws(CommandFailure) -> DocumentFormat {
    if let template { return .template(try Self.parse(template)) }
    if json { return .json }
    if csv { return .delimited(.comma) }
    if tsv { return .delimited(.tab) }
    if expanded || (!isChosen && Surroundings.current.isExpanded) { return .expanded }
    return table || isTable ? .table : .text
  }
}

/// Standard input as the source of a command's data.
package enum StandardInput {
  /// - Throws: if the command runs in a shell that reads its commands from standard input.
  package static func check() throws(CommandFailure) {
    guard Surroundings.current.readsCommands else { return }
    throw CommandFailure(.usage, "standard input contains the shell's commands. Name a file instead of -.")
  }
}
