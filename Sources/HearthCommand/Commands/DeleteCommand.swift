// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
import Foundation

/// `hearth delete`: one document, everything below a path, or what a query finds.
struct DeleteCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "delete", abstract: "Delete a document, those that a query finds, or all that is below a path.",
    usage: """
      hearth delete <path> [<options>]
      hearth delete <collection> --where <condition> [--recursive] [--yes] [<options>]
      hearth delete <path> --recursive --yes [<options>]
      """,
    discussion: """
      Deleting a document that does not exist is no error. Without --recursive the subcollections of a document stay.

      Of a collection the documents are deleted that the query finds. They are chosen first and deleted then, up to \
      500 in one commit: it is not one transaction. The number has to be typed at a terminal, or --yes said.
      """)

  @OptionGroup var queried: QueriedPath

  @Flag(help: "Delete all documents of a collection, or those that the query finds, and everything below them.")
  var recursive = false

  @OptionGroup var existing: ExistingOptions
  @OptionGroup var consent: Consent
  @OptionGroup var writing: WritingOptions

  mutating func run() async throws {
    let query = try queried.query(in: writing.database)
    let isQuery = queried.collectionGroup || !queried.selection.isEmpty
    guard isQuery || recursive else {
      guard let key = DocumentKey(query.path) else {
        throw CommandFailure(
          .usage, "\"\(query.path)\" is a collection: add --recursive to delete all of it, or --where to choose.")
      }
      if consent.dryRun { throw CommandFailure(.usage, "--dry-run is about more than one document.") }
      let mutation = Mutation(key: key, operation: .delete, precondition: existing.precondition)
      return try await writing.commit(mutation, unchangedSince: existing.unchanged.ifUnchangedSince)
    }
    if existing.ifExists || existing.unchanged.ifUnchangedSince != nil {
      throw CommandFailure(.usage, "--if-exists and --if-unchanged-since are about one document.")
    }
    let writes = QueriedWrites(query: query, verb: ("delete", "deleted"))
    let connection = try writing.connect()
    guard isQuery else { return try await deleteAll(at: query.path, connection, writes) }
    guard let keys = try await writes.choose(at: connection.datastore, writing, consent) else { return }
    if recursive { return try await delete(keys.map(\.path), connection, writes) }
    try await writes.write(keys, at: connection.datastore, writing, isRepeatable: true) {
      Mutation(key: $0, operation: .delete)
    }
  }

  /// How many that are would take as long to find out as deleting them.
  private func deleteAll(at path: ResourcePath, _ connection: Connection, _ writes: QueriedWrites) async throws {
    if consent.dryRun {
      throw CommandFailure(.usage, "--dry-run counts what a query finds; 'hearth tree \(path)' shows what is there.")
    }
    guard consent.yes else {
      throw CommandFailure(.usage, "this deletes \(path) and everything below it: add --yes to say that you mean it.")
    }
    try await delete([path], connection, writes)
  }

  private func delete(_ roots: [ResourcePath], _ connection: Connection, _ writes: QueriedWrites) async throws {
    let isQuiet = writing.headless.quiet
    let (deleted, elapsed) = try await writing.timeLimit.limitWrites {
      var progress = TransferProgress(isQuiet: isQuiet)
      defer { progress.end() }
      var deletion = RecursiveDeletion(at: connection.datastore, connection.database)
      do {
        try await deletion.run(roots) { progress.show($0) }
      } catch let status as RPCStatus {
        throw CommandFailure(
          ExitStatus(status.code), "\(status) Deleted so far: \(deletion.deleted); the same command goes on.")
      }
      return (deletion.deleted, progress.elapsed)
    }
    try writes.report(deleted, skipped: 0, elapsed, writing)
  }
}
