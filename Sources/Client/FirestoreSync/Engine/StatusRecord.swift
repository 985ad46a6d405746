// SPDX-License-Identifier: Apache-2.0
package import FirestoreClientState
import FirestoreLocal
import FirestoreModel
import FirestoreProtocol
import FirestoreSQLite

/// The parts of the status that the core's state does not contain: times and recent events.
struct StatusRecord: Sendable {
  var since = Timestamp(seconds: 0)
  private var onlineState = OnlineState.unknown
  /// Whether the network was last disabled by a watcher (such as `hearth attach`) and not by the program.
  var isDisabledByWatcher = false
  private var backoffUntil: [StreamKind: Timestamp] = [:]
  /// The time at which the client will try the failed store again.
  var storeRetry: Timestamp?
  var lastSnapshotAt: Timestamp?
  /// The traffic of the streams.
  var meters = StreamMeters()
  private(set) var beginning = ClientInside.Beginning()
  /// Measures the time since the first listener was added; `nil` before that.
  private var sinceFirstListener: (@Sendable () -> Duration)?

  /// Adds this time to the recorded duration of opening the client.
  mutating func opened(in time: Duration) { beginning.opening += time }

  /// Records that a listener was added.
  mutating func listened(_ clock: any Clock<Duration>) {
    if sinceFirstListener == nil { sinceFirstListener = clock.stopwatch() }
  }

  /// Records snapshots.
  mutating func delivered(_ deliveries: [SnapshotDelivery]) {
    guard beginning.firstInSync == nil, let sinceFirstListener, !deliveries.isEmpty else { return }
    if beginning.firstSnapshot == nil { beginning.firstSnapshot = sinceFirstListener() }
    if deliveries.contains(where: { !$0.snapshot.isFromCache }) { beginning.firstInSync = sinceFirstListener() }
  }

  mutating func note(_ state: OnlineState, at now: Timestamp) {
    if state != onlineState { (onlineState, since) = (state, now) }
  }

  mutating func opening(_ kind: StreamKind, at now: Timestamp, after delay: Duration) {
    backoffUntil[kind] = delay > .zero ? now + delay : nil
  }

  /// Records that a stream's backoff has ended.
  mutating func began(_ kind: StreamKind, at now: Timestamp) {
    backoffUntil[kind] = nil
    meters.began(kind, at: now)
  }

  /// - Parameter ends: the number of writes to list from each end of a long queue; `nil` to list all writes.
  func status(
    of core: inout SyncCore, ends: Int?, isDurable: Bool
  ) -> ClientStatus {
    let waiting = Set(core.writes.queue.pipeline.map(\.batch.id))
    let write = status(of: core.writeStream, .write)
    let writes = core.writes.measured(ends: ends).map { entry in
      let state: PendingWrite.State
      if core.network.holdsWrites {
        state = .held
      } else if core.writes.queue.isInFlight(entry.batch.id) {
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
    // Omits rejected writes, indexes, pins and sizes that cannot be read. Calls that use them throw the error.
    let rejected = (try? core.rejectedWrites()) ?? []
    return ClientStatus(
      onlineState: core.onlineState, isNetworkEnabled: core.isNetworkEnabled,
      isDisabledByWatcher: isDisabledByWatcher && !core.isNetworkEnabled, reason: core.connectionReason,
      nextRetry: nextRetry(of: core, watch, write), since: since, watch: watch, write: write,
      activeTargets: core.watching.plan.count, reads: core.watching.meters,
      activeLimboResolutions: core.listens.limbo.active.count, inFlightWrites: core.writes.queue.inFlightCount,
      pendingWrites: writes, queue: core.writes.size(), rejectedWrites: rejected,
      indexes: (try? core.store.indexes()) ?? [], lastSnapshotAt: lastSnapshotAt,
      roundTrips: core.writes.answers.history.roundTrips, recentOutcomes: core.writes.answers.history.outcomes,
      cacheByteCount: try? core.store.byteSize(), cacheLimit: core.configuration.garbageCollectionThreshold,
      isDurable: isDurable, storeFailure: (core.health.failure ?? core.store.loss)?.status,
      retentions: try? core.store.retentions())
  }

  /// The state of the connection, combined from both streams.
  func connection(of core: borrowing SyncCore) -> ConnectionState {
    let streams = (status(of: core.watchStream, .watch), status(of: core.writeStream, .write))
    return ConnectionState(
      core.onlineState, since: since, reason: core.connectionReason,
      nextAttempt: nextRetry(of: core, streams.0, streams.1))
  }

  private func nextRetry(of core: borrowing SyncCore, _ streams: StreamStatus...) -> Timestamp? {
    if core.network.hasStorageFailed { return core.health.damage == nil ? storeRetry : nil }
    return streams.compactMap { if case .backoff(let until) = $0.state { until } else { nil } }.min()
  }

  func status(of stream: ClientStream, _ kind: StreamKind) -> StreamStatus {
    let state: StreamStatus.State =
      switch stream.phase {
      case .closed: .closed
      case .open: .open
      case .starting: backoffUntil[kind].map { .backoff(until: $0) } ?? .opening
      }
    return StreamStatus(state, lastError: stream.lastError)
  }
}

extension SyncCore {
  /// The reason why the backend does not answer. `nil` while the backend answers, while the client needs no connection,
  /// or while the network is disabled.
  package var outage: ConnectionReason? {
    let state = network.onlineState
    if state == .online || !network.isUsed || writeStream.isOpen && state != .offline { return nil }
    return switch connectionReason {
    case .failed, .noAnswer, .connecting: connectionReason
    default: nil
    }
  }

  /// The reason why the client is not online; `nil` while the client is online.
  var connectionReason: ConnectionReason? {
    if network.onlineState == .online { return nil }
    if !isNetworkEnabled { return .networkDisabled }
    if network.hasStorageFailed { return .storageFailed }
    if !isPrimary { return .elsewhere }
    if let error = watchStream.lastError ?? writeStream.lastError ?? network.failure { return .failed(error) }
    if network.onlineState == .offline { return .noAnswer }
    return watchStream.isStarted || writeStream.isStarted ? .connecting : .idle
  }
}

extension Clock where Duration == Swift.Duration {
  /// Starts a time measurement.
  /// - Returns: a function that returns the elapsed time.
  func stopwatch() -> @Sendable () -> Duration {
    let start = now
    return { start.duration(to: self.now) }
  }
}
