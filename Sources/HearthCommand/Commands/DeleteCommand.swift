// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
import Foundation

/// `hearth delete`: one document, or everything below a path.
struct DeleteCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "delete", abstract: "Delete a document, or with --recursive everything below a path.",
    usage: "hearth delete <path> [--recursive --yes] [<options>]",
    discussion: """
      Deleting a document that does not exist is no error. Without --recursive the subcollections of a document stay.
      """)

  @Argument(help: "Path of a document; with --recursive also of a collection.")
  var path: String

  @Flag(help: "Delete all documents of a collection, and everything below the documents.")
  var recursive = false

  @Flag(help: "Do not ask whether to delete recursively.")
  var yes = false

  @OptionGroup var existing: ExistingOptions
  @OptionGroup var writing: WritingOptions

  mutating func run() async throws {
    let path = try DataPath.any(path)
    guard recursive else {
      guard let key = DocumentKey(path) else {
        throw CommandFailure(.usage, "\"\(path)\" is a collection: add --recursive to delete all of its documents.")
      }
      let mutation = Mutation(key: key, operation: .delete, precondition: existing.precondition)
      return try await writing.commit(mutation, unchangedSince: existing.unchanged.ifUnchangedSince)
    }
    if existing.ifExists || existing.unchanged.ifUnchangedSince != nil {
      throw CommandFailure(
        .usage, "--if-exists and --if-unchanged-since are about one document: leave out --recursive.")
    }
    guard yes else {
      throw CommandFailure(.usage, "this deletes \(path) and everything below it: add --yes to say that you mean it.")
    }
    let connection = try writing.connect()
    let deleted = try await writing.timeLimit.limit { try await Self.deleteAll(at: path, connection) }
    writing.headless.note("deleted \(deleted.documents).")
  }

  /// Deletes subcollections before the documents above them, so that what an interruption leaves can still be found.
  private static func deleteAll(at path: ResourcePath, _ connection: Connection) async throws -> Int {
    var batch = DeletionBatch(datastore: connection.datastore)
    let walk = DocumentWalk(at: connection, isRecursive: true, order: .childrenFirst)
    try await walk.visit(path) { document in try await batch.add(document.key) }
    try await batch.flush()
    return batch.count
  }
}

/// Deletions on their way.
private struct DeletionBatch {
  /// The most writes of one commit (PROTOCOL §3.2).
  private static let limit = 500

  let datastore: any Datastore
  private(set) var count = 0
  private var mutations: [Mutation] = []

  init(datastore: any Datastore) { self.datastore = datastore }

  mutating func add(_ key: DocumentKey) async throws {
    mutations.append(Mutation(key: key, operation: .delete))
    if mutations.count == Self.limit { try await flush() }
  }

  mutating func flush() async throws {
    if mutations.isEmpty { return }
    _ = try await datastore.commit(mutations)
    count += mutations.count
    mutations = []
  }
}
