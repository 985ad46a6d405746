// SPDX-License-Identifier: Apache-2.0
package import ArgumentParser
package import CommandOptions
import CommandOutput
import CommandTransfer
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
import Foundation

/// `hearth delete`: deletes one document, everything below a path, or the documents in a query's result.
package struct DeleteCommand: AsyncParsableCommand, WritingCommand {
  package static let configuration = CommandConfiguration(
    commandName: "delete", abstract: "Delete a document, the results of a query, or everything below a path.",
    usage: """
      hearth delete <path> [<options>]
      hearth delete <collection> --where <condition> [--recursive] [--yes] [<options>]
      hearth delete <path> --recursive [--yes] [<options>]
      """,
    discussion: """
      Deleting a document that does not exist is not an error. Without --recursive the subcollections of a document \
      stay, and a message counts them.

      For a collection, deletes the documents that the query finds. They are selected first and then deleted, up to \
      500 in one commit, so this is not one transaction.

      Before it deletes several documents, the command counts them. On a terminal, it then asks you to confirm by \
      typing the count. --yes skips the count and the question. --dry-run only counts.
      """)

  @OptionGroup var queried: QueriedPath

  @Flag(help: "Delete all documents of a collection, or the query's results, and everything below them.")
  var recursive = false

  @OptionGroup var existing: ExistingOptions
  @OptionGroup var consent: Consent
  @OptionGroup var writing: WritingOptions

  package var storage: StorageOptions { writing.storage }
  package var writes: Bool { !consent.dryRun }

  package init() {}

  package mutating func run() async throws {
    if queried.isRoot {
      throw CommandFailure(.usage, "/ is the whole database. Use 'hearth clear' to delete all of its documents.")
    }
    let query = try queried.query(in: writing.database)
    let isQuery = queried.collectionGroup || !queried.selection.isEmpty
    guard isQuery || recursive else {
      guard let key = DocumentKey(query.path) else {
        throw CommandFailure(
          .usage, "\"\(query.path)\" is a collection. Add --recursive to delete it, or --where to select documents.")
      }
      if consent.dryRun { throw CommandFailure(.usage, "--dry-run works only for more than one document.") }
      let mutation = Mutation(key: key, operation: .delete, precondition: existing.precondition)
      try await writing.commit(mutation, unchangedSince: existing.unchanged.ifUnchangedSince)
      return await reportRemaining(below: [key])
    }
    if existing.ifExists || existing.unchanged.ifUnchangedSince != nil {
      throw CommandFailure(.usage, "--if-exists and --if-unchanged-since work only for one document.")
    }
    let writes = QueriedWrites(query: query, verb: ("delete", "deleted"))
    let connection = try writing.connect()
    let removal = BulkRemoval(writing: writing, consent: consent, connection: connection)
    guard isQuery else {
      let (path, extent) = (query.path, "\(query.path) and everything below it")
      guard try await removal.obtainConsent(below: [path], called: path.text, asking: extent) else { return }
      return try await removal.delete([query.path])
    }
    guard let keys = try await writes.choose(at: connection, writing, consent) else { return }
    if recursive { return try await removal.delete(keys.map(\.path)) }
    try await writes.write(keys, at: connection.datastore, writing, isRepeatable: true) {
      Mutation(key: $0, operation: .delete)
    }
    await reportRemaining(below: keys)
  }

  /// The maximum number of deleted documents that are checked for subcollections.
  private static let mostChecked = 500

  /// Reports which subcollections of the deleted documents still exist.
  private func reportRemaining(below keys: [DocumentKey]) async {
    if writing.headless.quiet { return }
    let checked = Array(keys.prefix(Self.mostChecked))
    let writing = writing
    // The report is optional: the documents are deleted.
    let ids = try? await writing.timeLimit.limit {
      try await writing.connect().datastore.collectionIDs(below: checked).flatMap(\.self)
    }
    guard let ids, let first = ids.first else { return }
    let isOne = ids.count == 1
    guard keys.count == 1 else {
      let count = (checked.count < keys.count ? "at least " : "") + "\(ids.count) subcollection\(isOne ? "" : "s")"
      return writing.headless.note(
        "\(ShownText(count)) of the deleted documents still exist\(isOne ? "s" : ""). --recursive deletes \(isOne ? "it" : "them") too."
      )
    }
    let path = keys[0].path
    let which = isOne ? "its subcollection \(first) still exists" : "\(ids.count) subcollections still exist"
    writing.headless.note(
      ShownText(
        "\(path) is deleted, but \(which). To delete everything below it: hearth delete \(ShellText.typed(path.text)) --recursive"
      ))
  }
}

/// `hearth clear`: deletes all documents of a database.
package struct ClearCommand: AsyncParsableCommand, WritingCommand {
  package static let configuration = CommandConfiguration(
    commandName: "clear", abstract: "Delete all documents of a database.",
    discussion: """
      Counts the documents first. On a terminal, asks you to confirm by typing the count, unless you add --yes. \
      --dry-run only counts. Clears only the database of --project and --database; 'hearth databases' lists all.

      Works with the embedded backend, 'hearth serve' and emulators, but not with Cloud Firestore. There, use 'hearth \
      delete COLLECTION --recursive' for each collection.
      """)

  @OptionGroup var consent: Consent
  @OptionGroup var writing: WritingOptions

  package var storage: StorageOptions { writing.storage }
  package var writes: Bool { !consent.dryRun }

  package init() {}

  package mutating func run() async throws {
    let locations = storage.locations
    if locations.isProduction {
      throw CommandFailure(
        .usage,
        "\(locations.database.text) is a production database, which cannot be cleared. Use 'hearth delete COLLECTION "
          + "--recursive' for each collection.")
    }
    try locations.requireData()
    let connection = try locations.connect()
    let database = connection.database.text
    let removal = BulkRemoval(writing: writing, consent: consent, connection: connection)
    guard try await removal.obtainConsent(below: [.root], called: database, asking: database) else { return }
    let collections = try await writing.timeLimit.limit {
      try await connection.datastore.listCollectionIDs(below: .root)
    }
    try await removal.delete(collections.map { ResourcePath($0) })
  }
}
