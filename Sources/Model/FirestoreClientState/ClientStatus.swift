// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

/// The state of a client: its connection, listeners, pending writes and cache.
package struct ClientStatus: Sendable {
  package var onlineState: OnlineState
  package var isNetworkEnabled: Bool
  /// Whether the network was disabled by a program that watches the client, and not by the client's own program.
  package var isDisabledByWatcher: Bool
  /// The reason why the client is not online; `nil` while the client is online.
  package var reason: ConnectionReason?
  /// The time of the next attempt to connect or to write to the cache; `nil` if no attempt is scheduled.
  package var nextRetry: Timestamp?
  /// The time of the last change of `onlineState`.
  package var since: Timestamp
  package var watch: StreamStatus
  package var write: StreamStatus
  package var activeTargets: Int
  /// The number of documents that the backend sent for each active target with a listener.
  package var reads: [ReadMeter]
  package var activeLimboResolutions: Int
  package var inFlightWrites: Int
  /// The pending batches, oldest first. The list contains all batches or only the first and last ones, as the caller
  /// requested.
  package var pendingWrites: [PendingWrite]
  package var queue: QueueSize
  /// The batches that the backend rejected, in the order in which they were written. A batch remains in the list until
  /// it is sent again or dropped.
  package var rejectedWrites: [RejectedWrite]
  /// The local indexes, each with the progress of building it.
  package var indexes: [IndexState]
  /// The time at which the backend's newest consistent snapshot arrived.
  package var lastSnapshotAt: Timestamp?
  /// The times from sending a batch to its acknowledgement, for at most 64 recent batches, newest last.
  package var roundTrips: [Duration]
  /// The outcomes of at most 64 recent batches, newest last.
  package var recentOutcomes: [WriteOutcome]
  /// The size of the cache in bytes; `nil` if unknown.
  package var cacheByteCount: Int64?
  /// The cache size in bytes above which the client evicts documents; `nil` if there is no limit.
  package var cacheLimit: Int64?
  /// Whether the cache is on disk, so that pending writes remain after the process ends.
  package var isDurable: Bool
  /// The error of the store (on disk or in memory); `nil` if it works. While the store fails, the client remains
  /// disconnected (`nextRetry`).
  package var storeFailure: RPCStatus?
  /// The pins and lifetimes of the cache; `nil` if unknown.
  package var retentions: [Retention]?

  package init(
    onlineState: OnlineState = .unknown, isNetworkEnabled: Bool = true, isDisabledByWatcher: Bool = false,
    reason: ConnectionReason? = nil,
    nextRetry: Timestamp? = nil, since: Timestamp, watch: StreamStatus = StreamStatus(),
    write: StreamStatus = StreamStatus(), activeTargets: Int = 0, reads: [ReadMeter] = [],
    activeLimboResolutions: Int = 0, inFlightWrites: Int = 0, pendingWrites: [PendingWrite] = [],
    queue: QueueSize = QueueSize(),
    rejectedWrites: [RejectedWrite] = [], indexes: [IndexState] = [], lastSnapshotAt: Timestamp? = nil,
    roundTrips: [Duration] = [], recentOutcomes: [WriteOutcome] = [], cacheByteCount: Int64? = nil,
    cacheLimit: Int64? = nil, isDurable: Bool = true, storeFailure: RPCStatus? = nil,
    retentions: [Retention]? = nil
  ) {
    self.onlineState = onlineState
    self.isNetworkEnabled = isNetworkEnabled
    self.isDisabledByWatcher = isDisabledByWatcher
    self.reason = reason
    self.nextRetry = nextRetry
    self.since = since
    self.watch = watch
    self.write = write
    self.activeTargets = activeTargets
    self.reads = reads
    self.activeLimboResolutions = activeLimboResolutions
    self.inFlightWrites = inFlightWrites
    self.pendingWrites = pendingWrites
    self.queue = queue
    self.rejectedWrites = rejectedWrites
    self.indexes = indexes
    self.lastSnapshotAt = lastSnapshotAt
    self.roundTrips = roundTrips
    self.recentOutcomes = recentOutcomes
    self.cacheByteCount = cacheByteCount
    self.cacheLimit = cacheLimit
    self.isDurable = isDurable
    self.storeFailure = storeFailure
    self.retentions = retentions
  }

  /// Whether the client is offline, so that listeners use the cache and writes wait.
  package var isOffline: Bool { !isNetworkEnabled || onlineState == .offline }

  /// The description of the connection's failure; `nil` if there is none. If the user or the program disconnected the
  /// client, this is not a failure.
  package var trouble: String? { reason.flatMap { $0.isFailure ? $0.description : nil } }
}

/// A notice that the data or the cache is not where the user expects it, with the reason.
package struct StorageNotice: Hashable, Sendable {
  /// A short text for the dashboard's header, such as `IN MEMORY: cache locked`; `nil` if the header does not show the
  /// notice.
  package var badge: String?
  /// The problem and its remedy.
  package var message: String

  package init(badge: String? = nil, message: String) {
    self.badge = badge
    self.message = message
  }
}
