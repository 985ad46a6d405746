// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreLocal
package import FirestoreModel
package import FirestoreProtocol
import FirestoreQuery
import FirestoreSQLite

extension SyncCore {
  mutating func startWatchStreamIfNeeded() {
    guard network.isUsed, watching.isDue else { return }
    output.append(watching.start(using: &random))
    output.statusChanged()
    changeOnlineState { $0.watchStreamStarted() }
  }

  package mutating func watchStreamOpened(in epoch: StreamEpoch) {
    guard let effect = watching.opened(in: epoch) else { return }
    output.append(effect)
    output.statusChanged()
  }

  /// Returns the next request for the stream. The backend must then confirm it (S5).
  package mutating func takeWatchRequest(in epoch: StreamEpoch) -> WatchRequest? {
    watching.takeRequest(in: epoch, stored: { store.activeTarget($0) }) { listens.watched($0) }
  }

  /// Processes messages. Drops messages of an old epoch (S8), even if an earlier message in the list ended the epoch.
  package mutating func receive(_ changes: [WatchChange], in epoch: StreamEpoch) {
    for change in changes { receive(change, in: epoch) }
  }

  private mutating func receive(_ change: WatchChange, in epoch: StreamEpoch) {
    guard watching.answered(in: epoch) else { return }
    network.forgetFailure()
    if network.onlineState != .online { changeOnlineState { $0.set(.online) } }
    if case .removed(let ids, let cause?) = change {
      for id in ids where watching.ended(id) { targetRefused(id, cause) }
      return
    }
    do throws(RPCStatus) {
      try watching.receive(change) { listens.watched($0) }
    } catch {
      output.append(.close(.watch, epoch))
      return watchStreamEnded(error, in: epoch)
    }
    guard case .snapshot(let version, _) = change else { return }
    do throws(StoreError) {
      if let last = try store.lastRemoteSnapshotVersion(), version < last { return }
      let event = watching.takeEvent(at: version) { listens.watched($0) }
      try apply(event, causes: [.server(version)])
    } catch {
      storeFailed(error, retrying: .probe)
    }
  }

  private mutating func apply(
    _ event: RemoteEvent, causes: [SnapshotCause]
  ) throws(StoreError) {
    let changes = try store.apply(event)
    health.stored()
    listens.lookupsReceived(event)
    output.append(watching.applied(event))
    output.statusChanged()
    emit(changes, event: event, causes: causes)
  }

  /// Handles a target that the backend rejected permanently.
  private mutating func targetRefused(_ id: TargetID, _ cause: RPCStatus) {
    guard let key = listens.limbo.key(of: id) else {
      output.append(watching.refused(id))
      return refuse(id, cause)
    }
    // A document that this client may not read is treated as missing.
    let event = RemoteEvent(
      version: nil, documents: [key: Document(key: key, version: nil, state: .missing)], resolvedLimboDocuments: [key])
    do throws(StoreError) {
      let changes = try store.apply(event)
      listens.lookupRefused(id)
      store.removeLimboReferences(id)
      output.append(watching.refused(id))
      emit(changes, event: event, causes: [])
      startLimboResolutions()
    } catch {
      storeFailed(error, retrying: .probe)
    }
  }

  /// Handles the end of a stream that the client did not close. Opens the stream again if there are targets or writes.
  package mutating func streamEnded(_ kind: StreamKind, _ status: RPCStatus, in epoch: StreamEpoch, at now: Timestamp) {
    switch kind {
    case .watch: watchStreamEnded(status, in: epoch)
    case .write: writeStreamEnded(status, in: epoch, at: now)
    }
  }

  private mutating func watchStreamEnded(_ status: RPCStatus, in epoch: StreamEpoch) {
    guard watching.failed(status, in: epoch) else { return }
    output.statusChanged()
    if network.onlineState != .online { network.failed(status) }
    output.append(.cancel(.watchIdle))
    if network.isUsed, !watching.plan.isEmpty {
      changeOnlineState { $0.watchStreamFailed() }
      startWatchStreamIfNeeded()
    } else {
      changeOnlineState { $0.set(.unknown) }
    }
  }

  mutating func closeIdleWatchStream() {
    guard watching.isIdle else { return }
    output.append(watching.stop())
    output.statusChanged()
    changeOnlineState { $0.set(.unknown) }
  }
}
