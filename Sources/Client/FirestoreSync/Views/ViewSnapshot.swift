// SPDX-License-Identifier: Apache-2.0
package import FirestoreClientState
import FirestoreLocal
package import FirestoreModel
import FirestoreProtocol
package import FirestoreQuery

/// A query and values derived from it, which are computed once. It is a class, so that copying a view or snapshot
/// changes only one reference count.
final class ViewedQuery: Sendable {
  let query: Query
  let target: Target
  let orderBy: [OrderBy]

  init(_ query: Query) {
    self.query = query
    target = query.target
    orderBy = query.orderBy
  }
}

/// The state of a query's result, and the changes since the previous snapshot.
package struct ViewSnapshot: Sendable {
  private let viewed: ViewedQuery
  package var query: Query { viewed.query }
  package var documents: DocumentSet
  /// The documents of the previous snapshot. Takes O(changes log documents) time if documents were only added.
  package var oldDocuments: DocumentSet {
    get { before ?? withoutAdded }
    set { before = newValue }
  }
  /// The previous set of documents; `nil` if documents were only added. Keeping the previous set in this case would
  /// force later changes to copy the parts that both sets share.
  private var before: DocumentSet?
  private var withoutAdded: DocumentSet {
    var documents = documents
    for change in changes { documents.remove(change.document.key) }
    return documents
  }

  /// The document in the previous snapshot.
  package func previous(_ key: DocumentKey) -> Document? { onlyAdds ? nil : before?[key] }

  /// Whether all changes are additions.
  package var onlyAdds: Bool { before == nil || listed == nil }

  /// The changes in this order: removed, added, modified, metadata. Each kind is in query order. Takes O(documents)
  /// time for a listener's first snapshot, whose list is created on demand.
  package var changes: [DocumentChange] {
    get { listed ?? documents.map { DocumentChange(kind: .added, document: $0) } }
    set { listed = newValue }
  }
  /// Records the addition of these documents, in query order, as the only changes.
  mutating func add(_ inserted: [Document]) {
    before = nil
    listed = inserted.map { DocumentChange(kind: .added, document: $0) }
  }

  /// Records the addition of all documents as the only changes.
  mutating func addAll() { listed = nil }

  /// The keys of the documents that have this kind of change.
  func keys(_ kind: DocumentChange.Kind) -> [DocumentKey] {
    guard let listed else { return kind == .added ? documents.keys : [] }
    return listed.lazy.filter { $0.kind == kind }.map(\.document.key)
  }

  /// The number of changes.
  package var changeCount: Int { listed?.count ?? documents.count }
  /// The changes; `nil` if every document was added, and nothing else changed.
  private var listed: [DocumentChange]?
  /// The documents that no longer match, in their current state. A deleted document is `missing`. Documents that still
  /// match but are beyond the limit are not included.
  package var departed: [DocumentKey: Document] = [:]
  package var mutatedKeys: DocumentKeySet
  package var isFromCache: Bool
  package var syncStateChanged: Bool
  package var excludesMetadataChanges: Bool
  package var hasCachedResults: Bool
  package var causes: [SnapshotCause]
  package var hasPendingWrites: Bool { !mutatedKeys.isEmpty }
  /// The version of the backend's last consistent snapshot that the view has applied.
  package var readTime: SnapshotVersion?

  package init(
    query: Query, documents: DocumentSet, oldDocuments: DocumentSet, changes: [DocumentChange],
    mutatedKeys: DocumentKeySet, isFromCache: Bool, syncStateChanged: Bool, excludesMetadataChanges: Bool = false,
    hasCachedResults: Bool, causes: [SnapshotCause], readTime: SnapshotVersion? = nil
  ) {
    self.init(
      ViewedQuery(query), documents: documents, oldDocuments: oldDocuments, changes: changes, mutatedKeys: mutatedKeys,
      isFromCache: isFromCache, syncStateChanged: syncStateChanged, hasCachedResults: hasCachedResults, causes: causes,
      readTime: readTime)
    self.excludesMetadataChanges = excludesMetadataChanges
  }

  init(
    _ viewed: ViewedQuery, documents: DocumentSet, oldDocuments: DocumentSet, changes: [DocumentChange],
    mutatedKeys: DocumentKeySet, isFromCache: Bool, syncStateChanged: Bool, hasCachedResults: Bool,
    causes: [SnapshotCause], readTime: SnapshotVersion?
  ) {
    self.viewed = viewed
    self.documents = documents
    before = oldDocuments
    listed = changes
    self.mutatedKeys = mutatedKeys
    self.isFromCache = isFromCache
    self.syncStateChanged = syncStateChanged
    excludesMetadataChanges = false
    self.hasCachedResults = hasCachedResults
    self.causes = causes
    self.readTime = readTime
  }

  /// A copy of this snapshot as a listener's first snapshot: every document counts as added.
  func asInitial() -> ViewSnapshot {
    var initial = self
    initial.oldDocuments = DocumentSet(comparing: query)
    initial.listed = nil
    initial.departed = [:]
    initial.syncStateChanged = true
    initial.excludesMetadataChanges = false
    return initial
  }

  /// A copy of the snapshot without the changes that concern only metadata.
  func excludingMetadataChanges() -> ViewSnapshot {
    var stripped = self
    if let listed, listed.contains(where: { $0.kind == .metadata }) {
      stripped.listed = listed.filter { $0.kind != .metadata }
    }
    stripped.excludesMetadataChanges = true
    return stripped
  }

  /// One snapshot that replaces `self` and `later` for a reader that has read neither.
  package func merged(with later: ViewSnapshot) -> ViewSnapshot {
    var merged = later
    merged.before = before
    if let listed {
      var changeSet = DocumentChangeSet()
      for change in listed { changeSet.track(change) }
      for change in later.changes { changeSet.track(change) }
      let changes = changeSet.changes(orderedBy: viewed.orderBy)
      merged.listed = changes
      if before == nil, !changes.allSatisfy({ $0.kind == .added }) { merged.before = withoutAdded }
    } else {
      // Every document is new for the reader, who has not seen the first snapshot yet.
      merged.listed = nil
    }
    merged.departed = departed.merging(later.departed) { $1 }
    merged.syncStateChanged = syncStateChanged || later.syncStateChanged
    merged.causes = SnapshotCause.merging(causes, later.causes)
    return merged
  }
}

