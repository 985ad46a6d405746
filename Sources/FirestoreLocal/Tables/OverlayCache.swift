// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreProtocol

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
    find = try connection.prepare(
      """
      SELECT mutation, origin, largest_batch, checksum, user FROM overlays WHERE collection = ? AND name = ? AND user = ?
      """)
    findPending = try connection.prepare(
      """
      SELECT batch, mutation, origin, largest_batch, checksum, user FROM pending_documents
      WHERE collection = ? AND name = ? AND user = ? ORDER BY batch LIMIT 1
      """)
    store = try connection.prepare(
      """
      INSERT INTO pending_documents (collection, name, user, largest_batch, mutation, origin, checksum, batch)
      VALUES (?, ?, ?, ?, ?, ?, ?, 0)
      ON CONFLICT DO UPDATE SET
        largest_batch = excluded.largest_batch, mutation = excluded.mutation, origin = excluded.origin,
        checksum = excluded.checksum
      """)
    delete = try connection.prepare(
      "DELETE FROM pending_documents WHERE collection = ? AND name = ? AND user = ? AND batch = 0")
    inCollection = try connection.prepare(
      "SELECT mutation, origin, largest_batch, checksum, user FROM overlays WHERE collection = ? AND user = ?")
  }

  func overlay(
    _ collection: CollectionTable.Number, _ name: String, of user: MutationQueue.User
  ) throws(LocalStoreError) -> Mutation? {
    try find.bind(collection, at: 1).bind(name, at: 2).bind(user, at: 3).first { row throws(LocalStoreError) in
      try Self.mutation(row, from: 0)
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

  /// Reads five columns: the mutation, its origin, the newest batch, the checksum of these, and whose overlay it is.
  static func entry(_ row: Statement, from column: Int32) throws(LocalStoreError) -> Entry {
    let mutation = try mutation(row, from: column)
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
    let mutation = entry.mutation.encoded()
    let origin = entry.origin?.encoded(entry.mutation, largestBatch: entry.largestBatch)
    store.bind(entry.largestBatch.rawValue, at: 4).bind(mutation, at: 5).bind(origin, at: 6)
    try store.bind(RowChecksum.of(mutation, origin ?? [], numbers: (entry.largestBatch.rawValue, user)), at: 7).run()
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
      overlays.append(try Self.mutation(row, from: 0))
    }
    return overlays
  }

  private static func mutation(_ row: Statement, from column: Int32) throws(LocalStoreError) -> Mutation {
    let isIntact = RowChecksum.holds(
      row.optionalInteger(column + 3), for: row.blobBytes(column), row.blobBytes(column + 1),
      numbers: (row.integer(column + 2), row.integer(column + 4)))
    guard isIntact else {
      throw LocalStoreError(.corrupt, "The cache is damaged: an overlay has changed on disk.")
    }
    do throws(ModelError) {
      return try Mutation(decoding: row.blob(column))
    } catch {
      throw damaged(error)
    }
  }

  private static func damaged(_ error: ModelError) -> LocalStoreError {
    LocalStoreError(.corrupt, "The cache is damaged: an overlay cannot be read (\(error.message)).")
  }
}
