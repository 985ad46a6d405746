// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
package import FirestoreSQLite

extension LocalStore {
  /// Takes up the queue of a user; `nil` is the signed-out one. There are no listeners yet.
  package mutating func start(user name: String?) throws(StoreError) {
    try check(.start)
    let database = database
    let user = try database.transaction { () throws(StoreError) in try Self.activate(name, database) }
    let count = try database.read { () throws(StoreError) in try database.mutations.count(of: user) }
    queue = UserQueue(user: user, batchCount: count)
  }

  /// Swaps the queue of pending writes. Batches of the old user stay stored and wait.
  package mutating func changeUser(to name: String?) throws(StoreError) -> UserChangeResult {
    try check(.handleUserChange)
    let database = database
    let old = user
    let (user, count, result) = try database.transaction { () throws(StoreError) in
      let removed = try database.mutations.batches(of: old)
      let user = try Self.activate(name, database)
      let added = try database.mutations.batches(of: user)
      let documents = LocalDocuments(database: database, user: user, hasBatches: !added.isEmpty)
      try renew(removed, database)
      var affected: [DocumentKey: Document] = [:]
      for batch in removed + added {
        for key in batch.keys where affected[key] == nil { affected[key] = try documents.view(of: key) }
      }
      let result = UserChangeResult(
        affected: affected, removedBatches: removed.map(\.id), addedBatches: added)
      return (user, added.count, result)
    }
    queue = UserQueue(user: user, batchCount: count)
    return result
  }

  /// Marks the documents of batches as changed, because the remote documents below them show again.
  private func renew(_ batches: [MutationBatch], _ database: CacheDatabase) throws(StoreError) {
    let readTime = try database.globals.readTime()
    let sequenceNumber = try database.sequenceNumbers.next()
    for key in Set(batches.flatMap(\.keys)) {
      guard let collection = try database.collections.number(of: key),
        let header = try database.documents.header(collection, key.documentID)
      else { continue }
      try database.documents.renew(header.number, readTime: readTime, sequenceNumber: sequenceNumber)
    }
  }

  /// Brings the overlays of a user up to date with documents that changed while another user was active.
  private static func activate(_ name: String?, _ database: CacheDatabase) throws(StoreError) -> UserNumber {
    let user = try database.mutations.number(ofUser: name)
    if try database.globals.value(.currentUser) == user.rawValue { return user }
    try database.globals.set(.currentUser, user.rawValue)
    let documents = LocalDocuments(database: database, user: user, hasBatches: true)
    for key in try database.mutations.keys(of: user) {
      try documents.recompute(key, over: try database.documents.document(key))
    }
    return user
  }
}