extension View {
  /// The backend's changes to the target of a view, and the causes.
  struct Update: Sendable {
    var target: TargetChange?
    /// The version of the backend's snapshot; `nil` if the backend did not cause the update.
    var version: SnapshotVersion?
    /// Whether the backend has sent a position for the target, in this update or before.
    var hasPosition = false
    /// Whether the target was requested again because its documents did not match.
    var isPendingReset = false
    var causes: [SnapshotCause]

    init(causes: [SnapshotCause]) { self.causes = causes }

    init(_ target: TargetChange, causes: [SnapshotCause]) {
      self.init(causes: causes)
      self.target = target
      hasPosition = target.resumeToken != nil
    }

    /// - Parameter follows: whether the event's common position also applies to the target.
    init(_ event: RemoteEvent?, _ id: TargetID, _ causes: [SnapshotCause], follows: Bool) {
      self.init(causes: causes)
      guard let event else { return }
      target = event.targetChanges[id]
      version = event.version
      hasPosition = target.map { $0.resumeToken != nil } ?? follows
      isPendingReset = event.targetMismatches[id] != nil
    }
  }

  enum Result {
    case outcome(Outcome)
    /// A document left a result that had reached its limit. The caller must continue the step with the result of the
    /// whole query, and then apply it.
    case needsRefill(Step)
  }

  struct Outcome: Sendable {
    var snapshot: ViewSnapshot?
    var noLongerInLimbo: [DocumentKey] = []
    var newlyInLimbo: [DocumentKey] = []
  }
}
