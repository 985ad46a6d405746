// SPDX-License-Identifier: Apache-2.0

/// The news that a backend tells of commits: the collections that they changed, and none of the documents.
package enum CommitNews: Hashable, Sendable {
  /// Any collection may have changed: what was known before has to be asked again. A stream of news begins with this.
  case everything
  /// The collections that changed since the news before, each once, sorted by path.
  case collections([CollectionNotice])
}

/// The numbers of documents of one collection that commits created, deleted and changed. A document that was written
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

  /// Whether documents came or went.
  package var changesCount: Bool { created > 0 || deleted > 0 }
}
