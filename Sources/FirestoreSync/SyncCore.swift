// SPDX-License-Identifier: Apache-2.0
package import FirestoreLocal
package import FirestoreModel
import FirestoreProtocol

/// The whole client state. Synchronous and deterministic, without clock, task or network: every transition takes an
/// event and appends the effects that somebody outside has to perform, in order.
///
/// Invariants, cited by number in tests:
///
/// - **S1** All snapshots caused by one transition reflect the same store state and are delivered together.
/// - **S2** The remote keys that the aggregator consults are those of the last raised snapshot.
/// - **S3** A write's acknowledgement or rejection is signalled before any snapshot that contains its result.
/// - **S4** Batches leave in batch-id order; the k-th response answers the k-th unacknowledged batch.
/// - **S5** A target's "responses owed" counter changes in the same step in which the request is handed out.
/// - **S6** A resume token is committed in the same transaction as the documents it covers; versions never go back.
/// - **S7** The online state changes views and listeners in one step.
/// - **S8** Nothing from an old stream epoch or a cancelled timer is applied.
/// - **S9** A local document is always overlay(remote document).
/// - **S10** A locally accepted write survives `kill -9` the moment its local snapshot is visible (durable cache).
package struct SyncCore: ~Copyable {
  package struct Configuration: Sendable {
    package var database: DatabaseID
    package var maximumLimboResolutions = LimboResolver.defaultMaximum
    package var isNetworkEnabled = true
    /// Above how many bytes the cache is collected in the background; `nil` for never.
    package var garbageCollectionThreshold: Int64?
    /// Keeps the slices of that short.
    package var slicePacer = SlicePacer.continuous

    package init(database: DatabaseID) { self.database = database }
  }

  /// Why the network is not used. It is used when there is no reason left.
  enum OfflineCause: Hashable, Sendable {
    case disabledByUser
    /// The store failed; until it works again nothing may arrive that would have to be stored.
    case storageFailed
    case userChanging
  }

  /// An operation that waits for the store to work again.
  enum Retry: Sendable {
    /// Only finds out whether the store works.
    case probe
    case acknowledge(MutationBatch, CommitResponse)
    case reject(MutationBatch, RPCStatus)
    case changeUser(String?)
    /// Opening the queue of pending writes.
    case start(String?)
    /// Views whose limit could not be refilled.
    case refill(Set<ViewID>)
  }

  let configuration: Configuration
  package var store: LocalStore
  var user: String?
  var random: any RandomNumberGenerator & Sendable

  var listeners = ListenerTable()
  var views = ViewTable()
  package internal(set) var limbo: LimboResolver

  var online = OnlineStateTracker()
  var offlineCauses: Set<OfflineCause> = []
  var retries: [Retry] = []
  /// Somebody who makes room on the disk waits for it to be noticed, and looking costs one transaction: 15 s at most.
  var retryBackoff = Backoff(longest: .seconds(10))
  /// The garbage collection under way, of which each turn of its timer does a slice.
  var garbageCollection: GarbageCollectionRun?
  /// Why the store does not work at present.
  var storeFailure: LocalStoreError?
  /// Set for good when what the cache holds turns out not to be what was stored.
  var damage: RPCStatus?
  var isStarted = false

  package internal(set) var plan = WatchPlan()
  package internal(set) var aggregator: WatchChangeAggregator
  package internal(set) var watchStream = ClientStream()
  package internal(set) var writeStream = ClientStream()
  package internal(set) var outbox = WriteOutbox()
  var log = PendingWriteLog()
  /// What the store holds for the current user; `nil` until somebody asks, and after each rejection.
  var rejected: [RejectedWrite]?
  /// The time by this device's clock, under which a rejection is kept. Whoever feeds the core keeps it current.
  package var time = Timestamp(seconds: 0)
  var waits: [(highest: BatchID, wait: PendingWritesWait)] = []

  /// Whether a slice of the index backfill is on its way.
  var isIndexBackfillScheduled = false

  /// Counts the changes that `EngineStatus` shows.
  package internal(set) var statusRevision = 0

  package init(
    _ store: consuming LocalStore, configuration: Configuration, random: any RandomNumberGenerator & Sendable
  ) {
    self.store = store
    self.store.backfillPacer = configuration.slicePacer
    self.configuration = configuration
    self.random = random
    limbo = LimboResolver(maximum: configuration.maximumLimboResolutions)
    aggregator = WatchChangeAggregator(database: configuration.database)
    if !configuration.isNetworkEnabled { offlineCauses.insert(.disabledByUser) }
  }

  /// Opens the user's queue and starts sending it.
  package mutating func start(user: String?, _ effects: inout [SyncEffect]) throws(LocalStoreError) {
    try store.start(user: user)
    log = PendingWriteLog(try store.pendingBatches())
    self.user = user
    isStarted = true
    if !canUseNetwork { _ = online.set(.offline) }
    fillPipeline(&effects)
    if configuration.garbageCollectionThreshold != nil {
      effects.append(.schedule(.garbageCollection, after: .seconds(60)))  // SDK: first run after a minute
    }
    statusRevision += 1
  }

  /// Closes the store.
  package consuming func close() { store.close() }

  package var onlineState: OnlineState { online.state }
  package var isNetworkEnabled: Bool { !offlineCauses.contains(.disabledByUser) }
  var canUseNetwork: Bool { offlineCauses.isEmpty }

  /// Applies a timer that ran out.
  package mutating func fire(_ timer: SyncTimer, _ effects: inout [SyncEffect]) {
    switch timer {
    case .onlineTimeout:
      changeOnlineState(&effects) {
        $0.timedOut()
        return .none
      }
    case .watchIdle: closeIdleWatchStream(&effects)
    case .writeIdle: closeIdleWriteStream(&effects)
    case .storeRetry: retryOldest(&effects)
    case .garbageCollection: collectGarbage(&effects)
    case .indexBackfill: backfillIndexes(&effects)
    }
  }
}
