// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreLocal
package import FirestoreModel
import FirestoreProtocol
import FirestoreSQLite

/// The role of a client among the clients that share its cache.
///
///     secondary ──lease taken, targets of all adopted──► primary ──lease lost or released──► secondary
///
/// The primary client runs the streams: it listens and sends writes on behalf of all clients. A secondary client writes
/// into the cache, announces its targets, and shows the data that the primary client stores.
struct SharedRole: Sendable {
  private(set) var isPrimary = false
  /// Whether this client is in the foreground. The cache's clients prefer a client in the foreground as the primary
  /// client.
  private(set) var isVisible = false
  /// The interest that this client's listeners have in each target.
  private(set) var announced: [TargetID: TargetInterest] = [:]
  /// The targets of other clients' listeners. Only set for the primary client.
  private var foreign: Set<TargetID> = []
  /// The primary client's last announcement for each target: whether its result is complete according to the backend.
  private var told: [TargetID: Bool] = [:]
  /// Whether this client must announce everything to the next client that opens the cache, because it was the only
  /// client.
  private(set) var wasAlone = true

  /// Whether other clients' listeners need the backend's result. Always false if this client is not primary.
  func isWantedElsewhere(_ target: TargetID) -> Bool { isPrimary && foreign.contains(target) }

  /// Whether this client is primary and listens on behalf of other clients.
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

  mutating func adopted(_ foreign: Set<TargetID>) { self.foreign = foreign }

  // MARK: Announcements

  /// Records that all other clients have closed the cache. The next client that opens it must receive all
  /// announcements.
  mutating func leftAlone() { wasAlone = true }

  /// Records that all announcements were made to the new clients.
  mutating func metNewcomers() { wasAlone = false }

  /// Records the interest of this client's listeners in a target.
  /// - Returns: whether the interest changed and must be announced.
  mutating func setInterest(_ interest: TargetInterest?, in target: TargetID) -> Bool {
    if announced[target] == interest { return false }
    announced[target] = interest
    return true
  }

  /// Whether the completeness of a result differs from the last announcement.
  func isNews(_ isComplete: Bool, of target: TargetID) -> Bool { told[target] != isComplete }

  /// Records that the completeness of these results was announced.
  mutating func tell(_ results: [TargetID: Bool]) { told.merge(results) { $1 } }

  /// Replaces the record of all announced results.
  mutating func tellAnew(_ results: [TargetID: Bool]) { told = results }

  /// Removes the record of the announced result for a target without listeners.
  mutating func forgetResult(of target: TargetID) { told[target] = nil }

  /// Removes all records of announced results, because results are incomplete while the backend is unreachable.
  mutating func forgetResults() { told = [:] }

  /// Removes all records of a target that the backend rejected.
  mutating func forget(_ target: TargetID) {
    announced[target] = nil
    foreign.remove(target)
    told[target] = nil
  }
}

/// Managing the lease, which determines which client of a shared cache runs the streams (SPEC-FORMAT §11).
extension SyncCore {
  /// Whether other clients may use the same cache.
  package var isShared: Bool { sharing != nil }

  /// Whether this client is responsible for the streams. Always true if the cache is not shared.
  package var isPrimary: Bool { sharing?.isPrimary ?? true }

  /// The number of clients that use the cache at present, as far as this client knows. Includes this client.
  var clientCount: Int { store.clientCount }

  /// A descriptor that becomes readable when another client writes a notice, opens the cache or closes it. The caller
  /// closes the descriptor.
  func watchOthers() -> Int32? { store.watchOthers() }

  /// Registers `wake` if all clients of the cache run on one thread. `wake` is called when another client writes a
  /// notice or closes the cache.
  /// - Returns: whether all clients run on one thread.
  func joinCompany(_ wake: @escaping @Sendable () -> Void) -> Bool { store.joinCompany(wake) }

  /// Whether no client has the lease, so that this client can take it over without waiting.
  package func isLeaseOpen() -> Bool {
    guard sharing != nil, !isPrimary else { return false }
    // Errors are ignored, because the lease is read again in a few seconds.
    return (try? store.isLeaseOpen()) ?? false
  }

  /// Announces that this client is alive. Makes this client primary if possible, and detects whether it is no longer
  /// primary. Nothing changes if the store fails.
  package mutating func refreshLease(at now: Timestamp) {
    guard let role = sharing, health.damage == nil else { return }
    output.append(.schedule(.leaseRefresh, after: Lease.refreshInterval))
    let state = SharedClientState(usesNetwork: isNetworkEnabled, isVisible: role.isVisible)
    do throws(StoreError) {
      let (lease, removedClients) = try store.refreshLease(state, wasPrimary: role.isPrimary, at: now)
      if role.isPrimary, lease.wasLost || !lease.isHeld { resign() }
      if lease.isHeld, !isPrimary { takeOver() }
      // Records this even without a notice, so that the next client that arrives gets all announcements.
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

  /// Schedules an immediate refresh of the lease, because a condition for getting the lease has changed.
  mutating func leaseConditionsChanged() {
    if sharing != nil { output.append(.schedule(.leaseRefresh, after: .zero)) }
  }

  // MARK: Taking over

  private mutating func takeOver() {
    if health.waiting.contains(where: { if case .takeOver = $0 { true } else { false } }) { return }
    do throws(StoreError) { try performTakeOver() } catch { keepTrying(.takeOver, error) }
  }

  /// Takes over the targets of all clients, with their stored resume tokens, and the writes of all clients. Then opens
  /// the streams.
  mutating func performTakeOver() throws(StoreError) {
    guard sharing?.isPrimary == false else { return }
    // Processes the previous primary client's data first.
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

  /// Closes the streams, because another client now runs them. Then shows the data in the cache.
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
      // Errors are ignored, because only the primary client stores the released target.
      if listens.views.ids(of: target).isEmpty { try? store.releaseTarget(target) }
    }
    watching.forgetAll()
    do throws(StoreError) { try performSynchronisation() } catch { keepTrying(.synchronise, error) }
    listens.stopTrackingLimbo()
    // The new primary client's announcements were ignored while this client considered itself primary.
    do throws(StoreError) { try adoptResults() } catch { keepTrying(.synchronise, error) }
  }

  /// Stops the streams, because the client is about to close. Does not notify the other clients of the cache.
  package mutating func prepareToClose() {
    guard sharing != nil else { return disableNetwork() }
    sharing?.resign()
    store.resign()
    network.stop(by: .secondary)
    stopStreams()
  }

  /// Updates all views with the data in the store.
  mutating func performSynchronisation() throws(StoreError) {
    try synchroniseViews()
    try adoptOnlineState()
    try adoptResults()
  }

  // MARK: The online state

  /// Announces the online state to the other clients if this client runs the streams.
  mutating func announceOnlineState() {
    guard isPrimary, sharing != nil, !store.isAlone else { return }
    do throws(StoreError) { try store.announce(network.onlineState) } catch {
      // A lost lease is ignored here: other clients ignore a former primary client's state, and this client detects the
      // loss at the next refresh of the lease.
      if error.kind != .leaseLost { keepTrying(.announce, error) }
    }
  }

  /// Adopts the online state that the primary client has announced.
  mutating func adoptOnlineState() throws(StoreError) {
    guard !isPrimary else { return }
    let state = try store.sharedOnlineState() ?? .unknown
    let wasOffline = network.onlineState == .offline
    changeOnlineState { $0.set(state) }
    if wasOffline, state != .offline { try adoptResults() }
  }

  /// Adopts the results that the primary client has announced as complete.
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

  /// Queues a failed store operation for another attempt. All other work continues.
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
