// SPDX-License-Identifier: Apache-2.0

/// A backend's notification about commits. It contains the changed collections, but no documents.
package enum CommitUpdate: Hashable, Sendable {
  /// Any collection may have changed, so information about all collections must be refreshed. The first notification on
  /// a stream is always this one.
  case everything
  /// The collections that changed since the previous notification, without duplicates, sorted by path.
  case collections([CollectionNotice])
}

/// The numbers of documents that commits created, deleted and changed in one collection. A document that was written
/// several times counts several times.
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

  /// Whether the document count may have changed, because documents were created or deleted.
  package var changesCount: Bool { created > 0 || deleted > 0 }
}
