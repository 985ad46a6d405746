// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreLocal
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
import FirestoreSQLite

extension SyncCore {
  /// The snapshots that one transition raises for listeners, and the changes that the store must record.
  struct Emission {
    fileprivate var raised: [SnapshotDelivery] = []
    /// The changes that the store must record for each view's snapshot.
    fileprivate var notes: [(view: ViewID, changes: LocalViewChanges)] = []
  }

  /// Updates all views with changed documents and delivers all resulting snapshots (S1).
  /// - Parameters:
  ///   - changes: the local views of the changed documents.
  ///   - event: the backend's event that caused the changes; `nil` for another cause.
  mutating func emit(
    _ changes: [DocumentKey: Document], event: RemoteEvent? = nil, causes: [SnapshotCause]
  ) {
    guard !listens.views.isEmpty else { return }
    var concerns = listens.views.concerns(of: changes)
    if let event { add(event, to: &concerns) }
    let acknowledged = causes.lazy.compactMap { if case .acknowledged(let batch) = $0 { batch } else { nil } }.first
    var emission = Emission()
    emission.raised.reserveCapacity(concerns.count)
    var withoutRefill: (views: Set<ViewID>, error: StoreError?) = ([], nil)
    for concern in concerns {
      let id = concern.id
      guard let target = listens.views.target(of: id) else { continue }
      let news = View.Update(
        event, target, causes, follows: event?.position.token != nil && store.followsStream(target))
      // Changes the view in place, because copying a small view takes longer than changing it.
      let result = listens.update(id) { view in view.take(concern, news, acknowledged: acknowledged) }
      switch result {
      case .outcome(let outcome): show(outcome, in: id, target, event, &emission)
      case .needsRefill(var step):
        refill(id, &step, &withoutRefill)
        take(step, in: id, target, news, event, &emission)
      case nil: break
      }
    }
    deliver(emission)
    announceResults(of: concerns.lazy.map(\.id))
    if acknowledged != nil { scheduleUnwatchedResults() }
    if let error = withoutRefill.error { storeFailed(error, retrying: .refill(withoutRefill.views)) }
  }

  /// Adds the views of all targets in the event, even if their documents have not changed.
  private func add(_ event: RemoteEvent, to concerns: inout [ViewTable.Concern]) {
    var ids = Set(event.targetChanges.keys).union(event.targetMismatches.keys).flatMap { listens.views.ids(of: $0) }
    if event.position.token != nil {
      for id in listens.views.waiting {
        if let target = listens.views.target(of: id), store.followsStream(target) { ids.append(id) }
      }
    }
    let rest = Set(ids).subtracting(concerns.lazy.map(\.id))
    if rest.isEmpty { return }
    concerns += rest.map { ViewTable.Concern(id: $0, documents: []) }
    concerns.sort { $0.id < $1.id }
  }

  /// Completes an update with the result of the whole query. If the store fails, the view shows too few documents until
  /// a later refill.
  private mutating func refill(
    _ id: ViewID, _ step: inout View.Step, _ failed: inout (views: Set<ViewID>, error: StoreError?)
  ) {
    guard let view = listens.views[id]?.view else { return }
    do throws(StoreError) {
      let result = try store.execute(view.query, usingPreviousResults: false)
      step = view.step(result.matches, after: step)
    } catch {
      failed.views.insert(id)
      failed.error = error
    }
  }

  /// Refills views up to their limits after an earlier refill failed because of the store.
  mutating func refill(_ ids: Set<ViewID>) throws(StoreError) {
    var emission = Emission()
    for id in ids.sorted() {
      guard let entry = listens.views[id] else { continue }
      let result = try store.execute(entry.view.query, usingPreviousResults: false)
      let step = entry.view.step(result.matches)
      take(step, in: id, entry.target, View.Update(causes: [.cacheRecovered]), nil, &emission)
    }
    deliver(emission)
  }

  private mutating func take(
    _ step: View.Step, in id: ViewID, _ target: TargetID, _ news: View.Update, _ event: RemoteEvent?,
    _ emission: inout Emission
  ) {
    guard let outcome = listens.update(id, { $0.take(step, news) }) else { return }
    show(outcome, in: id, target, event, &emission)
  }

  /// Shows a view's snapshot to the view's listeners, if there is a snapshot.
  private mutating func show(
    _ outcome: consuming View.Outcome, in id: ViewID, _ target: TargetID, _ event: RemoteEvent?,
    _ emission: inout Emission
  ) {
    track(outcome, for: id)
    guard var snapshot = outcome.snapshot.take() else { return }
    if let event {
      if event.filteredTargets.contains(target) { snapshot.causes.append(.existenceFilter) }
      for key in outcome.noLongerInLimbo.prefix(8) where event.resolvedLimboDocuments.contains(key) {
        snapshot.causes.append(.limboResolved(key))
      }
    }
    show(snapshot, of: id, target, &emission)
  }

