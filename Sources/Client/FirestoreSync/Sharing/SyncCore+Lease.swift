// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreLocal
package import FirestoreModel
import FirestoreProtocol
import FirestoreSQLite

/// A client's part among those that share its cache.
///
///     secondary ──lease taken, targets of all adopted──► primary ──lease lost or given up──► secondary
///
/// The primary has the streams: it listens for all and sends the writes of all. A secondary writes into the cache,
/// announces its targets, and shows the data that the primary stores.
struct SharedRole: Sendable {
  private(set) var isPrimary = false
  /// Whether a user looks at this client's screen; such a client is preferred as the primary.
  private(set) var isVisible = false
  /// The interest of this client's own listeners in their targets.
  private(set) var announced: [TargetID: TargetInterest] = [:]
  /// The targets that the other clients' listeners want; known to the primary.
  private var foreign: Set<TargetID> = []
  /// The last announcement of the primary for each target: whether its result is complete, as the backend said.
  private var told: [TargetID: Bool] = [:]
  /// Whether nothing has been announced, because no other client was there.
  private(set) var wasAlone = true

  /// Whether the listeners of another client want the backend's answer, as far as the primary knows.
  func isWantedElsewhere(_ target: TargetID) -> Bool { isPrimary && foreign.contains(target) }

  /// Whether the primary listens for others, as far as it knows.
  var listensForOthers: Bool { isPrimary && !foreign.isEmpty }

  mutating func setVisibility(_ isVisible: Bool) { self.isVisible = isVisible }

  // MARK: Becoming primary, and ceasing to be

  mutating func takeOver() {
    isPrimary = true
    told = [:]
  }

  mutating func resign() {
    isPrimary = false
    foreign = []
    told = [:]
  }

  /// Notes which targets the other clients' listeners want.
  mutating func adopted(_ foreign: Set<TargetID>) { self.foreign = foreign }

  // MARK: Announcements

  /// Notes that there is no other client any more: the next one to come gets every announcement.
  mutating func leftAlone() { wasAlone = true }

  /// Notes that the clients that came have got every announcement.
  mutating func metNewcomers() { wasAlone = false }

  /// Notes the interest of this client's listeners in a target.
  /// - Returns: whether it changed, and has to be announced.
  mutating func setInterest(_ interest: TargetInterest?, in target: TargetID) -> Bool {
    if announced[target] == interest { return false }
    announced[target] = interest
    return true
  }

  /// Whether a result has not been announced as it is: as complete, or as incomplete.
  func isNews(_ isComplete: Bool, of target: TargetID) -> Bool { told[target] != isComplete }

  /// Notes that results were announced.
  mutating func tell(_ results: [TargetID: Bool]) { told.merge(results) { $1 } }

  /// Notes that these results were announced, and no others.
  mutating func tellAnew(_ results: [TargetID: Bool]) { told = results }

  /// Forgets the announced result of a target that is not listened to any more.
  mutating func forgetResult(of target: TargetID) { told[target] = nil }

  /// Forgets all announced results: they are not complete while the backend is not there.
  mutating func forgetResults() { told = [:] }

  /// Forgets a target that the backend refused.
  mutating func forget(_ target: TargetID) {
    announced[target] = nil
    foreign.remove(target)
    told[target] = nil
  }
}

/// The lease, by which one of the clients that share a cache has the streams (SPEC-FORMAT §11).
extension SyncCore {
  /// Whether other clients may use the same cache.
  package var isShared: Bool { sharing != nil }

  /// Whether this client has the streams, or would have them if there were any: always, unless the cache is shared.
  package var isPrimary: Bool { sharing?.isPrimary ?? true }

  /// The number of clients that use the cache now, this one included, as far as is known.
  var clientCount: Int { store.clientCount }

  /// A descriptor that can be read when another client writes a notice, comes or goes; the caller closes it.
  func watchOthers() -> Int32? { store.watchOthers() }

  /// Has `wake` called when another client writes a notice or goes, if all run on one thread.
  /// - Returns: whether they do.
  func joinCompany(_ wake: @escaping @Sendable () -> Void) -> Bool { store.joinCompany(wake) }

  /// Whether the lease is free, so that there is no reason to wait for the next time.
  package func isLeaseOpen() -> Bool {
    guard sharing != nil, !isPrimary else { return false }
    // A lease that cannot be read now is looked at again in a few seconds.
    return (try? store.isLeaseOpen()) ?? false
  }

  /// Announces that this client is there, becomes primary if it may, and notices if it is not any more. A store that
  /// fails changes nothing.
  package mutating func refreshLease(at now: Timestamp) {
    guard let role = sharing, health.damage == nil else { return }
    output.append(.schedule(.leaseRefresh, after: Lease.refreshInterval))
    let state = SharedClientState(usesNetwork: isNetworkEnabled, isVisible: role.isVisible)
    do throws(StoreError) {
      let (lease, removedClients) = try store.refreshLease(state, wasPrimary: role.isPrimary, at: now)
      if role.isPrimary, lease.wasLost || !lease.isHeld { resign() }
      if lease.isHeld, !isPrimary { takeOver() }
      // The next client to come gets every announcement, also if no notice was heard meanwhile.
      if store.isAlone { sharing?.leftAlone() }
      if removedClients { adjustTargets() }
    } catch {
      if error.kind == .corrupt { return storeFailed(error, retrying: .probe) }
    }
    hear()
  }

