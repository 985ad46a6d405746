// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
import FirestoreSQLite

/// Evicts a document as soon as no target, view, limbo resolution, pending write or pin refers to it.
struct EagerGarbageCollector {
  let database: CacheDatabase
  /// The references that are in memory and not in the database. The caller must have called `settle()` on them.
  let references: DocumentReferences

  /// Removes those candidates that have no references.
  /// - Precondition: inside a transaction.
  /// - Returns: the keys of the removed documents.
  @discardableResult
  func collect(_ candidates: Set<DocumentKey>) throws(StoreError) -> [DocumentKey] {
    var removed: [DocumentKey] = []
    for key in candidates.union(references.unreferenced) {
      guard let collection = try database.collections.number(of: key),
        let header = try database.documents.header(collection, key.documentID)
      else { continue }
      if try removeUnlessReferenced(key, collection, header.number) { removed.append(key) }
    }
    return removed
  }

  @discardableResult
  func collect(_ candidates: [DocumentNumber]) throws(StoreError) -> [DocumentKey] {
    var removed: [DocumentKey] = []
    for number in candidates {
      let collection = number.collection
      guard let name = try database.documents.name(number) else { continue }
      let key = try database.collections.key(collection, name)
      if try removeUnlessReferenced(key, collection, number) { removed.append(key) }
    }
    return removed
  }

  private func removeUnlessReferenced(
    _ key: DocumentKey, _ collection: CollectionNumber, _ number: DocumentNumber
  ) throws(StoreError) -> Bool {
    if isShown(key) { return false }
    if try database.targets.anyContains(number) { return false }
    if try database.mutations.affects(collection, key.documentID) { return false }
    let pins = try database.retentions.pinned.filter { $0.containsPath(of: key) }
    if !pins.isEmpty, let document = try database.documents.document(key, in: collection),
      pins.contains(where: { $0.matches(document) })
    {
      return false
    }
    try database.documents.remove(number)
    return true
  }

  private func isShown(_ key: DocumentKey) -> Bool {
    references.pins.values.contains { $0.keys.contains(key) } || references.limbo.values.contains { $0.contains(key) }
  }
}

extension LocalStore {
  /// - Returns: `nil` unless the policy is eager.
  var eagerGarbageCollector: EagerGarbageCollector? {
    guard policy == .eager else { return nil }
    return EagerGarbageCollector(database: database, references: references)
  }
}

/// The documents that the views of a target show.
///
/// Keys are hashed only when the set is first used, because only a garbage collection needs it. The first snapshot of a
/// large view must not wait for the hashing.
struct PinnedKeys: Sendable {
  private(set) var keys: Set<DocumentKey> = []
  private var added: [[DocumentKey]] = []

  /// An upper bound for the number of keys. A key that was added twice counts twice.
  var maximumCount: Int { added.reduce(keys.count) { $0 + $1.count } }

  mutating func add(_ others: [DocumentKey]) {
    if !others.isEmpty { added.append(others) }
  }

  mutating func remove(_ others: Set<DocumentKey>) {
    if others.isEmpty { return }
    settle()
    keys.subtract(others)
  }

  /// Inserts into `keys` all keys that were added since the last call.
  mutating func settle() {
    for list in added { keys.formUnion(list) }
    added = []
  }

  mutating func settled() -> Set<DocumentKey> {
    settle()
    return keys
  }
}

/// The references from views and limbo resolutions to documents. They are in memory and not in the database. A document
/// with such a reference is not evicted.
struct DocumentReferences: Sendable {
  /// The documents that each active target's view shows.
  private(set) var pins: [TargetID: PinnedKeys] = [:]
  private(set) var limbo: [TargetID: Set<DocumentKey>] = [:]
  /// Documents that lost a reference outside of a transaction. The eager collector checks them in the next transaction.
  private(set) var unreferenced: Set<DocumentKey> = []

  // MARK: Views

  /// Records the documents that a target's view now shows and the documents that it no longer shows.
  mutating func pin(_ change: LocalViewChanges) {
    pins[change.targetID, default: PinnedKeys()].add(change.added)
    pins[change.targetID]?.remove(change.removed)
  }

  /// Removes and returns the documents of a target whose last listener has ended.
  mutating func unpin(_ target: TargetID) -> PinnedKeys { pins.removeValue(forKey: target) ?? PinnedKeys() }

  /// Completes the sets of keys that views show. Call this before a garbage collection, which needs these sets.
  mutating func settle() { for id in pins.keys { pins[id]?.settle() } }

  mutating func settle(_ target: TargetID) { pins[target]?.settle() }

  // MARK: Limbo

  mutating func add(_ key: DocumentKey, lookedUpBy resolution: TargetID) {
    limbo[resolution, default: []].insert(key)
  }

  /// Removes and returns the documents of a finished limbo resolution.
  mutating func remove(_ resolution: TargetID) -> Set<DocumentKey> { limbo.removeValue(forKey: resolution) ?? [] }

  // MARK: The eager collector

  /// Queues documents for the eager collector, which checks them in the next transaction.
  mutating func lost(_ keys: Set<DocumentKey>) { unreferenced.formUnion(keys) }

  /// Records that the eager collector has checked all documents that lost a reference.
  mutating func collected() { unreferenced = [] }
}
