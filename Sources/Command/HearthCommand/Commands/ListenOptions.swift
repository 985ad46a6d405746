// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CommandOptions
import CommandOutput
import DashboardHost
import DashboardModel
import FirestoreModel
import FirestoreQuery

/// The listeners that a command line names.
struct ListenOptions: ParsableArguments {
  @Option(help: ArgumentHelp("A collection or document to listen to; repeatable.", valueName: "path"))
  var listen: [String] = []

  @Option(
    help: ArgumentHelp(
      "Open the listeners of a file, as the dashboard's \"listeners: save to a file\" writes it; repeatable.",
      valueName: "file"))
  var listeners: [String] = []

  /// - Throws: `ValidationError` if nothing is named at Cloud Firestore, where every document that is read costs money.
  func check(_ storage: StorageOptions) throws {
    guard listen.isEmpty, listeners.isEmpty, storage.remote.isCloud else { return }
    throw ValidationError(
      "without --listen or --listeners this command reads every collection at the root, and Cloud Firestore bills each "
        + "document. Name the collections with --listen.")
  }

  /// - Returns: the listeners, and the problems with entries that were left out.
  func definitions(in database: DatabaseID) throws -> ([ListenerDefinition], [String]) {
    let (fromFiles, problems) = try ListenerFile.definitions(of: listeners, in: database)
    return (try listen.map { Self.definition(Query(path: try DataPath.any($0))) } + fromFiles, problems)
  }

  static func definition(_ query: Query) -> ListenerDefinition {
    ListenerDefinition(name: ListenerRecord.defaultName(for: query), query: query)
  }
}

extension RemoteOptions {
  /// Whether the command line names Cloud Firestore.
  var isCloud: Bool { cloud || credentials != nil }
}

extension ListenerFile {
  /// Reads files of listeners.
  /// - Returns: the listeners, and the problems with entries that were left out.
  static func definitions(of files: [String], in database: DatabaseID) throws -> ([ListenerDefinition], [String]) {
    let files = try files.map { try read($0, name: $0, database: database) }
    return (files.flatMap(\.definitions), files.flatMap(\.problems))
  }
}
