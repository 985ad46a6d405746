// SPDX-License-Identifier: Apache-2.0
import FirestoreModel

/// For each document with pending writes of a user the one mutation that makes the local view out of the remote
/// document (S9).
struct OverlayCache {
  /// An overlay with what it comes from, and the newest batch that is part of it.
  struct Entry {
    var mutation: Mutation
    var origin: OverlayOrigin?
    var largestBatch: BatchID
  }

  /// What waits for a document.
  enum Pending {
    case nothing
    /// Batches that do not change it.
    case withoutEffect
    case overlay(Entry)

    var entry: Entry? { if case .overlay(let entry) = self { entry } else { nil } }
  }

  private let find: Statement
  private let findPending: Statement
  private let store: Statement
  private let delete: Statement
  private let inCollection: Statement

  init(_ connection: Connection) throws(LocalStoreError) {
    find = try connection.prepare("SELECT mutation FROM overlays WHERE collection = ? AND name = ? AND user = ?")
    findPending = try connection.prepare(
      """
      SELECT batch, mutation, origin, largest_batch FROM pending_documents
      WHERE collection = ? AND name = ? AND user = ? ORDER BY batch LIMIT 1
      """)
    store = try connection.prepare(
      """
      INSERT INTO pending_documents (collection, name, user, largest_batch, mutation, origin, batch)
      VALUES (?, ?, ?, ?, ?, ?, 0)
      ON CONFLICT DO UPDATE SET
        largest_batch = excluded.largest_batch, mutation = excluded.mutation, origin = excluded.origin
      """)
    delete = try connection.prepare(
      "DELETE FROM pending_documents WHERE collection = ? AND name = ? AND user = ? AND batch = 0")
    inCollection = try connection.prepare("SELECT name, mutation FROM overlays WHERE collection = ? AND user = ?")
  }

  func overlay(
    _ collection: CollectionTable.Number, _ name: String, of user: MutationQueue.User
  ) throws(LocalStoreError) -> Mutation? {
    try find.bind(collection, at: 1).bind(name, at: 2).bind(user, at: 3).first { row throws(LocalStoreError) in
      try Self.decode(row.blob(0))
    }
  }

  func pending(
    _ collection: CollectionTable.Number, _ name: String, of user: MutationQueue.User
  ) throws(LocalStoreError) -> Pending {
    findPending.bind(collection, at: 1).bind(name, at: 2).bind(user, at: 3)
    return try findPending.first { row throws(LocalStoreError) in
      // The overlay comes before the batches.
      if row.integer(0) != 0 { return .withoutEffect }
      return .overlay(try Self.entry(row, from: 1))
    } ?? .nothing
  }

  /// Reads three columns: the mutation, its origin and the newest batch.
  static func entry(_ row: Statement, from column: Int32) throws(LocalStoreError) -> Entry {
    let mutation = try decode(row.blob(column))
    let largestBatch = BatchID(row.integer(column + 2))
    do throws(ModelError) {
      let origin = try OverlayOrigin(decoding: row.blob(column + 1), mutation, largestBatch: largestBatch)
      return Entry(mutation: mutation, origin: origin, largestBatch: largestBatch)
    } catch {
      throw damaged(error)
    }
  }

  func set(
    _ entry: Entry, _ collection: CollectionTable.Number, _ name: String, of user: MutationQueue.User
  ) throws(LocalStoreError) {
    store.bind(collection, at: 1).bind(name, at: 2).bind(user, at: 3)
    store.bind(entry.largestBatch.rawValue, at: 4).bind(entry.mutation.encoded(), at: 5)
    let origin = entry.origin?.encoded(entry.mutation, largestBatch: entry.largestBatch)
    try store.bind(origin, at: 6).run()
  }

  func remove(
    _ collection: CollectionTable.Number, _ name: String, of user: MutationQueue.User
  ) throws(LocalStoreError) {
    try delete.bind(collection, at: 1).bind(name, at: 2).bind(user, at: 3).run()
  }

  func overlays(
    in collection: CollectionTable.Number, of user: MutationQueue.User
  ) throws(LocalStoreError) -> [Mutation] {
    var overlays: [Mutation] = []
    try inCollection.bind(collection, at: 1).bind(user, at: 2).forEachRow { row throws(LocalStoreError) in
      overlays.append(try Self.decode(row.blob(1)))
    }
    return overlays
  }

  private static func decode(_ bytes: [UInt8]) throws(LocalStoreError) -> Mutation {
    do throws(ModelError) {
      return try Mutation(decoding: bytes)
    } catch {
      throw damaged(error)
    }
  }

  private static func damaged(_ error: ModelError) -> LocalStoreError {
    LocalStoreError(.corrupt, "The cache is damaged: an overlay cannot be read (\(error.message)).")
  }
}
