// SPDX-License-Identifier: Apache-2.0
package import FirestoreClientState
import FirestoreLocal
package import FirestoreModel
import FirestoreProtocol
import FirestoreSQLite

// The client's internal state, for diagnosis.
extension SyncEngine {
  /// Reports the client's targets, document lookups, messages and query times. Does not read documents.
  package func inside() async throws(RPCStatus) -> ClientInside {
    let (time, record, traffic, isDurable) = (now(), record, datastore.traffic, isDurable)
    let silence = datastore.canFallSilent ? WatchSilence.limit : nil
    return try change { core throws(StoreError) in
      let streams = [StreamKind.watch, .write].map { kind in
        record.meters.use(
          of: kind, record.status(of: kind == .watch ? core.watchStream : core.writeStream, kind),
          bytes: traffic?[kind], longestSilence: kind == .watch ? silence : nil)
      }
      return ClientInside(
        time: time, targets: core.targetStates(limit: ClientInside.listed), targetCount: core.watching.plan.count,
        lookups: core.lookups, peers: try core.store.peers(at: time), streams: streams,
        queries: core.store.queryLedger.queries(), beginning: record.beginning,
        connection: record.connection(of: core), retentions: try core.store.retentions(),
        isDurable: isDurable, indexes: try core.store.indexes())
    }
  }

  /// Counts the contents of the cache by collection, index and table, and plans the next garbage collection. Other work
  /// can run between slices. Takes O(rows) time.
  package func surveyCache() async throws(RPCStatus) -> CacheSurvey {
    let plan = try await collectGarbage(isDryRun: true)?.plan ?? GarbageCollectionPlan()
    var run = try change { core throws(StoreError) in core.store.beginSurvey() }
    while !run.isFinished {
      let begun = run
      run = try change { core throws(StoreError) in
        var next = begun
        try core.store.continueSurvey(&next)
        return next
      }
      await pause()
    }
    let (counted, time) = (run, now())
    return try change { core throws(StoreError) in
      let extent = try core.store.extent()
      return CacheSurvey(
        time: time, policy: CacheSurvey.Policy(core.store.policy), bytes: extent.bytes, freeBytes: extent.freeBytes,
        limit: core.configuration.garbageCollectionThreshold,
        shares: try core.store.shares(of: counted, leaving: plan), targets: extent.targets,
        leavingTargets: plan.targets.count, victims: core.store.victims(of: plan),
        contents: try core.store.contents(of: counted))
    }
  }

  /// Ends a stream and immediately opens a new one. If the datastore uses connections, the new stream gets a new
  /// connection.
  /// - Throws: `failed-precondition` if the stream is closed.
  package func restartStream(_ kind: StreamUse.Kind) async throws(RPCStatus) {
    let stream: StreamKind = kind == .watch ? .watch : .write
    try change { core throws(RPCStatus) in
      if let reason = core.reasonAgainstRestart(of: stream) {
        throw RPCStatus(.failedPrecondition, "The \(kind.rawValue) stream is closed: \(reason).")
      }
      // Reconnects before the restart, so that the next stream uses a new connection.
      datastore.reconnect()
      core.restart(stream)
    }
  }
}

extension CacheSurvey.Policy {
  fileprivate init(_ policy: GarbageCollectionPolicy) {
    self =
      switch policy {
      case .eager: .eager
      case .leastRecentlyUsed: .leastRecentlyUsed
      case .never: .never
      }
  }
}

extension DatastoreTraffic {
  fileprivate subscript(kind: StreamKind) -> StreamUse.Bytes {
    switch kind {
    case .watch: StreamUse.Bytes(sent: watch.sent, received: watch.received)
    case .write: StreamUse.Bytes(sent: write.sent, received: write.received)
    }
  }
}

extension SyncCore {
  /// The states of at most `limit` watched targets, in ascending order of their ids.
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

  /// The lookups of documents in limbo, both running and waiting.
  var lookups: Lookups {
    let asked = listens.limbo.active.sorted { $0.value < $1.value }
    let waiting = listens.limbo.enqueued
    let listed =
      asked.prefix(ClientInside.listed).map { Lookups.Lookup($0.key, target: $0.value.rawValue) }
      + waiting.prefix(ClientInside.listed).map { Lookups.Lookup($0, target: nil) }
    return Lookups(
      listed: listed, asked: asked.count, waiting: waiting.count, limit: configuration.maximumLimboResolutions)
  }

  /// Ends a stream that is open or being opened, and immediately opens a new stream. Batches in flight are sent again,
  /// and targets resume from their tokens. Listeners receive no events. Does nothing if the stream is closed.
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

  /// The reason why a stream cannot be restarted; `nil` if it can be restarted.
  func reasonAgainstRestart(of kind: StreamKind) -> String? {
    if (kind == .watch ? watchStream : writeStream).isStarted { return nil }
    if !isNetworkEnabled { return "the network is disabled" }
    if !isPrimary { return "another process that shares the cache has the connection" }
    return kind == .watch ? "no listener is open" : "no write is pending"
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

/// Counts the traffic of the two streams, and stores the time of each stream's last message.
struct StreamMeters: Sendable {
  private struct Meter {
    var begun = 0
    var since: Timestamp?
    var sent = 0
    var received = 0
    var heardAt: Timestamp?
  }

  private var meters: [StreamKind: Meter] = [:]

  mutating func began(_ kind: StreamKind, at now: Timestamp) {
    meters[kind, default: Meter()].begun += 1
    meters[kind]?.since = now
  }

  mutating func sent(_ kind: StreamKind) { meters[kind, default: Meter()].sent += 1 }

  mutating func received(_ kind: StreamKind, _ messages: Int, at now: Timestamp) {
    meters[kind, default: Meter()].received += messages
    meters[kind]?.heardAt = now
  }

  /// - Parameter longestSilence: the maximum time without messages. If it is exceeded, the client ends the stream.
  func use(
    of kind: StreamKind, _ status: StreamStatus, bytes: StreamUse.Bytes?, longestSilence: Duration?
  ) -> StreamUse {
    let meter = meters[kind] ?? Meter()
    return StreamUse(
      kind: kind == .watch ? .watch : .write, status: status, begun: meter.begun, since: meter.since,
      messagesSent: meter.sent, messagesReceived: meter.received, heardAt: meter.heardAt, bytes: bytes,
      longestSilence: longestSilence)
  }
}
