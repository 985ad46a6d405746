// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreLocal
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
import FirestoreSQLite

extension SyncCore {
  /// Brings all views up to date with changed documents and delivers every snapshot that results (S1).
  /// - Parameters:
  ///   - changes: local views of documents.
  ///   - event: what the backend said, if it caused this.
  mutating func emit(
    _ changes: [DocumentKey: Document], event: RemoteEvent? = nil, causes: [SnapshotCause]
  ) {
    guard !listens.views.isEmpty else { return }
    var affected = listens.views.affected(by: changes, concernedOnly: event == nil)
    for target in event.map({ Set($0.targetChanges.keys).union($0.targetMismatches.keys) }) ?? [] {
      for id in listens.views.ids(of: target) where affected[id] == nil { affected[id] = [] }
    }
    let acknowledged = causes.lazy.compactMap { if case .acknowledged(let batch) = $0 { batch } else { nil } }.first
    var snapshots: [(ViewID, TargetID, ViewSnapshot)] = []
    var withoutRefill: (views: Set<ViewID>, error: StoreError?) = ([], nil)
    for id in affected.keys.sorted() {
      guard let target = listens.views.target(of: id),
        var step = listens.views.read(id, { $0.step(affected[id] ?? [], acknowledged: acknowledged) })
      else { continue }
      if step.needsRefill { refill(id, &step, &withoutRefill) }
      if let snapshot = take(step, in: id, target, event, causes) { snapshots.append((id, target, snapshot)) }
    }
    startLimboResolutions()
    deliver(snapshots)
    announceResults(of: affected.keys)
    if let error = withoutRefill.error { storeFailed(error, retrying: .refill(withoutRefill.views)) }
  }

  /// Continues a step over the whole query; without a working store the view stays short and is refilled later.
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

  /// Refills views whose limit the store could not refill before.
  mutating func refill(_ ids: Set<ViewID>) throws(StoreError) {
    var snapshots: [(ViewID, TargetID, ViewSnapshot)] = []
    for id in ids.sorted() {
      guard let entry = listens.views[id] else { continue }
      let result = try store.execute(entry.view.query, usingPreviousResults: false)
      let step = entry.view.step(result.matches)
      if let snapshot = take(step, in: id, entry.target, nil, [.cacheRecovered]) {
        snapshots.append((id, entry.target, snapshot))
      }
    }
    startLimboResolutions()
    deliver(snapshots)
  }

  private mutating func take(
    _ step: View.Step, in id: ViewID, _ target: TargetID, _ event: RemoteEvent?, _ causes: [SnapshotCause]
  ) -> ViewSnapshot? {
    let outcome = listens.update(id) { view in
      view.take(
        step, target: event?.targetChanges[target], at: event?.version,
        isPendingReset: event?.targetMismatches[target] != nil, causes: causes)
    }
    guard var outcome else { return nil }
    track(outcome, for: id)
    if let event {
      if event.filteredTargets.contains(target) { outcome.snapshot?.causes.append(.existenceFilter) }
      for key in outcome.noLongerInLimbo.prefix(8) where event.resolvedLimboDocuments.contains(key) {
        outcome.snapshot?.causes.append(.limboResolved(key))
      }
    }
    return outcome.snapshot
  }

  mutating func deliver(_ snapshots: [(ViewID, TargetID, ViewSnapshot)]) {
    guard !snapshots.isEmpty else { return }
    let raised = snapshots.flatMap { listens.show($0.2, of: $0.0, network.onlineState) }
    output.deliver(raised)
    let local = snapshots.compactMap { localChanges(in: $0.0, $0.1, $0.2) }
    // Only the order of later collections depends on it, and the snapshots are already right.
    if !local.isEmpty { try? store.notifyLocalViewChanges(local) }
  }

  /// - Returns: `nil` if the store has nothing to note.
  private func localChanges(in id: ViewID, _ target: TargetID, _ snapshot: ViewSnapshot) -> LocalViewChanges? {
    let (added, removed) = (snapshot.keys(.added), snapshot.keys(.removed))
    if snapshot.isFromCache, added.isEmpty, removed.isEmpty { return nil }
    var gone: Set<DocumentKey> = []
    if !removed.isEmpty {
      // The other view of a mirrored target may still show what left this one.
      let others = listens.views.ids(of: target).filter { $0 != id }.compactMap { listens.views.read($0, \.documents) }
      gone = Set(removed.filter { key in !others.contains { $0.contains(key) } })
    }
    return LocalViewChanges(
      targetID: target, isFromCache: snapshot.isFromCache,
      hidesDocuments: listens.views.read(id, \.hidesDocuments) ?? false, added: added, removed: gone)
  }

  /// Changes the online state, and with it all views and listeners in the same step (S7).
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
