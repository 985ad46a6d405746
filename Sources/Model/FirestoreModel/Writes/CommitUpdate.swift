// SPDX-License-Identifier: Apache-2.0

/// A backend's notification about commits: the changed collections, without any documents.
package enum CommitUpdate: Hashable, Sendable {
  /// Any collection may have changed, so cached information must be refreshed. This is the first notification of a
  /// stream.
  case everything
  /// The collections that changed since the previous notification, without duplicates, sorted by path.
  case collections([CollectionNotice])
}

/// The numbers of documents in one collection that commits created, deleted and changed. A document that was written
/// several times counts each time.
package struct CollectionNotice: Hashable, Sendable {
  package var collection: ResourcePath
  package var created: Int
  package var deleted: Int
  package var changed: Int

  package init(_ collection: ResourcePath, created: Int = 0, deleted: Int = 0, changed: Int = 0) {
    self.collection = collection
    self.created = created
    self.deleted = deleted
    self.changed = changed
  }

  /// Whether documents were created or deleted.
  package var changesCount: Bool { created > 0 || deleted > 0 }
}
