// SPDX-License-Identifier: Apache-2.0
package import FirestoreClientState
package import FirestoreLocal
package import FirestoreModel
import FirestoreProtocol
package import FirestoreSQLite

/// The whole client state. Synchronous and deterministic, without task or network; times are arguments. Every
/// transition takes an event; the effects that it wants outside are taken by `takeEffects` afterwards, and performed in
/// that order.
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
    /// The size in bytes above which the cache is collected in the background; `nil` for never.
    package var garbageCollectionThreshold: Int64?
    /// Keeps the slices of the collection short.
    package var slicePacer = SlicePacer.continuous

    package init(database: DatabaseID) { self.database = database }
  }

  let configuration: Configuration
  package var store: LocalStore
  /// The jitter of waits.
  var random: any RandomNumberGenerator & Sendable

  var listens: Listens
  var watching: WatchPipeline
  var writes = WritePipeline()
  var network = Connectivity()
  var health = StoreHealth()
  var upkeep = Upkeep()
  /// The role of a client whose cache others may use as well; `nil` if the cache is not shared.
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

  /// Opens the user's queue and starts sending it.
  package mutating func start(user: String?) throws(StoreError) {
    try store.start(user: user)
    writes.begin(user, with: try store.pendingBatches())
    health.opened()
    // Views that were opened before a late start are offline already.
    if !network.isUsed, isPrimary { _ = network.changeOnlineState { $0.set(.offline) } }
    sendWrites()
    if configuration.garbageCollectionThreshold != nil {
      output.append(.schedule(.garbageCollection, after: .seconds(60)))  // SDK: first run after a minute
    }
    output.statusChanged()
  }

  /// Takes the effects that the transition wants outside, in order; ends the transition.
  package mutating func takeEffects() -> [SyncEffect] {
    scheduleIndexBackfill()
    store.wakeOthersIfTold()
    return output.takeEffects()
  }

  /// Closes the store.
  package consuming func close() { store.close() }

  /// Gives the store up as a process does that is killed.
  consuming func abandon() { store.abandon() }

  /// The online state as known from either stream. Snapshots for listeners go by the watch stream alone, as in the SDKs
  /// (`OnlineStateTracker`).
  package var onlineState: OnlineState { network.stateOfEitherStream }
  package var isNetworkEnabled: Bool { network.isEnabled }
  package var watchStream: ClientStream { watching.stream }
  package var writeStream: ClientStream { writes.stream }
  package var limbo: LimboResolver { listens.limbo }
  /// The number of changes so far that `ClientStatus` shows.
  package var statusRevision: Int { output.statusRevision }

  /// Applies a timer that ran out.
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
    // Handled by `refreshLease` and `expireWrites`, which need the time.
    case .leaseRefresh, .writeDeadline: break
    }
  }
}
