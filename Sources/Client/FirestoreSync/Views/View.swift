// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreLocal
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery

/// The result of one query, which is updated incrementally. The cost of an update depends on the size of the change and
/// not on the size of the result.
struct View: Sendable {
  /// An acknowledged write whose result a document is waiting for, with the version of the commit.
  struct HeldBack: Sendable {
    var version: SnapshotVersion
    var batch: BatchID
  }

  /// A change of the view to a new set of documents, which has not been applied yet.
  struct Step: Sendable {
    fileprivate(set) var documents: DocumentSet
    fileprivate(set) var changes = DocumentChangeSet()
    fileprivate(set) var departed: [DocumentKey: Document] = [:]
    fileprivate(set) var mutatedKeys: DocumentKeySet
    /// The documents whose position may have changed. May contain duplicates.
    fileprivate(set) var touched: [DocumentKey] = []
    fileprivate(set) var heldBack: [DocumentKey: HeldBack]
    /// The acknowledged batches whose results the step shows.
    fileprivate(set) var shown: Set<BatchID> = []
    /// Whether a document left a result that had reached its limit, so that another stored document may take its place.
    fileprivate(set) var needsRefill = false
    /// Whether the step fills an empty view. If so, all documents are additions, and `changes` does not list them.
    fileprivate(set) var isFilling = false
    /// The added documents in query order, if there are no other changes. The view then already contains them.
    fileprivate(set) var inserted: [Document]?

    fileprivate mutating func hold(_ held: HeldBack?, _ key: DocumentKey) {
      if held != nil || !heldBack.isEmpty { heldBack[key] = held }
    }
  }

  private let viewed: ViewedQuery
  var query: Query { viewed.query }
  private var target: Target { viewed.target }
  private(set) var documents: DocumentSet
  /// The documents that, as of the last snapshot, the backend listed in the result (S2).
  private(set) var syncedKeys: Set<DocumentKey>
  private(set) var mutatedKeys: DocumentKeySet = []
  /// The documents with an acknowledged write whose result the view does not show until the backend's version arrives.
  private(set) var heldBack: [DocumentKey: HeldBack] = [:]
  /// The documents in `heldBack` whose version should have arrived by now.
  private var overdue: Set<DocumentKey> = []
  /// Documents that the view shows although the backend did not list them.
  private(set) var limboKeys: Set<DocumentKey> = []
  private(set) var hasCachedResults: Bool
  /// Whether the backend has reported the target as complete, and the client has not gone offline since then.
  private var isCurrent = false
  /// Whether the view is current and the backend listed every document that the view shows.
  private(set) var isSynced = false
  /// Whether `limboKeys` is outdated because it was not updated while the view was not current.
  private var isLimboStale = true
  /// Whether this view determines its own documents in limbo. If another client does this, this view becomes current
  /// when the other client's view is in sync.
  var tracksLimbo = true
  private var readTime: SnapshotVersion?

  /// Creates a view from the cached documents.
  /// - Parameters:
  ///   - result: the matching documents, without duplicates. May include documents beyond the limit.
  ///   - hints: the order hints of the documents' ids, if known.
  ///   - readTime: the read time of the cached result, if the target was ever in sync.
  init(
    query: Query, documents result: consuming [Document], hints: [KeyHint] = [], syncedKeys: Set<DocumentKey>,
    hasCachedResults: Bool, readTime: SnapshotVersion?
  ) {
    viewed = ViewedQuery(query)
    self.syncedKeys = syncedKeys
    self.hasCachedResults = hasCachedResults
    self.readTime = readTime
    documents = DocumentSet(comparing: query, distinct: result, hints: hints)
    while let limit = viewed.query.limit, documents.count > limit {
      guard let outside = viewed.query.limitType == .first ? documents.last : documents.first else { break }
      documents.remove(outside.key)
    }
    mutatedKeys = DocumentKeySet(documents.keysWithLocalMutations)
  }

  /// A snapshot of the current state, without changes.
  func snapshot(causes: [SnapshotCause]) -> ViewSnapshot {
    ViewSnapshot(
      viewed, documents: documents, oldDocuments: documents, changes: [], mutatedKeys: mutatedKeys,
      isFromCache: !isSynced, syncStateChanged: false, hasCachedResults: hasCachedResults, causes: causes,
      readTime: readTime)
  }

  // MARK: Documents

  /// Whether a document matches the query, ignoring the limit.
  func matches(_ document: Document) -> Bool { target.matches(document) }

