// SPDX-License-Identifier: Apache-2.0
package import FirestoreClientState
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
package import FirestoreSQLite

// Pins need no listener: the collectors and eviction ask the table, whichever client of the cache collects.
extension LocalStore {
  /// The pins and lifetimes, in the order in which they were asked for.
  package func retentions() throws(StoreError) -> [Retention] {
    let database = database
    return try database.read { () throws(StoreError) in try database.retentions.all }
  }

  /// Stores one, in place of one of the same kind about the same query, and tells the other clients.
  package mutating func set(_ retention: Retention) throws(StoreError) {
    let database = database
    try database.transaction { () throws(StoreError) in
      try database.retentions.set(retention)
      try database.sharing?.tell(.retentions)
    }
  }

  /// Takes back the one of the same kind about the same query.
  /// - Returns: whether there was one.
  package mutating func remove(_ retention: Retention) throws(StoreError) -> Bool {
    references.settle()
    let (database, collector) = (database, eagerGarbageCollector)
    return try database.transaction { () throws(StoreError) in
      guard try database.retentions.remove(retention) else { return false }
      try database.sharing?.tell(.retentions)
      // An eager collector looks at documents once, when they lose their last reference.
      if let collector, retention.kind.isPin { try collector.collect(database.documents(matching: retention.target)) }
      return true
    }
  }
}

extension CacheDatabase {
  /// The targets that are not collected although this client does not listen to them, and those whose documents are kept
  /// as well: what other clients listen to, and what is pinned.
  /// - Parameter user: the primary client's user.
  func kept(besides user: UserNumber) throws(StoreError) -> (targets: Set<TargetID>, shown: [Target]) {
    var kept = try listening(besides: user)
    for target in try retentions.pinned {
      kept.shown.append(target)
      if let id = try targets.id(of: target) { kept.targets.insert(id) }
    }
    return kept
  }

  /// The documents that match a target, its limit aside. Reads its collections.
  fileprivate func documents(matching target: Target) throws(StoreError) -> [DocumentNumber] {
    var found: [DocumentNumber] = []
    for collection in try numbers(of: target) {
      let path = try collections.path(of: collection)
      try documents.scan(collection, where: nil) { row throws(StoreError) in
        if row.isFound, let document = try row.document(row.key(in: path)), target.matches(document) {
          found.append(row.number)
        }
      }
    }
    return found
  }

  /// The collections that a target's documents may lie in, as far as the cache has seen them.
  private func numbers(of target: Target) throws(StoreError) -> [CollectionNumber] {
    if let group = target.collectionGroup { return try collections.group(group, below: target.path) }
    let path = target.isDocumentTarget ? target.path.parent : target.path
    return try collections.number(of: path).map { [$0] } ?? []
  }
}

extension TargetCache {
  /// - Returns: `nil` for a target that the cache does not know.
  func id(of target: Target) throws(StoreError) -> TargetID? {
    try connection.first("SELECT id FROM targets WHERE canonical_id = ?", target.canonicalID) {
      row throws(StoreError) in try Self.id(row.integer(0))
    }
  }
}
