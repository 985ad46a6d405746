// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
import FirestoreSQLite

/// Forgets documents as soon as nothing refers to them: no target, no view, no limbo resolution, no pending write and no
/// pin.
struct EagerGarbageCollector {
  let database: CacheDatabase
  /// The references from outside of the database; settled.
  let references: DocumentReferences

  /// Removes those of the candidates that nothing refers to.
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

/// The documents that a target's views show.
///
/// Keys are hashed when the set is first asked for: only a garbage collection asks, and the first snapshot of a large
/// view should not wait for it.
struct PinnedKeys: Sendable {
  private(set) var keys: Set<DocumentKey> = []
  private var added: [[DocumentKey]] = []

  /// The number of keys, or more if some were added twice.
  var maximumCount: Int { added.reduce(keys.count) { $0 + $1.count } }

  mutating func add(_ others: [DocumentKey]) {
    if !others.isEmpty { added.append(others) }
  }

  mutating func remove(_ others: Set<DocumentKey>) {
    if others.isEmpty { return }
    settle()
    keys.subtract(others)
  }

  /// Completes `keys` with the keys that were added since it was last complete.
  mutating func settle() {
    for list in added { keys.formUnion(list) }
    added = []
  }

  mutating func settled() -> Set<DocumentKey> {
    settle()
    return keys
  }
}

/// The references to documents that are not in the database: views show documents, and limbo resolutions look them up.
/// A document that is referred to is not collected.
struct DocumentReferences: Sendable {
  /// The documents shown by each active target's view.
  private(set) var pins: [TargetID: PinnedKeys] = [:]
  private(set) var limbo: [TargetID: Set<DocumentKey>] = [:]
  /// Documents that lost a reference outside of a transaction; the eager collector looks at them in the next one.
  private(set) var unreferenced: Set<DocumentKey> = []

  // MARK: Views

  /// Notes which documents a target's view shows, and no longer shows.
  mutating func pin(_ change: LocalViewChanges) {
    pins[change.targetID, default: PinnedKeys()].add(change.added)
    pins[change.targetID]?.remove(change.removed)
  }

  /// Forgets the documents of a target that is not listened to any more.
  mutating func unpin(_ target: TargetID) -> PinnedKeys { pins.removeValue(forKey: target) ?? PinnedKeys() }

  /// Completes the sets of shown keys, which collectors ask for.
  mutating func settle() { for id in pins.keys { pins[id]?.settle() } }

  mutating func settle(_ target: TargetID) { pins[target]?.settle() }

  // MARK: Limbo

  mutating func add(_ key: DocumentKey, lookedUpBy resolution: TargetID) {
    limbo[resolution, default: []].insert(key)
  }

  /// Forgets the documents of a resolution that is over.
  mutating func remove(_ resolution: TargetID) -> Set<DocumentKey> { limbo.removeValue(forKey: resolution) ?? [] }

  // MARK: The eager collector

  /// Has the eager collector look at documents in the next transaction.
  mutating func lost(_ keys: Set<DocumentKey>) { unreferenced.formUnion(keys) }

  /// Notes that the eager collector has looked at all documents that lost a reference.
  mutating func collected() { unreferenced = [] }
}
