// SPDX-License-Identifier: Apache-2.0
import Dashboard
import FirestoreBackend
import FirestoreLocal
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
import FirestoreSync

// The engine's types as the dashboard's. The dashboard has its own so that it does not depend on the engine.

extension ListenerSnapshot {
  init(_ snapshot: ViewSnapshot, for tag: ListenerTag) {
    self.init(
      listener: tag,
      changes: snapshot.changes.map { change in
        Change(change.kind, change.document, previous: snapshot.oldDocuments[change.document.key])
      },
      isFromCache: snapshot.isFromCache, syncStateChanged: snapshot.syncStateChanged,
      hasPendingWrites: snapshot.hasPendingWrites, count: snapshot.documents.count,
      causes: snapshot.causes.map(Cause.init))
  }
}

extension ListenerSnapshot.Cause {
  init(_ cause: SnapshotCause) {
    switch cause {
    case .listenerAdded: self = .listenerAdded
    case .localWrite(let batch): self = .localWrite(batch)
    case .acknowledged(let batch): self = .acknowledged(batch)
    case .rejected(let batch, let status): self = .rejected(batch, status)
    case .cancelled(let batch): self = .cancelled(batch)
    case .server: self = .server
    case .networkDisabled: self = .networkDisabled
    case .offline: self = .offline
    case .limboResolved(let key): self = .limboResolved(key)
    case .existenceFilter: self = .existenceFilter
    case .userChanged: self = .userChanged
    case .bundleLoaded(let name): self = .bundleLoaded(name)
    case .cacheRecovered: self = .cacheRecovered
    }
  }
}

extension QueueRow {
  init(_ write: PendingWrite) {
    self.init(
      batch: write.id, operation: Self.operation(of: write.mutations), documents: write.mutations.map(\.key),
      mutations: write.mutations, writtenAt: write.localWriteTime, byteCount: write.byteCount, tries: write.attempts,
      state: State(write.state),
      transformCount: write.mutations.reduce(0) { $0 + $1.transforms.count },
      isNonIdempotent: Self.isNonIdempotent(write.mutations), lastError: write.lastError)
  }

  init(_ write: RejectedWrite) {
    self.init(
      batch: write.id, operation: Self.operation(of: write.mutations), documents: write.mutations.map(\.key),
      mutations: write.mutations, writtenAt: write.localWriteTime, byteCount: write.byteCount,
      tries: write.rejection.attempts, state: .rejected(write.rejection.status),
      transformCount: write.mutations.reduce(0) { $0 + $1.transforms.count },
      isNonIdempotent: Self.isNonIdempotent(write.mutations), rejectedAt: write.rejection.time)
  }
}

extension Dashboard.QueueSize {
  init(_ size: FirestoreSync.QueueSize) {
    self.init(count: size.count, total: size.total, byteCount: size.byteCount)
  }
}

extension QueueRow.State {
  init(_ state: PendingWrite.State) {
    switch state {
    case .held: self = .held
    case .queued: self = .queued
    case .inFlight: self = .inFlight
    case .backoff(let until): self = .backoff(until: until)
    }
  }
}

extension NetworkStatus {
  /// - Parameter backendFailure: why the backend is not where its data is.
  init(_ status: EngineStatus, backend: Backend, backendFailure: StorageProblem?) {
    let problems = [
      status.storageFailure.map { StorageProblem(cache: $0, status.storageFallback ?? "") }, backendFailure,
    ]
    .compactMap(\.self)
    self.init(
      online: Online(status.onlineState), isNetworkEnabled: status.isNetworkEnabled, since: status.since,
      reason: status.reason.flatMap(Self.text), isCacheFailing: status.reason == .storageFailed,
      retryAt: status.nextRetry, watch: Stream(status.watch),
      write: Stream(status.write), activeTargets: status.activeTargets,
      inFlightWrites: status.inFlightWrites, lastSnapshotAt: status.lastSnapshotAt, roundTrips: status.roundTrips,
      cacheByteCount: status.cacheByteCount.map { Int($0) }, cacheLimit: status.cacheLimit.map { Int($0) },
      isCacheInMemory: !status.isDurable,
      storageNotice: problems.isEmpty ? nil : problems.map(\.message).joined(separator: " "),
      storageBadge: problems.last?.badge, backend: backend)
  }

  /// `nil` where there is nothing to explain.
  private static func text(of reason: ConnectionReason) -> String? {
    switch reason {
    case .idle, .connecting, .networkDisabled: nil
    case .storageFailed: "the cache cannot be written"
    case .failed(let status): status.description
    case .noAnswer: "the server does not answer"
    }
  }
}

extension NetworkStatus.Online {
  init(_ state: OnlineState) {
    switch state {
    case .unknown: self = .unknown
    case .online: self = .online
    case .offline: self = .offline
    }
  }
}

extension NetworkStatus.Stream {
  init(_ status: StreamStatus) {
    let state: State =
      switch status.state {
      case .closed: .closed
      case .opening: .opening
      case .open: .open
      case .backoff(let until): .backoff(until: until)
      }
    self.init(state, lastError: status.lastError)
  }
}
