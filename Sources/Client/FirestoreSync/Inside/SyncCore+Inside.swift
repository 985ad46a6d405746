// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreLocal
import FirestoreModel
import FirestoreProtocol
import FirestoreSQLite

extension SyncCore {
  /// The state of each watched target, ascending by id; at most so many.
  func targetStates(limit: Int) -> [TargetState] {
    watching.plan.targets.values.sorted { $0.id < $1.id }.prefix(limit).map { data in
      let meter = watching.meter(of: data.id)
      let stored = store.activeTarget(data.id) ?? data
      return TargetState(
        id: data.id.rawValue, target: data.target, purpose: TargetState.Purpose(data.purpose),
        progress: watching.progress(of: data.id),
        tokenTime: stored.resumeToken == nil ? nil : stored.snapshotVersion?.timestamp,
        documents: listens.watched(data).count, sent: meter?.sent ?? 0, kept: meter?.kept ?? 0,
        lastUse: data.purpose == .limboResolution ? nil : stored.sequenceNumber)
    }
  }

  /// The documents in doubt that are asked for, and those that wait.
  var lookups: Lookups {
    let asked = listens.limbo.active.sorted { $0.value < $1.value }
    let waiting = listens.limbo.enqueued
    let listed =
      asked.prefix(ClientInside.listed).map { Lookups.Lookup($0.key, target: $0.value.rawValue) }
      + waiting.prefix(ClientInside.listed).map { Lookups.Lookup($0, target: nil) }
    return Lookups(
      listed: listed, asked: asked.count, waiting: waiting.count, limit: configuration.maximumLimboResolutions)
  }

  /// Gives a stream up that is open or being opened, and begins another one at once. Batches in flight are sent again,
  /// targets are resumed from their tokens; listeners see nothing of it. Does nothing for a closed stream.
  package mutating func restart(_ kind: StreamKind) {
    switch (kind, (kind == .watch ? watchStream : writeStream).phase) {
    case (_, .closed): return
    case (.watch, .starting):
      output.append(watching.skipBackoff())
      startWatchStreamIfNeeded()
    case (.watch, .open):
      output.append(watching.stop())
      output.append(.cancel(.watchIdle))
      changeOnlineState { $0.set(.unknown) }
      startWatchStreamIfNeeded()
    case (.write, .starting):
      output.append(writes.skipBackoff())
      sendWrites()
    case (.write, .open):
      output.append(writes.stop())
      output.append(.cancel(.writeIdle))
      sendWrites()
    }
    output.statusChanged()
  }

  /// The reason why there is no stream to restart; `nil` if there is one.
  func reasonAgainstRestart(of kind: StreamKind) -> String? {
    if (kind == .watch ? watchStream : writeStream).isStarted { return nil }
    if !isNetworkEnabled { return "the network is switched off" }
    if !isPrimary { return "another process that shares the cache has the streams" }
    return kind == .watch ? "nothing is watched" : "nothing waits to be sent"
  }
}

extension TargetState.Purpose {
  fileprivate init(_ purpose: TargetPurpose) {
    self =
      switch purpose {
      case .listen: .listen
      case .existenceFilterMismatch, .existenceFilterMismatchBloom: .recount
      case .limboResolution: .lookup
      }
  }
}
