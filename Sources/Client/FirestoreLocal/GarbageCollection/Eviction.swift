// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
import FirestoreProtocol
package import FirestoreSQLite

/// The removal of a collection's documents from the cache, or of one document, whatever the cache's size; in slices,
/// each a transaction that leaves a consistent cache.
package struct Eviction: Sendable {
  /// The number of documents of a slice, which takes a few milliseconds.
  static let documentsPerSlice = 100

  let path: ResourcePath
  /// The document from which the next slice goes on.
  var next: DocumentNumber?
  /// The number of documents that were removed.
  package internal(set) var removed = 0
  /// The number of those that stay because a listener of any client shows or watches them.
  package internal(set) var listened = 0
  /// The number of those that stay because of pending writes.
  package internal(set) var modified = 0
  package internal(set) var isFinished = false

  /// - Parameter path: a document, or the collection that directly has the documents.
  package init(of path: ResourcePath) { self.path = path }
}

extension LocalStore {
  /// Does the next slice.
  /// - Throws: `leaseLost` if another client has the streams.
  package mutating func continueEviction(_ eviction: inout Eviction) throws(StoreError) {
    references.settle()
    let (database, own, references, user) = (database, activeTargets.ids, references, user)
    var next = eviction
    try database.transaction { () throws(StoreError) in
      try database.sharing?.requireLease()
      let others = try database.listening(besides: user)
      let collector = LRUGarbageCollector(
        database: database, activeTargets: own.union(others.targets), held: references, shownElsewhere: others.shown)
      try collector.evict(&next)
    }
    eviction = next
  }
}

extension LRUGarbageCollector {
  /// Removes the documents of the next slice that nothing refers to but targets that are not listened to. These become
  /// unknown to queries: a listener to the same query asks the backend for all documents again.
  fileprivate func evict(_ eviction: inout Eviction) throws(StoreError) {
    let references = try references()
    for row in try rows(of: &eviction) {
      let collection = row.number.collection
      if try database.mutations.affects(collection, row.name) {
        eviction.modified += 1
        continue
      }
      let targets = try database.targets.all(with: row.number)
      if try references.contains(row.number) || !activeTargets.isDisjoint(with: targets) {
        eviction.listened += 1
        continue
      }
      for id in targets { try database.targets.makeUnknown(id) }
      try database.targets.removeMemberships(of: row.number)
      try database.documents.remove(row.number)
      eviction.removed += 1
    }
  }

  /// The documents of the next slice; rows without content only give a target its numbers, and stay.
  private func rows(of eviction: inout Eviction) throws(StoreError) -> [(number: DocumentNumber, name: String)] {
    let key = DocumentKey(eviction.path)
    guard let collection = try database.collections.number(of: key?.collection ?? eviction.path) else {
      eviction.isFinished = true
      return []
    }
    if let key {
      eviction.isFinished = true
      guard let header = try database.documents.header(collection, key.documentID), header.state != .placeholder else {
        return []
      }
      return [(header.number, key.documentID)]
    }
    var rows: [(number: DocumentNumber, name: String)] = []
    var next: DocumentNumber?
    try database.documents.scan(collection, from: eviction.next ?? collection.documents.lowerBound) { row in
      guard rows.count < Eviction.documentsPerSlice else {
        next = row.number
        return false
      }
      if row.isFound { rows.append((row.number, row.name)) }
      return true
    }
    eviction.next = next
    eviction.isFinished = next == nil
    return rows
  }
}
