// SPDX-License-Identifier: Apache-2.0
package import FirestoreClientState
package import FirestoreModel
package import FirestoreQuery

/// The state of a query's result, and its changes since the snapshot before.
package struct ViewSnapshot: Sendable {
  package var query: Query
  package var documents: DocumentSet
  package var oldDocuments: DocumentSet
  /// The changes: removed, added, modified, metadata; each kind in query order. O(documents) for a listener's first
  /// snapshot, which makes the list when it is asked for.
  package var changes: [DocumentChange] {
    get { listed ?? documents.map { DocumentChange(kind: .added, document: $0) } }
    set { listed = newValue }
  }
  /// Makes the changes those of a snapshot whose documents were all added.
  mutating func addAll() { listed = nil }

  /// The keys of the documents with a kind of change.
  func keys(_ kind: DocumentChange.Kind) -> [DocumentKey] {
    guard let listed else { return kind == .added ? documents.keys : [] }
    return listed.lazy.filter { $0.kind == kind }.map(\.document.key)
  }

  /// The number of changes.
  package var changeCount: Int { listed?.count ?? documents.count }
  /// The changes; `nil` if every document was added, and nothing else happened.
  private var listed: [DocumentChange]?
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
    listed = changes
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
    initial.listed = nil
    initial.departed = [:]
    initial.syncStateChanged = true
    initial.excludesMetadataChanges = false
    return initial
  }

  /// The snapshot without changes in which only metadata changed.
  func excludingMetadataChanges() -> ViewSnapshot {
    var stripped = self
    stripped.listed?.removeAll { $0.kind == .metadata }
    stripped.excludesMetadataChanges = true
    return stripped
  }

  /// One snapshot that takes a reader from before `self` to `later`.
  package func merged(with later: ViewSnapshot) -> ViewSnapshot {
    var merged = later
    merged.oldDocuments = oldDocuments
    if let listed {
      var changeSet = DocumentChangeSet()
      for change in listed { changeSet.track(change) }
      for change in later.changes { changeSet.track(change) }
      merged.listed = changeSet.changes(orderedBy: query)
    } else {
      // The reader has seen nothing yet: all that is there now is new.
      merged.listed = nil
    }
    merged.departed = departed.merging(later.departed) { $1 }
    merged.syncStateChanged = syncStateChanged || later.syncStateChanged
    merged.causes = SnapshotCause.merging(causes, later.causes)
    return merged
  }
}