  /// Whether a changed document that does not match may change the view.
  func isConcerned(byNotMatching key: DocumentKey) -> Bool {
    // Any change is an opportunity for a view that must check all of its documents for limbo.
    isLimboStale && isCurrent || !documents.isEmpty && documents.contains(key)
  }

  /// Computes how changed documents affect the view.
  /// - Parameters:
  ///   - changed: the changed documents, without duplicates.
  ///   - isMatch: whether the changed document, if there is only one, matches the query, ignoring the limit; `nil` if
  ///     unknown.
  ///   - previous: an earlier step that needed a refill. The new step continues it with the store's result for the
  ///     whole query.
  ///   - acknowledged: the write to these documents that the backend has just committed.
  func step(
    _ changed: [Document], isMatch: Bool? = nil, after previous: Step? = nil, acknowledged: BatchID? = nil
  ) -> Step {
    if previous == nil, let step = filling(with: changed) { return step }
    var step = previous ?? emptyStep
    step.needsRefill = false
    let edge = limitEdge(of: step.documents)
    for document in changed {
      apply(document, isMatch: isMatch ?? target.matches(document), to: &step, edge: edge, acknowledged)
    }
    while let limit = viewed.query.limit, step.documents.count > limit {
      guard let outside = viewed.query.limitType == .first ? step.documents.last : step.documents.first else { break }
      step.documents.remove(outside.key)
      step.mutatedKeys.remove(outside.key)
      step.hold(nil, outside.key)
      step.touched.append(outside.key)
      step.changes.track(DocumentChange(kind: .removed, document: outside))
    }
    return step
  }

  /// The minimum number of documents for which sorting all of them is faster than finding each one's position.
  private static let many = 32

  /// The step that fills an empty view with many documents.
  /// - Returns: `nil` if the view is not empty, or if the documents are few.
  private func filling(with changed: [Document]) -> Step? {
    guard changed.count >= Self.many, documents.isEmpty, heldBack.isEmpty, viewed.query.limit == nil else { return nil }
    var step = emptyStep
    let matching = changed.filter { target.matches($0) }
    step.isFilling = !matching.isEmpty
    step.documents = DocumentSet(comparing: query, distinct: matching)
    step.mutatedKeys = DocumentKeySet(step.documents.keysWithLocalMutations)
    return step
  }

  /// The step for many new documents, for example when a backend sends a large result in parts. The documents are
  /// inserted into the view in place. The previous set is not kept, because then every part of the set that receives
  /// documents would have to be copied.
  /// - Returns: `nil`, without changing the view, if other documents change as well.
  private mutating func inserting(_ changed: [Document], _ news: Update) -> Step? {
    guard changed.count >= Self.many, let listed = news.target?.added, listed.count > changed.count / 2,
      !documents.isEmpty, heldBack.isEmpty, viewed.query.limit == nil
    else { return nil }
    var new: [Document] = []
    new.reserveCapacity(changed.count)
    for document in changed {
      if document.hasPendingWrites { return nil }
      if target.matches(document) { new.append(document) } else if documents.contains(document.key) { return nil }
    }
    guard !new.isEmpty, let inserted = documents.insertAbsent(new) else { return nil }
    var step = emptyStep
    step.inserted = inserted
    step.touched = inserted.lazy.map(\.key).filter { !listed.contains($0) }
    return step
  }

  /// The step that shows the stored results of acknowledged writes. Used for views whose target is not watched, because
  /// the backend may never send its versions of the documents.
  /// - Parameter documents: the stored documents with the keys of `heldBack`.
  func releasing(_ documents: [Document]) -> Step {
    var step = emptyStep
    step.shown = Set(heldBack.values.map(\.batch))
    step.heldBack = [:]
    let edge = limitEdge(of: step.documents)
    for document in documents { apply(document, isMatch: target.matches(document), to: &step, edge: edge, nil) }
    return step
  }

  private var emptyStep: Step { Step(documents: documents, mutatedKeys: mutatedKeys, heldBack: heldBack) }

  /// Whether the limit may be full only because of pending writes. If so, the view shows documents that the backend has
  /// not listed for this query or would order differently. Documents beyond the limit may enter the result when these
  /// writes are rejected or the user changes. Until then, the view does not show these documents, so they are not in
  /// limbo.
  var hidesDocuments: Bool {
    guard let limit = viewed.query.limit, documents.count == limit else { return false }
    return !mutatedKeys.isEmpty || !documents.allSatisfy { syncedKeys.contains($0.key) }
  }

