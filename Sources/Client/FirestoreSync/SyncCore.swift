// SPDX-License-Identifier: Apache-2.0
package import FirestoreClientState
package import FirestoreLocal
package import FirestoreModel
package import FirestoreProtocol
package import FirestoreSQLite

/// The whole state of a client. It is synchronous and deterministic. It uses neither tasks nor the network, and receives
/// times as arguments. Every transition processes one event. After each transition, the caller calls `takeEffects` and
/// performs the transition's effects in order.
///
/// Invariants, cited by number in tests:
///
/// - **S1** All snapshots caused by one transition reflect the same store state and are delivered together.
/// - **S2** The remote keys that the aggregator consults are the keys of the last raised snapshot.
/// - **S3** A write's acknowledgement or rejection is signaled before any snapshot that contains its result.
/// - **S4** Batches are sent in batch-id order; the k-th response answers the k-th unacknowledged batch.
/// - **S5** A target's "responses owed" counter changes in the same step in which the request is handed out.
/// - **S6** A resume token is committed in the same transaction as the documents it covers. A document's version decreases
///   only if the backend has lost the newer version.
/// - **S7** The online state changes views and listeners in one step.
/// - **S8** Nothing from an old stream epoch or a canceled timer is applied.
/// - **S9** A local document always equals its overlay applied to the remote document.
/// - **S10** A locally accepted write survives `kill -9` as soon as its local snapshot is visible, if the cache is
///   durable.
package struct SyncCore: ~Copyable {
  package struct Configuration: Sendable {
    package var database: DatabaseID
    package var maximumLimboResolutions = LimboResolver.defaultMaximum
    package var isNetworkEnabled = true
    /// The cache size in bytes above which garbage collection runs in the background; `nil` to never run it.
    package var garbageCollectionThreshold: Int64?
    /// Limits the duration of each slice of a garbage collection.
    package var slicePacer = SlicePacer.continuous

    package init(database: DatabaseID) { self.database = database }
  }

  let configuration: Configuration
  package var store: LocalStore
  /// The random source for the jitter of delays.
  var random: any RandomNumberGenerator & Sendable

  var listens: Listens
  var watching: WatchPipeline
  var writes = WritePipeline()
  var network = Connectivity()
  var health = StoreHealth()
  var upkeep = Upkeep()
  /// The role of this client in a shared cache; `nil` if the cache is not shared.
  var sharing: SharedRole?
  var output = SyncOutput()

  package init(
    _ store: consuming LocalStore, configuration: Configuration, random: any RandomNumberGenerator & Sendable
  ) {
    self.store = store
    self.store.backfillPacer = configuration.slicePacer
    self.configuration = configuration
    self.random = random
    listens = Listens(maximumLimboResolutions: configuration.maximumLimboResolutions)
    watching = WatchPipeline(database: configuration.database)
    if !configuration.isNetworkEnabled { network.stop(by: .disabledByUser) }
    if self.store.isShared {
      sharing = SharedRole()
      network.stop(by: .secondary)
    }
  }

  /// Opens the user's queue of pending writes and starts sending them.
  package mutating func start(user: String?) throws(StoreError) {
    try store.start(user: user)
    writes.begin(user, with: try store.pendingBatches())
    health.opened()
    // Delivers no snapshots, because views that were opened before a late start are already offline.
    if !network.isUsed, isPrimary { _ = network.changeOnlineState { $0.set(.offline) } }
    sendWrites()
    if configuration.garbageCollectionThreshold != nil {
      output.append(.schedule(.garbageCollection, after: .seconds(60)))  // SDK: first run after a minute
    }
    output.statusChanged()
  }

  /// Removes and returns the effects of the current transition, in order, and ends the transition.
  package mutating func takeEffects() -> [SyncEffect] {
    scheduleIndexBackfill()
    store.wakeOthersIfTold()
    return output.takeEffects()
  }

  /// Closes the store.
  package consuming func close() { store.close() }

  /// Closes the store in the same way as the end of a killed process.
  consuming func abandon() { store.abandon() }

  /// The combined online state of both streams. Listeners' snapshots depend only on the watch stream, as in the SDKs
  /// (`OnlineStateTracker`).
  package var onlineState: OnlineState { network.stateOfEitherStream }
  package var isNetworkEnabled: Bool { network.isEnabled }
  package var watchStream: ClientStream { watching.stream }
  package var writeStream: ClientStream { writes.stream }
  package var limbo: LimboResolver { listens.limbo }
  /// The number of times that `ClientStatus` has changed so far.
  package var statusRevision: Int { output.statusRevision }

  /// Handles an expired timer.
  package mutating func fire(_ timer: SyncTimer) {
    switch timer {
    case .onlineTimeout:
      changeOnlineState {
        $0.timedOut()
        return .none
      }
    case .watchIdle: closeIdleWatchStream()
    case .writeIdle: closeIdleWriteStream()
    case .storeRetry: retryOldest()
    case .garbageCollection: collectGarbage()
    case .indexBackfill: backfillIndexes()
    case .unwatchedResults: showUnwatchedResults()
    // `refreshLease` and `expireWrites` handle these timers, because they need the time.
    case .leaseRefresh, .writeDeadline: break
    }
  }
}

