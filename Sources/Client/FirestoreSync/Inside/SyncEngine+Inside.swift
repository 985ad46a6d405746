// SPDX-License-Identifier: Apache-2.0
package import FirestoreClientState
import FirestoreLocal
package import FirestoreModel
import FirestoreProtocol
import FirestoreSQLite

// The client's inside, for people who look into it.
extension SyncEngine {
  /// Tells what the client watches, looks up, sends and receives, and how long its queries took. Reads no documents.
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
        lookups: core.lookups, company: try core.store.company(at: time), streams: streams,
        queries: core.store.queryLedger.queries(), beginning: record.beginning,
        connection: record.connection(of: core), retentions: try core.store.retentions(),
        isDurable: isDurable, indexes: try core.store.indexes())
    }
  }

  /// Counts the cache by collection, index and table, and finds out what the next garbage collection would take; in slices, between which
  /// all other waiting work has its turn. O(rows).
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

  /// Gives a stream up and begins another one at once, over a new connection where there are connections.
  /// - Throws: `failed-precondition` if the stream is closed.
  package func restartStream(_ kind: StreamUse.Kind) async throws(RPCStatus) {
    let stream: StreamKind = kind == .watch ? .watch : .write
    try change { core throws(RPCStatus) in
      if let reason = core.reasonAgainstRestart(of: stream) {
        throw RPCStatus(.failedPrecondition, "The \(kind.rawValue) stream is closed: \(reason).")
      }
      // The next stream must find a new connection.
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
