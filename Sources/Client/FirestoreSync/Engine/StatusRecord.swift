// SPDX-License-Identifier: Apache-2.0
package import FirestoreClientState
import FirestoreLocal
import FirestoreModel
import FirestoreProtocol
import FirestoreSQLite

/// The facts that the status needs beyond the core's state: times and the recent past.
struct StatusRecord: Sendable {
  var since = Timestamp(seconds: 0)
  private var onlineState = OnlineState.unknown
  private var backoffUntil: [StreamKind: Timestamp] = [:]
  /// The time at which the store is tried again.
  var storeRetry: Timestamp?
  var lastSnapshotAt: Timestamp?

  mutating func note(_ state: OnlineState, at now: Timestamp) {
    if state != onlineState { (onlineState, since) = (state, now) }
  }

  mutating func opening(_ kind: StreamKind, at now: Timestamp, after delay: Duration) {
    backoffUntil[kind] = delay > .zero ? now + delay : nil
  }

  /// Notes that the stream's backoff is over.
  mutating func began(_ kind: StreamKind) { backoffUntil[kind] = nil }

  /// - Parameter ends: the number of writes to list from each end of a long queue; `nil` lists all.
  func status(
    of core: inout SyncCore, ends: Int?, isDurable: Bool
  ) -> ClientStatus {
    let waiting = Set(core.writes.pipeline.map(\.batch.id))
    let write = status(of: core.writeStream, .write)
    let writes = core.writes.measured(ends: ends).map { entry in
      let state: PendingWrite.State
      if core.network.holdsWrites {
        state = .held
      } else if core.writes.isInFlight(entry.batch.id) {
        state = .inFlight
      } else if case .backoff(let until) = write.state, waiting.contains(entry.batch.id) {
        state = .backoff(until: until)
      } else {
        state = .queued
      }
      return PendingWrite(
        id: entry.batch.id, mutations: entry.batch.mutations, localWriteTime: entry.batch.localWriteTime,
        byteCount: entry.byteCount ?? 0, attempts: entry.attempts, state: state, lastError: entry.lastError)
    }
    let watch = status(of: core.watchStream, .watch)
    // Rejected writes, indexes and a size that cannot be read are not shown; a call that touches them throws the error.
    let rejected = (try? core.rejectedWrites()) ?? []
    return ClientStatus(
      onlineState: core.onlineState, isNetworkEnabled: core.isNetworkEnabled, reason: core.connectionReason,
      nextRetry: nextRetry(of: core, watch, write), since: since, watch: watch, write: write,
      activeTargets: core.plan.count, reads: core.reads.meters(of: core.plan.targets.values),
      activeLimboResolutions: core.limbo.active.count, inFlightWrites: core.writes.inFlightCount, pendingWrites: writes,
      queue: QueueSize(count: core.writes.count, total: core.writes.total, byteCount: core.writes.byteCount()),
      rejectedWrites: rejected, indexes: (try? core.store.indexes()) ?? [], lastSnapshotAt: lastSnapshotAt,
      roundTrips: core.history.roundTrips, recentOutcomes: core.history.outcomes,
      cacheByteCount: try? core.store.byteSize(), cacheLimit: core.configuration.garbageCollectionThreshold,
      isDurable: isDurable, storeFailure: (core.health.failure ?? core.store.loss)?.status)
  }

  private func nextRetry(of core: borrowing SyncCore, _ streams: StreamStatus...) -> Timestamp? {
    if core.network.isStopped(by: .storageFailed) { return core.health.damage == nil ? storeRetry : nil }
    return streams.compactMap { if case .backoff(let until) = $0.state { until } else { nil } }.min()
  }

  private func status(of stream: ClientStream, _ kind: StreamKind) -> StreamStatus {
    let state: StreamStatus.State =
      switch stream.phase {
      case .closed: .closed
      case .open: .open
      case .starting: backoffUntil[kind].map { .backoff(until: $0) } ?? .opening
      }
    return StreamStatus(state, lastError: stream.lastError)
  }
}

/// The results of the last batches that left the queue, and the backend's times to answer.
struct WriteHistory: Sendable {
  private static let capacity = 64

  /// The results, newest last.
  private(set) var outcomes: [WriteOutcome] = []
  /// The times from sending to the acknowledgement, newest last.
  private(set) var roundTrips: [Duration] = []
  private var sequence = 0

  /// - Parameter after: the time from sending to the backend's answer.
  mutating func add(_ batch: BatchID, _ result: Result<CommitResponse, RPCStatus>, after: Duration?) {
    sequence += 1
    var outcome = WriteOutcome(sequence: sequence, batch: batch, after: after, rejection: nil)
    switch result {
    case .success(let response):
      outcome.commitTime = response.commitTime
      if let after { roundTrips = (roundTrips + [after]).suffix(Self.capacity) }
    case .failure(let status): outcome.rejection = status
    }
    outcomes = (outcomes + [outcome]).suffix(Self.capacity)
  }
}

extension SyncCore {
  /// The reason why the backend, of which something is or was last wanted, does not answer; `nil` while it answers,
  /// nothing is wanted, or the client does not ask it.
  package var outage: ConnectionReason? {
    if online.state == .online || !canUseNetwork || writeStream.isOpen && online.state != .offline { return nil }
    return switch connectionReason {
    case .failed, .noAnswer, .connecting: connectionReason
    default: nil
    }
  }

  /// The reason why the client is not online; `nil` while online.
  var connectionReason: ConnectionReason? {
    if online.state == .online { return nil }
    if !isNetworkEnabled { return .networkDisabled }
    if network.isStopped(by: .storageFailed) { return .storageFailed }
    if !isPrimary { return .elsewhere }
    if let error = watchStream.lastError ?? writeStream.lastError ?? network.failure { return .failed(error) }
    if online.state == .offline { return .noAnswer }
    return watchStream.isStarted || writeStream.isStarted ? .connecting : .idle
  }
}
