// SPDX-License-Identifier: Apache-2.0
package import FirestoreClientState
import FirestoreLocal
import FirestoreModel
import FirestoreProtocol
package import FirestoreQuery
import FirestoreSQLite

extension SyncCore {
  /// Adds a listener. The first snapshot is delivered immediately if SEMANTICS §3 requires this. If the query cannot be
  /// opened, the listener fails.
  package mutating func listen(
    _ id: ListenerID, to query: Query, options: ListenerOptions
  ) {
    output.statusChanged()
    if let damage = health.damage { return output.append(.fail([id], damage)) }
    let view: ViewID
    if let existing = listens.views.id(of: query) {
      view = existing
    } else {
      do throws(StoreError) {
        view = try open(query, announcing: options.source == .default ? .backend : .cache)
      } catch {
        // Damage also affects the pending writes, so they must not be sent any more.
        if error.kind == .corrupt { storeFailed(error, retrying: .probe) }
        output.append(.fail([id], RPCStatus(error.code, "Cannot listen to \(query.path): \(error.message)")))
        return
      }
    }
    guard let entry = listens.views[view] else { return }
    let snapshot = entry.view.snapshot(causes: [])
    let raised = listens.add(id, to: view, options, showing: snapshot, network.onlineState)
    output.deliver(raised)
    announceInterest(in: entry.target)
    guard options.source == .default else { return }
    if isPrimary, !watching.plan.wants(entry.target), let data = store.activeTarget(entry.target) { watch(data) }
  }

  /// Opens the view of a query from the cache.
  /// - Parameter interest: this client's interest in the target, which is announced to the other clients of the cache.
  mutating func open(_ query: Query, announcing interest: TargetInterest?) throws(StoreError) -> ViewID {
    let data = try store.allocateTarget(query.target, announcing: interest)
    do throws(StoreError) {
      var result = try store.execute(query, usingPreviousResults: true)
      var view = View(
        query: query, documents: result.takeMatches(), hints: result.hints, syncedKeys: result.remoteKeys,
        hasCachedResults: data.resumeToken != nil, readTime: data.snapshotVersion)
      view.tracksLimbo = store.isPrimary
      var isInSync = listens.views.ids(of: data.id).contains { listens.views.read($0, \.isSynced) ?? false }
      if !store.isPrimary, network.onlineState != .offline, try store.isSharedTargetCurrent(data.id) { isInSync = true }
      let id = listens.open(view, target: data.id)
      pin(view, for: data.id)
      if !isInSync {
        watching.expectPosition(of: data.id)
      } else if let outcome = listens.update(id, { $0.becomeCurrent(token: data.resumeToken) }) {
        track(outcome, for: id)
        startLimboResolutions()
      }
      return id
    } catch {
      // Errors of the cleanup are ignored, because the original error is thrown. A target that remains allocated is
      // collected later.
      if listens.views.ids(of: data.id).isEmpty {
        if interest != nil { try? store.announce(nil, in: data.id) }
        try? store.releaseTarget(data.id)
      }
      throw error
    }
  }

  /// Protects the initial documents of a view from garbage collection. Later documents of the view are protected when
  /// it shows them.
  private mutating func pin(_ view: View, for target: TargetID) {
    guard !view.documents.isEmpty else { return }
    let shown = LocalViewChanges(
      targetID: target, isFromCache: true, added: view.documents.keys, removed: [])
    // Errors are ignored, because the store protects the documents even if it fails.
    try? store.notifyLocalViewChanges([shown])
  }

  /// Removes a listener. If it was the target's last listener, also removes everything that only this listener needed.
  /// Does nothing if the listener has already ended.
  package mutating func stopListening(_ id: ListenerID) {
    guard let removal = listens.remove(id), let target = listens.views.target(of: removal.view) else { return }
    output.statusChanged()
    let isWantedElsewhere = isWantedElsewhere(target)
    if removal.wasLast, !isWantedElsewhere || listens.views.ids(of: target).count > 1 {
      stopLimboResolutions(listens.close(removal.view).lookups)
      startLimboResolutions()
    }
    let others = listens.views.ids(of: target)
    announceInterest(in: target)
    if others.isEmpty {
      // Errors are ignored: without the target's last position, the next listen resumes from an older one.
      try? store.releaseTarget(target)
      sharing?.forgetResult(of: target)
      unwatch(target)
    } else if !isWantedElsewhere, !listens.needsBackend(target) {
      unwatch(target)
      letAge(others)
    }
  }

  /// Marks a target's views as unwatched. From now on, they show the documents in the cache, and the client does not
  /// look up documents in limbo.
  mutating func letAge(_ ids: [ViewID]) {
    for id in ids { stopLimboResolutions(listens.stopLookups(of: id)) }
    startLimboResolutions()
    output.deliver(listens.becomeUnwatched(ids, network.onlineState))
    announceResults(of: ids)
    scheduleUnwatchedResults()
  }

  /// Ends all listeners of a target that the backend rejected.
  mutating func refuse(_ target: TargetID, _ status: RPCStatus) {
    output.statusChanged()
    sharing?.forget(target)
    if isPrimary, sharing != nil {
      do throws(StoreError) { try store.refuseTarget(target, status) } catch { keepTrying(.announce, error) }
    }
    // Errors are ignored, as in `stopListening`. The listeners receive the rejection.
    try? store.releaseTarget(target)
    let ended = listens.views.ids(of: target)
    for view in ended {
      let (ids, lookups) = listens.close(view)
      if !ids.isEmpty { output.append(.fail(ids, status)) }
      stopLimboResolutions(lookups)
    }
    startLimboResolutions()
  }

  // MARK: Limbo

  mutating func track(_ outcome: View.Outcome, for view: ViewID) {
    stopLimboResolutions(listens.track(outcome, of: view))
  }

  mutating func stopLimboResolutions(_ lookups: [TargetID]) {
    for id in lookups {
      store.removeLimboReferences(id)
      unwatch(id)
    }
  }

  mutating func startLimboResolutions() {
    guard isPrimary else { return }
    for (id, key) in listens.startLookups() {
      store.addLimboReference(key, id)
      let target = Query(path: key.path).target
      watch(TargetData(id: id, target: target, sequenceNumber: 0, purpose: .limboResolution))
    }
  }

  // MARK: What should be watched

  mutating func watch(_ data: TargetData) {
    guard !watching.plan.wants(data.id) else { return }
    output.append(watching.want(data))
    startWatchStreamIfNeeded()
  }

  mutating func unwatch(_ id: TargetID) {
    guard watching.plan.wants(id) else { return }
    output.append(watching.drop(id))
    if !watchStream.isOpen, watching.plan.isEmpty, network.isUsed {
      // The state is unknown, because a client without a stream and targets cannot know whether the backend is
      // reachable.
      changeOnlineState { $0.set(.unknown) }
    }
  }
}
