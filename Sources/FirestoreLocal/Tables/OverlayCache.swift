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

  private let find: Statement
  private let findEntry: Statement
  private let store: Statement
  private let delete: Statement
  private let inCollection: Statement

  init(_ connection: Connection) throws(LocalStoreError) {
    find = try connection.prepare("SELECT mutation FROM overlays WHERE user = ? AND collection = ? AND name = ?")
    findEntry = try connection.prepare(
      "SELECT mutation, origin, largest_batch FROM overlays WHERE user = ? AND collection = ? AND name = ?")
    store = try connection.prepare(
      """
      INSERT INTO overlays (user, collection, name, largest_batch, mutation, origin) VALUES (?, ?, ?, ?, ?, ?)
      ON CONFLICT DO UPDATE SET
        largest_batch = excluded.largest_batch, mutation = excluded.mutation, origin = excluded.origin
      """)
    delete = try connection.prepare("DELETE FROM overlays WHERE user = ? AND collection = ? AND name = ?")
    inCollection = try connection.prepare("SELECT name, mutation FROM overlays WHERE user = ? AND collection = ?")
  }

  func overlay(
    _ collection: CollectionTable.Number, _ name: String, of user: MutationQueue.User
  ) throws(LocalStoreError) -> Mutation? {
    try find.bind(user, at: 1).bind(collection, at: 2).bind(name, at: 3).first { row throws(LocalStoreError) in
      try Self.decode(row.blob(0))
    }
  }

  func entry(
    _ collection: CollectionTable.Number, _ name: String, of user: MutationQueue.User
  ) throws(LocalStoreError) -> Entry? {
    try findEntry.bind(user, at: 1).bind(collection, at: 2).bind(name, at: 3).first { row throws(LocalStoreError) in
      let mutation = try Self.decode(row.blob(0))
      let largestBatch = BatchID(row.integer(2))
      do throws(ModelError) {
        let origin = try OverlayOrigin(decoding: row.blob(1), mutation, largestBatch: largestBatch)
        return Entry(mutation: mutation, origin: origin, largestBatch: largestBatch)
      } catch {
        throw Self.damaged(error)
      }
    }
  }

  func set(
    _ entry: Entry, _ collection: CollectionTable.Number, _ name: String, of user: MutationQueue.User
  ) throws(LocalStoreError) {
    store.bind(user, at: 1).bind(collection, at: 2).bind(name, at: 3)
    store.bind(entry.largestBatch.rawValue, at: 4).bind(entry.mutation.encoded(), at: 5)
    let origin = entry.origin?.encoded(entry.mutation, largestBatch: entry.largestBatch)
    try store.bind(origin, at: 6).run()
  }

  func remove(
    _ collection: CollectionTable.Number, _ name: String, of user: MutationQueue.User
  ) throws(LocalStoreError) {
    try delete.bind(user, at: 1).bind(collection, at: 2).bind(name, at: 3).run()
  }

  func overlays(
    in collection: CollectionTable.Number, of user: MutationQueue.User
  ) throws(LocalStoreError) -> [Mutation] {
    var overlays: [Mutation] = []
    try inCollection.bind(user, at: 1).bind(collection, at: 2).forEachRow { row throws(LocalStoreError) in
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
