// SPDX-License-Identifier: Apache-2.0
import FirestoreModel

/// For each document with pending writes of a user the one mutation that makes the local view out of the remote
/// document (S9).
struct OverlayCache {
  private let find: Statement
  private let store: Statement
  private let delete: Statement
  private let inCollection: Statement

  init(_ connection: Connection) throws(LocalStoreError) {
    find = try connection.prepare("SELECT mutation FROM overlays WHERE user = ? AND collection = ? AND name = ?")
    store = try connection.prepare(
      """
      INSERT INTO overlays (user, collection, name, largest_batch, mutation) VALUES (?, ?, ?, ?, ?)
      ON CONFLICT DO UPDATE SET largest_batch = excluded.largest_batch, mutation = excluded.mutation
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

  /// - Parameters:
  ///   - overlay: `nil` removes what is stored.
  ///   - largestBatch: the newest batch that is part of the overlay.
  func set(
    _ overlay: Mutation?, largestBatch: BatchID, _ collection: CollectionTable.Number, _ name: String,
    of user: MutationQueue.User
  ) throws(LocalStoreError) {
    guard let overlay else { return try remove(collection, name, of: user) }
    store.bind(user, at: 1).bind(collection, at: 2).bind(name, at: 3)
    try store.bind(largestBatch.rawValue, at: 4).bind(overlay.encoded(), at: 5).run()
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
      throw LocalStoreError(.corrupt, "The cache is damaged: an overlay cannot be read (\(error.message)).")
    }
  }
}