package struct SyncConfiguration: Sendable {
  package var store: LocalStoreConfiguration
  /// The user whose queue of pending writes is in use; `nil` for the signed-out user.
  package var user: String?
  package var isNetworkEnabled = true

  package init(store: LocalStoreConfiguration, user: String? = nil) {
    self.store = store
    self.user = user
  }
}

/// The reason why the requested durable cache is not in use, or why it had to be created anew.
package struct CacheProblem: Hashable, Sendable {
  package let error: StoreError
  /// Whether a memory cache is used instead of the durable one. If false, the damaged cache was moved aside and
  /// replaced with a new one.
  package let isInMemory: Bool

  /// The description of the problem for the user, with the most important part first.
  package var notice: String { isInMemory ? "In memory only. \(error.message)" : error.message }
}

/// An effect that a transition of `SyncCore` requests. Effects are performed in order (S1, S3, S7).
package enum SyncEffect: Sendable {
  /// The backend's answer to a batch, or the reason why no answer will arrive.
  case complete(BatchID, Result<CommitResponse, RPCStatus>)
  /// All snapshots of one transition, to be delivered together (S1).
  case deliver([SnapshotDelivery])
  /// Ends listeners with an error.
  case fail([ListenerID], RPCStatus)
  /// Ends a wait for pending writes: all of its writes have been answered, or it fails with the status.
  case finishWait(PendingWritesWait, RPCStatus?)
  case open(StreamKind, StreamEpoch, after: Duration)
  case close(StreamKind, StreamEpoch)
  /// A request is ready to be sent on the open stream.
  case wake(StreamKind)
  /// Starts a timer, and replaces an earlier schedule of the same timer.
  case schedule(SyncTimer, after: Duration)
  case cancel(SyncTimer)
  /// The client that runs the streams has refused to cancel a write.
  case refuseCancellation(BatchID, RPCStatus)
  /// Closes this client, because another client that shares the cache is deleting it.
  case shutDown(RPCStatus)
}

extension [SyncEffect] {
  /// Whether the effects deliver snapshots. If so, all listeners' snapshots are in sync after the effects, and
  /// observers of snapshots-in-sync are notified once.
  package var bringSnapshotsInSync: Bool { contains { if case .deliver = $0 { true } else { false } } }
}

package struct SnapshotDelivery: Sendable {
  package var listener: ListenerID
  package var snapshot: ViewSnapshot
}

/// Identifies one call of `waitForPendingWrites`.
package struct PendingWritesWait: Hashable, Sendable {
  package let rawValue: Int
  package init(_ rawValue: Int) { self.rawValue = rawValue }
}

package enum SyncTimer: Hashable, Sendable, CaseIterable {
  /// The time limit for the first answer after the watch stream was started.
  case onlineTimeout
  case watchIdle
  case writeIdle
  /// Repeats the oldest operation that the store failed to perform.
  case storeRetry
  case garbageCollection
  /// Performs the next slice of an index backfill: it indexes documents that were cached before the index was defined.
  case indexBackfill
  /// Announces that this client is alive, and determines whether it is the primary client.
  case leaseRefresh
  /// Cancels writes that were not sent before their deadline.
  case writeDeadline
  /// Shows acknowledged writes in views whose targets are not watched.
  case unwatchedResults
}

/// The id of a listener, unique for the lifetime of the engine.
package struct ListenerID: Hashable, Comparable, Sendable {
  package let rawValue: Int
  package init(_ rawValue: Int) { self.rawValue = rawValue }
  package static func < (left: ListenerID, right: ListenerID) -> Bool { left.rawValue < right.rawValue }
}

/// The output of transitions: the effects of the current transition, and the number of changes of `ClientStatus` so
/// far.
struct SyncOutput: Sendable {
  private(set) var effects: [SyncEffect] = []
  private(set) var statusRevision = 0

  mutating func append(_ effect: SyncEffect) { effects.append(effect) }

  mutating func append(_ effects: [SyncEffect]) { self.effects += effects }

  /// Delivers snapshots together (S1). Does nothing if there are none.
  mutating func deliver(_ snapshots: [SnapshotDelivery]) {
    if !snapshots.isEmpty { effects.append(.deliver(snapshots)) }
  }

  /// Records that `ClientStatus` has changed.
  mutating func statusChanged() { statusRevision += 1 }

  /// Removes and returns the effects, in order, and ends the transition.
  mutating func takeEffects() -> [SyncEffect] {
    defer { effects = [] }
    return effects
  }
}