  /// Shows a snapshot to the view's listeners, and adds the changes that the store must record.
  mutating func show(_ snapshot: ViewSnapshot, of id: ViewID, _ target: TargetID, _ emission: inout Emission) {
    listens.show(snapshot, of: id, network.onlineState, &emission.raised)
    let (added, removed) = (snapshot.keys(.added), snapshot.keys(.removed))
    if snapshot.isFromCache, added.isEmpty, removed.isEmpty { return }
    let changes = LocalViewChanges(
      targetID: target, isFromCache: snapshot.isFromCache,
      hidesDocuments: listens.views.read(id, \.hidesDocuments) ?? false, added: added, removed: Set(removed))
    emission.notes.append((id, changes))
  }

  mutating func deliver(_ emission: Emission) {
    startLimboResolutions()
    output.deliver(emission.raised)
    if emission.notes.isEmpty { return }
    let notes = emission.notes.map { note in
      var changes = note.changes
      if !changes.removed.isEmpty { leaveOutShown(by: note.view, &changes) }
      return changes
    }
    // Errors are ignored, because they only affect the order of later collections. The snapshots are correct.
    try? store.notifyLocalViewChanges(notes)
  }

  /// Ignores documents that were removed from one view of a mirrored target, if the target's other view still shows
  /// them.
  private func leaveOutShown(by view: ViewID, _ changes: inout LocalViewChanges) {
    for other in listens.views.ids(of: changes.targetID) where other != view {
      guard let documents = listens.views.read(other, \.documents) else { continue }
      changes.removed = changes.removed.filter { !documents.contains($0) }
    }
  }

  /// Changes the online state, and updates all views and listeners in the same step (S7).
  mutating func changeOnlineState(
    causes: [SnapshotCause] = [.offline],
    _ change: (inout OnlineStateTracker) -> OnlineStateTracker.TimerChange
  ) {
    let old = network.onlineState
    output.append(network.changeOnlineState(change))
    let state = network.onlineState
    guard state != old else { return }
    output.statusChanged()
    if state == .offline { sharing?.forgetResults() }
    announceOnlineState()
    output.deliver(listens.onlineStateChanged(to: state, causes: causes))
  }
}

/// Handling of acknowledged writes in unwatched views. A view normally shows an acknowledged write when the backend's
/// version of the document arrives. If a view has only cache listeners, this version may never arrive. In that case,
/// the view shows the committed document after a delay.
extension SyncCore {
  /// The delay before the committed document is shown. During the delay, the backend's version may still arrive for
  /// another target.
  private static let pauseBeforeUnwatchedResults = Duration.seconds(1)

  /// Whether a view is waiting for the results of acknowledged writes although no client watches its target. Checked
  /// after each acknowledgement, so it takes constant time.
  private func isUnwatched(_ id: ViewID) -> Bool {
    guard let target = listens.views.target(of: id), !listens.needsBackend(target), !isWantedElsewhere(target) else {
      return false
    }
    return listens.views.read(id) { !$0.heldBack.isEmpty } == true
  }

  mutating func scheduleUnwatchedResults() {
    guard !upkeep.areResultsScheduled, listens.views.waiting.contains(where: { isUnwatched($0) }) else { return }
    upkeep.areResultsScheduled = true
    output.append(.schedule(.unwatchedResults, after: Self.pauseBeforeUnwatchedResults))
  }

  mutating func showUnwatchedResults() {
    upkeep.areResultsScheduled = false
    let ids = listens.views.waiting.filter { isUnwatched($0) }.sorted()
    var emission = Emission()
    for id in ids {
      guard let entry = listens.views[id] else { continue }
      do throws(StoreError) {
        let documents = try entry.view.heldBack.keys.sorted().map { key throws(StoreError) in
          try store.document(key) ?? Document(key: key, version: nil, state: .missing)
        }
        var step = entry.view.releasing(documents)
        if step.needsRefill {
          step = entry.view.step(try store.execute(entry.view.query, usingPreviousResults: false).matches, after: step)
        }
        take(step, in: id, entry.target, View.Update(causes: []), nil, &emission)
      } catch {
        // The documents remain pending until the store can be read again.
        scheduleUnwatchedResults()
      }
    }
    deliver(emission)
    announceResults(of: ids)
  }
}
