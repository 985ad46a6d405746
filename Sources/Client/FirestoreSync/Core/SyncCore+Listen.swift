// SPDX-License-Identifier: Apache-2.0
package import FirestoreClientState
import FirestoreLocal
import FirestoreModel
import FirestoreProtocol
package import FirestoreQuery
import FirestoreSQLite

extension SyncCore {
  /// Adds a listener. Its first snapshot comes at once if SEMANTICS §3 says so; a query that cannot be opened fails it.
  package mutating func listen(
    _ id: ListenerID, to query: Query, options: ListenerOptions
  ) {
    statusRevision += 1
    if let damage = health.damage { return effects.append(.fail([id], damage)) }
    let view: ViewID
    if let existing = views.id(of: query) {
      view = existing
    } else {
      do throws(StoreError) {
        view = try open(query, announcing: options.source == .default ? .backend : .cache)
      } catch {
        // Waiting operations may be as damaged as the data that was read: they must not be sent any more.
        if error.kind == .corrupt { storeFailed(error, retrying: .probe) }
        effects.append(.fail([id], RPCStatus(error.code, "Cannot listen to \(query.path): \(error.message)")))
        return
      }
    }
    guard let entry = views[view] else { return }
    let snapshot = entry.view.snapshot(causes: [])
    let raised = listeners.add(id, to: view, options, showing: snapshot, online.state)
    if !raised.isEmpty { effects.append(.deliver(raised)) }
    announceInterest(in: entry.target)
    guard options.source == .default else { return }
    if isPrimary, !plan.wants(entry.target), let data = store.activeTarget(entry.target) { watch(data) }
  }

  /// Makes the view of a query from the cache.
  /// - Parameter interest: this client's interest in the target, announced to the other clients of the cache.
  mutating func open(_ query: Query, announcing interest: TargetInterest?) throws(StoreError) -> ViewID {
    let data = try store.allocateTarget(query.target, announcing: interest)
    do throws(StoreError) {
      var result = try store.execute(query, usingPreviousResults: true)
      var view = View(
        query: query, documents: result.takeMatches(), syncedKeys: result.remoteKeys,
        hasCachedResults: data.resumeToken != nil, readTime: data.snapshotVersion)
      view.tracksLimbo = store.isPrimary
      var isInSync = views.ids(of: data.id).contains { views.read($0, \.isSynced) ?? false }
      if !store.isPrimary, online.state != .offline, try store.isSharedTargetCurrent(data.id) { isInSync = true }
      let id = views.insert(view, target: data.id)
      pin(view, for: data.id)
      if isInSync, let outcome = views.update(id, { $0.becomeCurrent(token: data.resumeToken) }) {
        track(outcome, for: id)
        startLimboResolutions()
      }
      return id
    } catch {
      // The listen's own error is the one to report; a target that stays allocated is collected later.
      if views.ids(of: data.id).isEmpty {
        if interest != nil { try? store.announce(nil, in: data.id) }
        try? store.releaseTarget(data.id)
      }
      throw error
    }
  }

  /// Keeps the documents that a view shows from the start in the cache, like those that it shows later.
  private mutating func pin(_ view: View, for target: TargetID) {
    guard !view.documents.isEmpty else { return }
    let shown = LocalViewChanges(
      targetID: target, isFromCache: true, added: view.documents.keys, removed: [])
    // The pins are noted even if the store fails, and nothing has to be stored.
    try? store.notifyLocalViewChanges([shown])
  }

  /// Removes a listener, and with the last one of a target everything that only it needed. Does nothing for a listener
  /// that is already over.
  package mutating func stopListening(_ id: ListenerID) {
    guard let removal = listeners.remove(id), let target = views.target(of: removal.view) else { return }
    statusRevision += 1
    let isWantedElsewhere = isWantedElsewhere(target)
    if removal.wasLast, !isWantedElsewhere || views.ids(of: target).count > 1 {
      views.remove(removal.view)
      stopLimboResolutions(limbo.removeAll(for: removal.view))
      startLimboResolutions()
    }
    let others = views.ids(of: target)
    announceInterest(in: target)
    if others.isEmpty {
      // Losing the target's last position is harmless: the next listen starts from an older one.
      try? store.releaseTarget(target)
      sharing?.told[target] = nil
      unwatch(target)
    } else if !isWantedElsewhere, !others.contains(where: { listeners.needsBackend($0) }) {
      unwatch(target)
      letAge(others)
    }
  }

  /// Ends the wish for the backend's answer: the views show the cache's documents from now on, and none of them is
  /// looked up.
  mutating func letAge(_ ids: [ViewID]) {
    for id in ids { stopLimboResolutions(limbo.removeAll(for: id)) }
    startLimboResolutions()
    var raised: [SnapshotDelivery] = []
    for id in ids {
      guard let snapshot = views.update(id, { $0.becomeUnwatched() }) ?? nil else { continue }
      raised += listeners.show(snapshot, of: id, online.state)
    }
    if !raised.isEmpty { effects.append(.deliver(raised)) }
    announceResults(of: ids)
  }

  /// Ends all listeners of a target that the backend refused.
  mutating func refuse(_ target: TargetID, _ status: RPCStatus) {
    statusRevision += 1
    sharing?.announced[target] = nil
    sharing?.foreign.remove(target)
    sharing?.told[target] = nil
    if isPrimary, sharing != nil {
      do throws(StoreError) { try store.refuseTarget(target, status) } catch { keepTrying(.announce, error) }
    }
    // The error of the listeners matters more, as in `stopListening`.
    try? store.releaseTarget(target)
    let ended = views.ids(of: target)
    for view in ended {
      views.remove(view)
      let ids = listeners.removeAll(of: view)
      if !ids.isEmpty { effects.append(.fail(ids, status)) }
      stopLimboResolutions(limbo.removeAll(for: view))
    }
    startLimboResolutions()
  }

  // MARK: Limbo

  mutating func track(_ outcome: View.Outcome, for view: ViewID) {
    for key in outcome.noLongerInLimbo {
      if let lookup = limbo.remove(key, for: view) { stopLimboResolutions([lookup]) }
    }
    for key in outcome.newlyInLimbo { limbo.add(key, for: view) }
  }

  mutating func stopLimboResolutions(_ lookups: [TargetID]) {
    for id in lookups {
      store.removeLimboReferences(id)
      unwatch(id)
    }
  }

  mutating func startLimboResolutions() {
    guard isPrimary else { return }
    for (id, key) in limbo.start() {
      store.addLimboReference(key, id)
      let target = Query(path: key.path).target
      watch(TargetData(id: id, target: target, sequenceNumber: 0, purpose: .limboResolution))
    }
  }

  // MARK: What should be watched

  mutating func watch(_ data: TargetData) {
    guard !plan.wants(data.id) else { return }
    plan.want(data)
    if watchStream.isOpen {
      plan.requestAdd(data.id)
      effects.append(.cancel(.watchIdle))
      effects.append(.wake(.watch))
    } else {
      startWatchStreamIfNeeded()
    }
  }

  mutating func unwatch(_ id: TargetID) {
    guard plan.wants(id) else { return }
    plan.drop(id)
    reads.forget(id)
    if watchStream.isOpen {
      plan.requestRemove(id)
      if plan.hasRequests { effects.append(.wake(.watch)) }
      if plan.isEmpty { effects.append(.schedule(.watchIdle, after: Self.idleTimeout)) }
    } else if plan.isEmpty, canUseNetwork {
      // A client without a stream or anything to watch cannot tell whether the backend is there.
      changeOnlineState { $0.set(.unknown) }
    }
  }
}
