// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
import Foundation

/// `hearth delete`: one document, everything below a path, or what a query finds.
struct DeleteCommand: AsyncParsableCommand, WritingCommand {
  static let configuration = CommandConfiguration(
    commandName: "delete", abstract: "Delete a document, those that a query finds, or all that is below a path.",
    usage: """
      hearth delete <path> [<options>]
      hearth delete <collection> --where <condition> [--recursive] [--yes] [<options>]
      hearth delete <path> --recursive [--yes] [<options>]
      """,
    discussion: """
      Deleting a document that does not exist is no error. Without --recursive the subcollections of a document stay.

      Of a collection the documents are deleted that the query finds. They are chosen first and deleted then, up to \
      500 in one commit: it is not one transaction.

      Where many documents may go, they are counted first: the number has to be typed at a terminal, or --yes said, which \
      saves the counting. --dry-run only counts.
      """)

  @OptionGroup var queried: QueriedPath

  @Flag(help: "Delete all documents of a collection, or those that the query finds, and everything below them.")
  var recursive = false

  @OptionGroup var existing: ExistingOptions
  @OptionGroup var consent: Consent
  @OptionGroup var writing: WritingOptions

  var storage: StorageOptions { writing.storage }

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

  /// Of everything below a path, not just of what a query finds.
  private func deleteAll(at path: ResourcePath, _ connection: Connection, _ writes: QueriedWrites) async throws {
    if !consent.yes {
      // Counting takes as long as deleting: nobody waits for it who cannot answer.
      guard consent.dryRun || Consent.canAsk else {
        throw CommandFailure(.usage, "this deletes \(path) and everything below it: add --yes to say that you mean it.")
      }
      let count = try await count(below: path, connection)
      if count == 0 || consent.dryRun { return try writes.reportDry(count, consent, writing) }
      try consent.obtain("delete", count, in: "\(path) and what is below it")
    }
    try await delete([path], connection, writes)
  }

  private func count(below path: ResourcePath, _ connection: Connection) async throws -> Int {
    let isQuiet = writing.headless.quiet
    return try await writing.timeLimit.limit {
      var progress = TransferProgress(isQuiet: isQuiet)
      defer { progress.end() }
      var (walk, count) = (DocumentWalk(at: connection.datastore, connection.database, isRecursive: true), 0)
      walk.projection = FieldMask([])
      try await walk.visit(path) { _ in
        count += 1
        progress.show(count)
      }
      return count
    }
  }

  private func delete(_ roots: [ResourcePath], _ connection: Connection, _ writes: QueriedWrites) async throws {
    let isQuiet = writing.headless.quiet
    let (deleted, elapsed) = try await writing.timeLimit.limitWrites {
      var progress = TransferProgress(isQuiet: isQuiet) { "Deleted so far: \($0) or more; the same command goes on." }
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
