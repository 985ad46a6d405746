// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreLocal
package import FirestoreModel
package import FirestoreProtocol
import FirestoreQuery
import FirestoreSQLite

extension SyncCore {
  /// The time after which an idle stream is closed (SDK stream: IDLE_TIMEOUT_MS).
  static let idleTimeout = Duration.seconds(60)

  mutating func startWatchStreamIfNeeded() {
    guard canUseNetwork, !watchStream.isStarted, !plan.isEmpty else { return }
    resetWatchState()
    let delay = watchStream.start(using: &random)
    statusRevision += 1
    effects.append(.open(.watch, watchStream.epoch, after: delay))
    changeOnlineState { $0.watchStreamStarted() }
  }

  /// Forgets the messages of the last stream, which mean nothing on the next.
  mutating func resetWatchState() {
    aggregator = WatchChangeAggregator(database: configuration.database)
    plan.streamClosed()
  }

  package mutating func watchStreamOpened(in epoch: StreamEpoch) {
    guard watchStream.opened(epoch) else { return }
    statusRevision += 1
    plan.streamOpened()
    if plan.hasRequests {
      effects.append(.wake(.watch))
    } else {
      effects.append(.schedule(.watchIdle, after: Self.idleTimeout))
    }
  }

  /// Takes the next request for the stream. The confirmation is owed from here on (S5).
  package mutating func takeWatchRequest(in epoch: StreamEpoch) -> WatchRequest? {
    guard epoch == watchStream.epoch, watchStream.isOpen, let next = plan.takeNext() else { return nil }
    switch next {
    case .remove(let id):
      aggregator.requestHandedOut(id)
      return .remove(id)
    case .add(let data, let startsOver):
      var target = WatchTarget(id: data.id, target: data.target, purpose: data.purpose)
      if !startsOver {
        target.resume = data.resumeToken.map { .token($0) } ?? data.snapshotVersion.map { .readTime($0) }
      }
      if target.resume != nil {
        target.expectedCount = watched(data, views: views, limbo: limbo).count
      }
      aggregator.requestHandedOut(data.id, isWhole: target.resume == nil)
      reads.requested(data.id, resumingWith: target.expectedCount)
      return .add(target)
    }
  }

  /// Takes messages. Those of an old epoch are dropped (S8), also when the epoch ends among them.
  package mutating func receive(_ changes: [WatchChange], in epoch: StreamEpoch) {
    for change in changes { receive(change, in: epoch) }
  }

  private mutating func receive(_ change: WatchChange, in epoch: StreamEpoch) {
    guard epoch == watchStream.epoch, watchStream.isOpen else { return }
    watchStream.succeeded()
    network.forgetFailure()
    if online.state != .online { changeOnlineState { $0.set(.online) } }
    if case .removed(let ids, let cause?) = change {
      for id in ids { targetEnded(id, cause) }
      return
    }
    do throws(RPCStatus) {
      try withAggregator { aggregator, targets throws(RPCStatus) in try aggregator.receive(change, targets: targets) }
    } catch {
      effects.append(.close(.watch, epoch))
      return watchStreamEnded(error, in: epoch)
    }
    reads.receive(change)
    guard case .snapshot(let version, _) = change else { return }
    do throws(StoreError) {
      if let last = try store.lastRemoteSnapshotVersion(), version < last { return }
      let event = withAggregator { $0.takeEvent(at: version, targets: $1) }
      try apply(event, causes: [.server(version)])
    } catch {
      storeFailed(error, retrying: .probe)
    }
  }

  /// Calls `body` with the aggregator and the targets as it may know them now: a target counts when everything about it
  /// has been said (S5), with the keys of the last raised snapshot (S2). The aggregator is taken out meanwhile, so that
  /// the views need not be copied for it, once per message.
  private mutating func withAggregator<Result, Failure: Error>(
    _ body: (inout WatchChangeAggregator, WatchChangeAggregator.Targets) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    var taken = WatchChangeAggregator(database: configuration.database)
    swap(&taken, &aggregator)
    defer { swap(&taken, &aggregator) }
    return try body(&taken) { id in plan.watched(id).map { watched($0, views: views, limbo: limbo) } }
  }

