// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
import FirestoreProtocol
package import FirestoreQuery
package import FirestoreSQLite

/// Removes one document, or a collection's documents, from the cache, regardless of the cache's size. Works in slices.
/// Each slice is a transaction that leaves the cache consistent.
package struct Eviction: Sendable {
  /// The maximum number of documents that one slice evicts. Evicting this number takes a few milliseconds.
  static let documentsPerSlice = 100
  /// The maximum number of rows that one slice reads in order to find documents to evict.
  static let rowsPerSlice = 400

  /// The kind of rows to evict.
  package enum Subject: Sendable {
    /// Documents and tombstones.
    case everything
    /// Documents whose server version matches a target, ignoring the target's limit.
    case documents(matching: Target)
    /// Only tombstones, which record that documents do not exist.
    case tombstones
  }

  let path: ResourcePath
  let subject: Subject
  /// An eviction spares documents that the server has confirmed since this server time. `nil` to evict them regardless
  /// of age.
  let bound: SnapshotVersion?
  /// The first document of the next slice.
  var next: DocumentNumber?
  /// The number of removed documents.
  package internal(set) var removed = 0
  /// The number of documents that remain because they are pinned, or because a listener of any client includes them.
  package internal(set) var listened = 0
  /// The number of documents that remain because of pending writes.
  package internal(set) var modified = 0
  /// The number of documents that remain because the server has confirmed them since `bound`.
  package internal(set) var fresh = 0
  /// The number of removed tombstones.
  package internal(set) var tombstones = 0
  package internal(set) var isFinished = false

  /// - Parameters:
  ///   - path: a document, or the collection that directly contains the documents.
  ///   - subject: the rows of the path to evict.
  ///   - bound: if not `nil`, evicts only documents that the server has not confirmed since this server time.
  package init(
    of path: ResourcePath, _ subject: Subject = .everything, unconfirmedSince bound: SnapshotVersion? = nil
  ) {
    self.path = path
    self.subject = subject
    self.bound = bound
  }
}

extension LocalStore {
  /// Performs the next slice.
  /// - Throws: `leaseLost` if another client runs the streams.
  package mutating func continueEviction(_ eviction: inout Eviction) throws(StoreError) {
    references.settle()
    let (database, own, references, user) = (database, activeTargets.ids, references, user)
    var next = eviction
    try database.transaction { () throws(StoreError) in
      try database.sharing?.requireLease()
      let others = try database.kept(besides: user)
      let collector = LRUGarbageCollector(
        database: database, activeTargets: own.union(others.targets), held: references, shownElsewhere: others.shown)
      try collector.evict(&next)
    }
    eviction = next
  }
}

extension LRUGarbageCollector {
  /// Evicts the next slice. Removes only documents that no active target refers to. After that, queries cannot resume
  /// from the targets that contained evicted documents. A new listener to such a query requests all documents from the
  /// backend.
  fileprivate func evict(_ eviction: inout Eviction) throws(StoreError) {
    let references = try references()
    for row in try rows(of: &eviction) {
      let collection = row.number.collection
      if let bound = eviction.bound, try database.confirmed(row.number) > bound.microseconds {
        if row.exists { eviction.fresh += 1 }
        continue
      }
      if try database.mutations.affects(collection, row.name) {
        eviction.modified += 1
        continue
      }
      let targets = try database.targets.all(with: row.number)
      var isHeld = try references.contains(row.number) || !activeTargets.isDisjoint(with: targets)
      if !isHeld, !row.exists { isHeld = try isWanted(database.collections.key(collection, row.name)) }
      if isHeld {
        eviction.listened += 1
        continue
      }
      for id in targets { try database.targets.makeUnknown(id) }
      try database.targets.removeMemberships(of: row.number)
      try database.documents.remove(row.number)
      if row.exists { eviction.removed += 1 } else { eviction.tombstones += 1 }
    }
  }

  /// Whether a listener or a pin refers to this single document. If so, a tombstone of the document is the result of
  /// that listener or pin, and must remain.
  private func isWanted(_ key: DocumentKey) throws(StoreError) -> Bool {
    if shownElsewhere.contains(where: { $0.isDocumentTarget && $0.path == key.path }) { return true }
    return try database.targets.id(of: Query(path: key.path).target).map(activeTargets.contains) ?? false
  }

  /// The documents of the next slice. Omits placeholder rows, which must remain because targets refer to their document
  /// numbers.
  private func rows(of eviction: inout Eviction) throws(StoreError) -> [EvictedRow] {
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
      let row = EvictedRow(number: header.number, name: key.documentID, exists: header.state != .missing)
      if case .tombstones = eviction.subject, row.exists { return [] }
      return [row]
    }
    let path = try database.collections.path(of: collection)
    let subject = eviction.subject
    var (rows, visited): ([EvictedRow], Int) = ([], 0)
    var next: DocumentNumber?
    try database.documents.scan(collection, from: eviction.next ?? collection.documents.lowerBound) {
      row throws(StoreError) in
      guard rows.count < Eviction.documentsPerSlice, visited < Eviction.rowsPerSlice else {
        next = row.number
        return false
      }
      visited += 1
      if try subject.means(row, in: path) {
        rows.append(EvictedRow(number: row.number, name: row.name, exists: row.isFound))
      }
      return true
    }
    eviction.next = next
    eviction.isFinished = next == nil
    return rows
  }
}

extension Eviction.Subject {
  fileprivate func means(_ row: DocumentRow, in path: ResourcePath) throws(StoreError) -> Bool {
    switch self {
    case .everything: return row.isFound || row.isTombstone
    case .tombstones: return row.isTombstone
    case .documents(let target):
      guard row.isFound, let document = try row.document(row.key(in: path)) else { return false }
      return target.matches(document)
    }
  }
}

/// A row that may be evicted.
private struct EvictedRow {
  var number: DocumentNumber
  var name: String
  /// Whether the row contains a document. If not, it is a tombstone.
  var exists: Bool
}

extension CacheDatabase {
  /// The server time, in microseconds, at which the server last sent the document, or last confirmed a result that
  /// contains the document.
  func confirmed(_ number: DocumentNumber) throws(StoreError) -> Int64 {
    try connection.integer(
      """
      SELECT max(read_time, ifnull((
        SELECT max(snapshot_version) FROM target_documents AS members JOIN targets ON targets.id = members.target
        WHERE members.document = ?1), 0))
      FROM documents WHERE id = ?1
      """, number) ?? 0
  }
}

extension LocalStore {
  /// The paths of all collections that the cache has ever contained.
  package func collectionPaths() throws(StoreError) -> [ResourcePath] {
    let database = database
    return try database.read { () throws(StoreError) in
      try database.connection.all("SELECT path FROM collection_parents ORDER BY path") { ResourcePath($0.text(0)) }
    }
  }
}