  /// The last document within a full limit.
  private func limitEdge(of documents: DocumentSet) -> Document? {
    guard let limit = viewed.query.limit, documents.count == limit else { return nil }
    return viewed.query.limitType == .first ? documents.last : documents.first
  }

  private func isOutside(_ document: Document, edge: Document) -> Bool {
    viewed.orderBy.compare(document, edge) == (viewed.query.limitType == .first ? .descending : .ascending)
  }

  private func apply(
    _ document: Document, isMatch: Bool, to step: inout Step, edge: Document?, _ acknowledged: BatchID?
  ) {
    let key = document.key
    let location = step.documents.location(of: key)
    let old = location.document
    let isCommitted = old?.hasLocalMutations == true && document.hasCommittedMutations
    // The document looks the same if a later write was undone after an earlier one was acknowledged. Without an
    // acknowledged batch, it is an undone write, which disappears immediately.
    let held = step.heldBack.isEmpty ? nil : step.heldBack[key]
    let batch = isCommitted ? acknowledged ?? held?.batch : nil
    let isHeldBack = batch != nil
    let isUndone = isCommitted && !isHeldBack
    step.hold(batch.flatMap { batch in document.version.map { HeldBack(version: $0, batch: batch) } }, key)
    if let held, !isHeldBack, !document.hasPendingWrites { step.shown.insert(held.batch) }
    guard isMatch else {
      guard let old else { return }
      step.changes.track(DocumentChange(kind: .removed, document: old))
      step.departed[key] = document
      step.documents.remove(key)
      step.mutatedKeys.remove(key)
      step.hold(nil, key)
      step.touched.append(key)
      if edge != nil { step.needsRefill = true }
      return
    }
    let hadPendingWrites = old != nil && mutatedKeys.contains(key)
    let hasPendingWrites =
      document.hasLocalMutations || (document.hasCommittedMutations && mutatedKeys.contains(key) && !isUndone)
    if let old {
      if old.data != document.data {
        // Does not show an acknowledgement alone, because the backend's version follows (SEMANTICS A9).
        if isHeldBack { return }
        step.changes.track(DocumentChange(kind: .modified, document: document))
        if let edge, isOutside(document, edge: edge) { step.needsRefill = true }
      } else if hadPendingWrites != hasPendingWrites {
        step.changes.track(DocumentChange(kind: .metadata, document: document))
      } else {
        return
      }
    } else {
      step.changes.track(DocumentChange(kind: .added, document: document))
    }
    step.documents.insert(document, at: location)
    step.touched.append(key)
    if hasPendingWrites { step.mutatedKeys.insert(key) } else { step.mutatedKeys.remove(key) }
  }

  // MARK: Sharing

  /// Applies a step that changes the view to the documents in the store. Also sets the keys that the backend listed,
  /// according to the store.
  mutating func synchronise(_ step: Step, syncedKeys keys: Set<DocumentKey>, causes: [SnapshotCause]) -> Outcome {
    syncedKeys = keys
    isLimboStale = true
    return take(step, Update(causes: causes))
  }

  /// Stops determining documents in limbo, because another client now runs the streams and determines whether the view
  /// is in sync.
  mutating func stopTrackingLimbo() {
    tracksLimbo = false
    isCurrent = isSynced
    limboKeys = []
    overdue = []
    isLimboStale = true
  }

  /// Whether the view must process the backend's next snapshot even if the snapshot changes neither the view's
  /// documents nor its target. This is so while the view is waiting for the results of acknowledged writes, which may
  /// turn out not to arrive. It is also so if the view must check all of its documents for limbo.
  var waitsForSnapshot: Bool { !heldBack.isEmpty || isLimboStale && isCurrent }

  // MARK: Taking a step

  /// Applies changed documents and the backend's event for the target.
  mutating func take(_ concern: ViewTable.Concern, _ news: Update, acknowledged: BatchID?) -> Result {
    if let step = inserting(concern.documents, news) { return .outcome(take(step, news)) }
    let step = step(concern.documents, isMatch: concern.isMatch, acknowledged: acknowledged)
    return step.needsRefill ? .needsRefill(step) : .outcome(take(step, news))
  }

