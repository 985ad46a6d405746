// SPDX-License-Identifier: Apache-2.0
package import CommandOutput
package import FirestoreModel

/// The environment of a command apart from its arguments: a separate process, or a shared shell.
package protocol CommandSurroundings: Sendable {
  /// Whether all writes are refused, regardless of the connection.
  var isReadOnly: Bool { get }
  /// Whether standard input holds commands, so it cannot hold a command's data.
  var readsCommands: Bool { get }
  /// Whether a command that writes one document reports the write.
  var tellsWrites: Bool { get }
  /// Whether the default format shows documents with a line for each field.
  var isExpanded: Bool { get }
  /// Whether connections stay open for the next command, so that a backend in memory can have content.
  var keepsConnections: Bool { get }

  /// Fills in the backend if the options do not name one.
  func complete(_ options: inout StorageOptions) throws

  /// Connects to a database, or returns the open connection.
  func connection(
    _ choice: BackendChoice, _ database: DatabaseID, _ open: () throws(CommandFailure) -> BackendConnection
  ) throws(CommandFailure) -> BackendConnection

  /// Starts observing the events that end a command that would run forever.
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
  /// - Parameter isTable: whether a table is the default.
  package func format(orTable isTable: Bool) throws(CommandFailure) -> DocumentFormat {
    if let template { return .template(try Self.parse(template)) }
    if json { return .json }
    if csv { return .delimited(.comma) }
    if tsv { return .delimited(.tab) }
    if expanded || (!isChosen && Surroundings.current.isExpanded) { return .expanded }
    return table || isTable ? .table : .text
  }
}

/// Descriptor 0 as the source of a command's data.
package enum StandardInput {
  /// - Throws: in a shell that reads its commands from standard input.
  package static func check() throws(CommandFailure) {
    guard Surroundings.current.readsCommands else { return }
    throw CommandFailure(.usage, "standard input contains the shell's commands. Name a file instead of -.")
  }
}
