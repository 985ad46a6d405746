// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreLocal
package import FirestoreModel
import FirestoreProtocol
import FirestoreSQLite

/// Who of those that share a cache has the streams (SPEC-FORMAT §11).
extension SyncCore {
  /// Whether other clients may use the same cache.
  package var isShared: Bool { sharing != nil }

  /// Whether this client has the streams, or would have them: always, unless the cache is shared.
  package var isPrimary: Bool { sharing?.isPrimary ?? true }

  /// How many clients use the cache now, this one included, as far as is known.
  var clientCount: Int { store.clientCount }

  /// A descriptor that can be read when another client says something, comes or goes; the caller closes it.
  func watchOthers() -> Int32? { store.watchOthers() }

  /// Whether the lease is to be had, so that there is no reason to wait for the next time.
  package func isLeaseOpen() -> Bool {
    guard sharing != nil, !isPrimary else { return false }
    // What cannot be read now is looked at again in a few seconds.
    return (try? store.isLeaseOpen()) ?? false
  }

  /// Says that this client is there, becomes primary where it may, and notices where it is not any more. A store that
  /// fails changes nothing.
  package mutating func refreshLease(at now: Timestamp) {
    guard let role = sharing, health.damage == nil else { return }
    effects.append(.schedule(.leaseRefresh, after: Lease.refreshInterval))
    let state = SharedClientState(usesNetwork: isNetworkEnabled, isVisible: role.isVisible)
    do throws(StoreError) {
      let (lease, removedClients) = try store.refreshLease(state, wasPrimary: role.isPrimary, at: now)
      if role.isPrimary, lease.wasLost || !lease.isHeld { resign() }
      if lease.isHeld, !isPrimary { takeOver() }
      // Who comes next is told everything, also if nothing was heard meanwhile.
      if store.isAlone { sharing?.wasAlone = true }
      if removedClients { adjustTargets() }
    } catch {
      if error.kind == .corrupt { return storeFailed(error, retrying: .probe) }
    }
    hear()
  }

  package mutating func setVisibility(_ isVisible: Bool) {
    sharing?.isVisible = isVisible
    leaseConditionsChanged()
  }

  /// Something that decides about the lease is different, and is looked at at once.
  mutating func leaseConditionsChanged() {
    if sharing != nil { effects.append(.schedule(.leaseRefresh, after: .zero)) }
  }

  // MARK: Taking over

  private mutating func takeOver() {
    if health.waiting.contains(where: { if case .takeOver = $0 { true } else { false } }) { return }
    do throws(StoreError) { try performTakeOver() } catch { keepTrying(.takeOver, error) }
  }

  /// Takes up what all listen to, with the tokens that are stored, and what all have written; then opens the streams.
  mutating func performTakeOver() throws(StoreError) {
    guard sharing?.isPrimary == false else { return }
    // What the client before has stored comes first.
    try dealWithNews()
    store.isPrimary = true
    do throws(StoreError) {
      try store.refreshActiveTargets()
      for id in views.ids { _ = views.update(id) { $0.tracksLimbo = true } }
      try synchroniseViews()
      let own = Set(views.ids.filter { listeners.needsBackend($0) }.compactMap { views.target(of: $0) })
      for id in own.sorted() {
        guard let target = store.activeTarget(id)?.target else { continue }
        watch(try store.allocateTarget(target))
      }
      try adoptTargets()
      for batch in try store.pendingBatches() where writes.isNew(batch.id) { writes.append(batch) }
    } catch {
      store.isPrimary = false
      plan = WatchPlan()
      for id in views.ids { _ = views.update(id) { $0.stopTrackingLimbo() } }
      throw error
    }
    sharing?.isPrimary = true
    sharing?.told = [:]
    network.clear(.secondary)
    statusRevision += 1
    restartStreams()
    if !isNetworkEnabled { changeOnlineState { $0.set(.offline) } }
    announceOnlineState()
    startLimboResolutions()
    try askAgainToCancel()
  }

  // MARK: Giving up

  /// Another client has the streams from now on: closes them, and shows what is stored.
  mutating func resign() {
    guard sharing?.isPrimary == true else { return }
    sharing?.isPrimary = false
    sharing?.foreign = []
    sharing?.told = [:]
    store.isPrimary = false
    network.stop(by: .secondary)
    statusRevision += 1
    stopStreams()
    effects.append(.cancel(.onlineTimeout))
    garbageCollection = nil
    for id in views.ids {
      for lookup in limbo.removeAll(for: id) { store.removeLimboReferences(lookup) }
      guard !listeners.listens(to: id), let target = views.target(of: id) else { continue }
      views.remove(id)
      // Nothing is stored by a client that is not primary.
      if views.ids(of: target).isEmpty { try? store.releaseTarget(target) }
    }
    for id in plan.targets.keys { reads.forget(id) }
    plan = WatchPlan()
    do throws(StoreError) { try performSynchronisation() } catch { keepTrying(.synchronise, error) }
    for id in views.ids { _ = views.update(id) { $0.stopTrackingLimbo() } }
    // What the new one has told already was not heard as long as this one took itself for it.
    do throws(StoreError) { try adoptResults() } catch { keepTrying(.synchronise, error) }
  }

  /// The client is about to end. Of those that share a cache, the others see nothing of it.
  package mutating func prepareToClose() {
    guard sharing != nil else { return disableNetwork() }
    sharing?.isPrimary = false
    store.isPrimary = false
    network.stop(by: .secondary)
    stopStreams()
  }

  /// Makes all views agree with the store.
  mutating func performSynchronisation() throws(StoreError) {
    try synchroniseViews()
    try adoptOnlineState()
    try adoptResults()
  }

  // MARK: The online state

  /// Says it to the others, if this client is the one that knows.
  mutating func announceOnlineState() {
    guard isPrimary, sharing != nil, !store.isAlone else { return }
    do throws(StoreError) { try store.announce(online.state) } catch {
      // What it was about to say is not so for the others; it notices when it looks at the lease.
      if error.kind != .leaseLost { keepTrying(.announce, error) }
    }
  }

  /// A client without streams is as online as the one that has them.
  mutating func adoptOnlineState() throws(StoreError) {
    guard !isPrimary else { return }
    let state = try store.sharedOnlineState() ?? .unknown
    let wasOffline = online.state == .offline
    changeOnlineState { $0.set(state) }
    if wasOffline, state != .offline { try adoptResults() }
  }

  /// A client without streams takes its results for the backend's where the one that has them says so.
  mutating func adoptResults() throws(StoreError) {
    guard !isPrimary, sharing != nil, online.state != .offline else { return }
    var changes: [TargetID: TargetChange] = [:]
    for id in views.ids {
      guard let target = views.target(of: id), let isSynced = views.read(id, \.isSynced) else { continue }
      let isCurrent = try store.isSharedTargetCurrent(target)
      if isCurrent != isSynced { changes[target] = TargetChange(isCurrent: isCurrent) }
    }
    if changes.isEmpty { return }
    let version = try store.lastRemoteSnapshotVersion()
    emit([:], event: RemoteEvent(version: version, targetChanges: changes), causes: version.map { [.server($0)] } ?? [])
  }

  /// An operation that the store could not perform is tried again; nothing else is wrong meanwhile.
  mutating func keepTrying(_ operation: StoreHealth.Operation, _ error: StoreError) {
    switch error.kind {
    case .corrupt: storeFailed(error, retrying: .probe)
    case .leaseLost: resign()
    default:
      statusRevision += 1
      if health.fail(error, retrying: operation) { scheduleRetry() }
    }
  }
}
