// SPDX-License-Identifier: Apache-2.0
package import FirestoreClientState
package import FirestoreModel
package import FirestoreQuery

/// The state of a query's result, and its changes since the snapshot before.
package struct ViewSnapshot: Sendable {
  package var query: Query
  package var documents: DocumentSet
  package var oldDocuments: DocumentSet
  /// The changes: removed, added, modified, metadata; each kind in query order.
  package var changes: [DocumentChange]
  /// Documents that matched and do not any more, in their present state: missing if they were deleted. A document that
  /// only the limit keeps out is not among them.
  package var departed: [DocumentKey: Document] = [:]
  package var mutatedKeys: DocumentKeySet
  package var isFromCache: Bool
  package var syncStateChanged: Bool
  package var excludesMetadataChanges: Bool
  package var hasCachedResults: Bool
  package var causes: [SnapshotCause]
  package var hasPendingWrites: Bool { !mutatedKeys.isEmpty }
  /// The version of the backend's last consistent snapshot that the view reflects.
  package var readTime: SnapshotVersion?

  package init(
    query: Query, documents: DocumentSet, oldDocuments: DocumentSet, changes: [DocumentChange],
    mutatedKeys: DocumentKeySet, isFromCache: Bool, syncStateChanged: Bool, excludesMetadataChanges: Bool = false,
    hasCachedResults: Bool, causes: [SnapshotCause], readTime: SnapshotVersion? = nil
  ) {
    self.query = query
    self.documents = documents
    self.oldDocuments = oldDocuments
    self.changes = changes
    self.mutatedKeys = mutatedKeys
    self.isFromCache = isFromCache
    self.syncStateChanged = syncStateChanged
    self.excludesMetadataChanges = excludesMetadataChanges
    self.hasCachedResults = hasCachedResults
    self.causes = causes
    self.readTime = readTime
  }

  /// The snapshot as a listener's first: every document added.
  func asInitial() -> ViewSnapshot {
    var initial = self
    initial.oldDocuments = DocumentSet(comparing: query)
    initial.changes = documents.map { DocumentChange(kind: .added, document: $0) }
    initial.departed = [:]
    initial.syncStateChanged = true
    initial.excludesMetadataChanges = false
    return initial
  }

  /// The snapshot without changes in which only metadata changed.
  func excludingMetadataChanges() -> ViewSnapshot {
    var stripped = self
    stripped.changes.removeAll { $0.kind == .metadata }
    stripped.excludesMetadataChanges = true
    return stripped
  }

  /// One snapshot that takes a reader from before `self` to `later`.
  package func merged(with later: ViewSnapshot) -> ViewSnapshot {
    var changeSet = DocumentChangeSet()
    for change in changes { changeSet.track(change) }
    for change in later.changes { changeSet.track(change) }
    var merged = later
    merged.oldDocuments = oldDocuments
    merged.changes = changeSet.changes(orderedBy: query)
    merged.departed = departed.merging(later.departed) { $1 }
    merged.syncStateChanged = syncStateChanged || later.syncStateChanged
    merged.causes = SnapshotCause.merging(causes, later.causes)
    return merged
  }
}
