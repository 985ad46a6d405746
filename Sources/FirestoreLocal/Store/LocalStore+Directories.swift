// SPDX-License-Identifier: Apache-2.0
import FirestoreSQLite

extension LocalStore {
  /// Whether a directory holds a durable cache, in whatever state.
  package static func exists(in path: String) -> Bool { CacheDatabase.files(in: path).exists }

  /// How many writes, waiting and refused ones, of all users are kept in a cache that has no owner: one that a version
  /// made which did not note for which database. 0 for a cache that has one.
  /// - Throws: `locked` if a store has it open, or why it cannot be read.
  package static func ownerlessWriteCount(in path: String) throws(LocalStoreError) -> Int {
    let database = try CacheDatabase.open(in: path, claim: nil)
    defer { database.close() }
    return try database.owner == nil ? Int(database.keptWriteCount) : 0
  }
}