  /// Applies the step and the backend's event for the target.
  mutating func take(_ step: Step, _ news: Update) -> Outcome {
    let (target, version, isPendingReset, causes) = (news.target, news.version, news.isPendingReset, news.causes)
    let old = documents
    documents = step.documents
    mutatedKeys = step.mutatedKeys
    heldBack = step.heldBack
    if !overdue.isEmpty { overdue.formIntersection(heldBack.keys) }
    let wasCurrent = isCurrent
    if let target {
      if syncedKeys.isEmpty { syncedKeys = target.added } else { syncedKeys.formUnion(target.added) }
      syncedKeys.subtract(target.removed)
      isCurrent = target.isCurrent
    }
    if let version { readTime = version }

    var outcome = Outcome()
    if isCurrent, !isPendingReset, tracksLimbo {
      let all = isLimboStale || !wasCurrent
      let unlisted = unlisted(at: version)
      overdue.formUnion(unlisted)
      if all {
        let synced = syncedKeys
        updateLimbo(limboKeys, &outcome)
        updateLimbo(documents.keys { !synced.contains($0.key) }, &outcome)
      } else {
        updateLimbo(step.isFilling ? documents.keys : step.touched, &outcome)
        // Newly listed documents can only leave limbo.
        if let target, !limboKeys.isEmpty { updateLimbo(target.added, &outcome) }
        if let target { updateLimbo(target.removed, &outcome) }
        updateLimbo(unlisted, &outcome)
      }
      isLimboStale = false
      outcome.newlyInLimbo.sort()
      outcome.noLongerInLimbo.sort()
    } else {
      isLimboStale = true
    }
    let wasSynced = isSynced
    isSynced = limboKeys.isEmpty && isCurrent && !isPendingReset

    let hasChanges = !step.changes.isEmpty || step.isFilling || step.inserted != nil
    guard hasChanges || wasSynced != isSynced else { return outcome }
    hasCachedResults = news.hasPosition
    // The acknowledgement is the first cause, because it precedes the document with the write's result.
    let results = step.shown.sorted().map { SnapshotCause.acknowledged($0) }
    var snapshot = snapshot(causes: results.isEmpty ? causes : results.filter { !causes.contains($0) } + causes)
    if let inserted = step.inserted {
      snapshot.add(inserted)
    } else {
      snapshot.oldDocuments = old
      if step.isFilling {
        snapshot.addAll()
      } else {
        snapshot.changes = step.changes.changes(orderedBy: viewed.orderBy)
      }
    }
    snapshot.departed = step.departed
    snapshot.syncStateChanged = wasSynced != isSynced
    outcome.snapshot = snapshot
    return outcome
  }

  /// Marks the view as not current, because the client went offline.
  mutating func wentOffline(causes: [SnapshotCause]) -> ViewSnapshot? {
    guard isCurrent else { return nil }
    isCurrent = false
    return take(emptyStep, Update(causes: causes)).snapshot
  }

  /// Marks the view as not current, because no client watches its target any more. After that, none of the view's
  /// documents are in limbo.
  mutating func becomeUnwatched() -> ViewSnapshot? {
    limboKeys = []
    overdue = []
    return wentOffline(causes: [])
  }

  /// Marks a new view as current, because the other view of its target is current.
  mutating func becomeCurrent(token: ResumeToken?) -> Outcome {
    take(emptyStep, Update(TargetChange(resumeToken: token, isCurrent: true), causes: []))
  }

  /// - Parameter keys: the documents whose position may have changed.
  private mutating func updateLimbo(_ keys: some Sequence<DocumentKey>, _ outcome: inout Outcome) {
    for key in keys {
      let isInLimbo = shouldBeInLimbo(key)
      guard isInLimbo != (!limboKeys.isEmpty && limboKeys.contains(key)) else { continue }
      if isInLimbo {
        limboKeys.insert(key)
        outcome.newlyInLimbo.append(key)
      } else {
        limboKeys.remove(key)
        outcome.noLongerInLimbo.append(key)
      }
    }
  }

  /// - Returns: the documents whose write was committed before this snapshot of the backend, but which the backend does
  ///   not list. Their versions will not arrive unless the client looks up the documents.
  private func unlisted(at version: SnapshotVersion?) -> [DocumentKey] {
    guard let version, !heldBack.isEmpty else { return [] }
    return heldBack.lazy.filter { $0.value.version <= version && !syncedKeys.contains($0.key) }.map(\.key)
  }

  /// Whether the document must be looked up. A local write may be the reason why the backend does not list the
  /// document. In this case, the document is not looked up while the backend's version may still arrive.
  private func shouldBeInLimbo(_ key: DocumentKey) -> Bool {
    guard !syncedKeys.contains(key), let document = documents[key] else { return false }
    return !document.hasLocalMutations || overdue.contains(key)
  }
}