  package mutating func setVisibility(_ isVisible: Bool) {
    sharing?.setVisibility(isVisible)
    leaseConditionsChanged()
  }

  /// Has the lease looked at at once, because a condition for it has changed.
  mutating func leaseConditionsChanged() {
    if sharing != nil { output.append(.schedule(.leaseRefresh, after: .zero)) }
  }

  // MARK: Taking over

  private mutating func takeOver() {
    if health.waiting.contains(where: { if case .takeOver = $0 { true } else { false } }) { return }
    do throws(StoreError) { try performTakeOver() } catch { keepTrying(.takeOver, error) }
  }

  /// Takes up the targets of all clients, with the stored tokens, and the writes of all; then opens the streams.
  mutating func performTakeOver() throws(StoreError) {
    guard sharing?.isPrimary == false else { return }
    // The data that the primary before has stored comes first.
    try dealWithNews()
    store.takeOver()
    do throws(StoreError) {
      try store.refreshActiveTargets()
      listens.trackLimbo()
      try synchroniseViews()
      for id in listens.targetsNeedingBackend.sorted() {
        guard let target = store.activeTarget(id)?.target else { continue }
        watch(try store.allocateTarget(target))
      }
      try adoptTargets()
      writes.appendNew(try store.pendingBatches())
    } catch {
      store.resign()
      watching.forgetAll()
      listens.stopTrackingLimbo()
      throw error
    }
    sharing?.takeOver()
    network.clear(.secondary)
    output.statusChanged()
    restartStreams()
    if !isNetworkEnabled { changeOnlineState { $0.set(.offline) } }
    announceOnlineState()
    startLimboResolutions()
    try askAgainToCancel()
  }

  // MARK: Giving up

  /// Closes the streams, which another client has from now on, and shows the stored data.
  mutating func resign() {
    guard sharing?.isPrimary == true else { return }
    sharing?.resign()
    store.resign()
    network.stop(by: .secondary)
    output.statusChanged()
    stopStreams()
    output.append(.cancel(.onlineTimeout))
    upkeep.stopCollecting()
    for id in listens.views.ids {
      for lookup in listens.stopLookups(of: id) { store.removeLimboReferences(lookup) }
      guard !listens.listeners.listens(to: id), let target = listens.views.target(of: id) else { continue }
      _ = listens.close(id)
      // A client that is not primary stores nothing.
      if listens.views.ids(of: target).isEmpty { try? store.releaseTarget(target) }
    }
    watching.forgetAll()
    do throws(StoreError) { try performSynchronisation() } catch { keepTrying(.synchronise, error) }
    listens.stopTrackingLimbo()
    // Announcements of the new primary were not heard as long as this client took itself for the primary.
    do throws(StoreError) { try adoptResults() } catch { keepTrying(.synchronise, error) }
  }

  /// Stops the streams, because the client is about to end; clients that share its cache are told nothing.
  package mutating func prepareToClose() {
    guard sharing != nil else { return disableNetwork() }
    sharing?.resign()
    store.resign()
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

  /// Announces the online state to the other clients, if this one has the streams.
  mutating func announceOnlineState() {
    guard isPrimary, sharing != nil, !store.isAlone else { return }
    do throws(StoreError) { try store.announce(network.onlineState) } catch {
      // The state of a former primary means nothing to the others; it notices when it looks at the lease.
      if error.kind != .leaseLost { keepTrying(.announce, error) }
    }
  }

  /// Takes over the online state of the client that has the streams.
  mutating func adoptOnlineState() throws(StoreError) {
    guard !isPrimary else { return }
    let state = try store.sharedOnlineState() ?? .unknown
    let wasOffline = network.onlineState == .offline
    changeOnlineState { $0.set(state) }
    if wasOffline, state != .offline { try adoptResults() }
  }

  /// Takes over which results the client with the streams has announced as complete.
  mutating func adoptResults() throws(StoreError) {
    guard !isPrimary, sharing != nil, network.onlineState != .offline else { return }
    var changes: [TargetID: TargetChange] = [:]
    for id in listens.views.ids {
      guard let target = listens.views.target(of: id), let isSynced = listens.views.read(id, \.isSynced) else {
        continue
      }
      let isCurrent = try store.isSharedTargetCurrent(target)
      if isCurrent != isSynced { changes[target] = TargetChange(isCurrent: isCurrent) }
    }
    if changes.isEmpty { return }
    let version = try store.lastRemoteSnapshotVersion()
    emit([:], event: RemoteEvent(version: version, targetChanges: changes), causes: version.map { [.server($0)] } ?? [])
  }

  /// Keeps an operation that the store could not perform to be tried again; nothing else is wrong meanwhile.
  mutating func keepTrying(_ operation: StoreHealth.Operation, _ error: StoreError) {
    switch error.kind {
    case .corrupt: storeFailed(error, retrying: .probe)
    case .leaseLost: resign()
    default:
      output.statusChanged()
      if health.fail(error, retrying: operation) { scheduleRetry() }
    }
  }
}
