// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreProtocol

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