  private mutating func apply(
    _ event: RemoteEvent, causes: [SnapshotCause]
  ) throws(StoreError) {
    let changes = try store.apply(event)
    health.stored()
    for (id, change) in event.targetChanges {
      if let token = change.resumeToken { plan.update(id, token: token, at: event.version) }
      limbo.receive(change, for: id)
    }
    for (id, purpose) in event.targetMismatches.sorted(by: { $0.key < $1.key }) { plan.requestAgain(id, for: purpose) }
    if plan.hasRequests { effects.append(.wake(.watch)) }
    statusRevision += 1
    emit(changes, event: event, causes: causes)
  }

  /// Deals with a target that the backend ended by itself. This end may have crossed a removal by the client, after
  /// which the same target may be wanted anew: then only the earlier one has ended, and its removal is not confirmed
  /// any more.
  private mutating func targetEnded(_ id: TargetID, _ cause: RPCStatus) {
    if plan.forgetRemovalRequest(of: id) {
      aggregator.forget(id)
    } else if plan.watched(id) != nil, aggregator.responsesOwed(id) <= 1 {
      targetRefused(id, cause)
    } else {
      aggregator.confirmRemoval(of: id)
    }
  }

  /// Deals with a target that the backend ended for good.
  private mutating func targetRefused(_ id: TargetID, _ cause: RPCStatus) {
    guard let key = limbo.key(of: id) else {
      forgetWatched(id)
      return refuse(id, cause)
    }
    // A document that may not be read does not exist for this client.
    let event = RemoteEvent(
      version: nil, documents: [key: Document(key: key, version: nil, state: .missing)], resolvedLimboDocuments: [key])
    do throws(StoreError) {
      let changes = try store.apply(event)
      limbo.refused(id)
      store.removeLimboReferences(id)
      forgetWatched(id)
      emit(changes, event: event, causes: [])
      startLimboResolutions()
    } catch {
      storeFailed(error, retrying: .probe)
    }
  }

  /// Forgets a target that the backend ended, without a request to remove it.
  private mutating func forgetWatched(_ id: TargetID) {
    plan.drop(id)
    aggregator.forget(id)
    if plan.isEmpty { effects.append(.schedule(.watchIdle, after: Self.idleTimeout)) }
  }

  /// Closes a stream that ended by itself; it is opened again as long as there is something to watch or send.
  package mutating func streamEnded(_ kind: StreamKind, _ status: RPCStatus, in epoch: StreamEpoch, at now: Timestamp) {
    switch kind {
    case .watch: watchStreamEnded(status, in: epoch)
    case .write: writeStreamEnded(status, in: epoch, at: now)
    }
  }

  private mutating func watchStreamEnded(_ status: RPCStatus, in epoch: StreamEpoch) {
    guard epoch == watchStream.epoch, watchStream.isStarted else { return }
    statusRevision += 1
    if online.state != .online { network.failed(status) }
    watchStream.failed(status)
    resetWatchState()
    effects.append(.cancel(.watchIdle))
    if canUseNetwork, !plan.isEmpty {
      changeOnlineState { $0.watchStreamFailed() }
      startWatchStreamIfNeeded()
    } else {
      changeOnlineState { $0.set(.unknown) }
    }
  }

  mutating func closeIdleWatchStream() {
    guard watchStream.isOpen, plan.isEmpty else { return }
    effects.append(.close(.watch, watchStream.epoch))
    watchStream.stop()
    resetWatchState()
    statusRevision += 1
    changeOnlineState { $0.set(.unknown) }
  }
}

private func watched(_ data: TargetData, views: ViewTable, limbo: LimboResolver) -> WatchedTarget {
  let keys = limbo.syncedKeys(of: data.id).map { [$0] } ?? views.syncedKeys(of: data.id)
  return WatchedTarget(target: data.target, purpose: data.purpose, syncedKeys: keys)
}
