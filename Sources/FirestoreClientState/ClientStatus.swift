// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

/// The client's vital signs.
package struct ClientStatus: Codable, Sendable {
  package var onlineState: OnlineState
  package var isNetworkEnabled: Bool
  /// Why the client is not online; `nil` while it is.
  package var reason: ConnectionReason?
  /// When the next attempt begins, to connect or to write the cache; `nil` unless one is being waited for.
  package var nextRetry: Timestamp?
  /// Since when `onlineState` holds.
  package var since: Timestamp
  package var watch: StreamStatus
  package var write: StreamStatus
  package var activeTargets: Int
  /// What was read for each of them that a listener wants.
  package var reads: [ReadMeter]
  package var activeLimboResolutions: Int
  package var inFlightWrites: Int
  /// All that waits, oldest first, or its first and its last as was asked for.
  package var pendingWrites: [PendingWrite]
  package var queue: QueueSize
  /// What the backend refused, in the order in which it was written, until it is sent again or dropped.
  package var rejectedWrites: [RejectedWrite]
  /// The local indexes and how far each of them is.
  package var indexes: [IndexState]
  /// When the backend's newest consistent snapshot arrived.
  package var lastSnapshotAt: Timestamp?
  /// Send to acknowledgement of recent batches, newest last, at most 64.
  package var roundTrips: [Duration]
  /// Newest last, at most 64.
  package var recentOutcomes: [WriteOutcome]
  /// The size of the cache; `nil` if it cannot be told.
  package var cacheByteCount: Int64?
  /// Above which size the cache is collected; `nil` for never.
  package var cacheLimit: Int64?
  /// Whether the cache is on disk, so that what waits in it outlives the process.
  package var isDurable: Bool
  /// Why the store, wherever it is, does not work at present; the network is down until it does (`nextRetry`).
  package var storeFailure: RPCStatus?

  package init(
    onlineState: OnlineState = .unknown, isNetworkEnabled: Bool = true, reason: ConnectionReason? = nil,
    nextRetry: Timestamp? = nil, since: Timestamp, watch: StreamStatus = StreamStatus(),
    write: StreamStatus = StreamStatus(), activeTargets: Int = 0, reads: [ReadMeter] = [],
    activeLimboResolutions: Int = 0, inFlightWrites: Int = 0, pendingWrites: [PendingWrite] = [],
    queue: QueueSize = QueueSize(),
    rejectedWrites: [RejectedWrite] = [], indexes: [IndexState] = [], lastSnapshotAt: Timestamp? = nil,
    roundTrips: [Duration] = [], recentOutcomes: [WriteOutcome] = [], cacheByteCount: Int64? = nil,
    cacheLimit: Int64? = nil, isDurable: Bool = true, storeFailure: RPCStatus? = nil
  ) {
    self.onlineState = onlineState
    self.isNetworkEnabled = isNetworkEnabled
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
  }

  /// Whether listeners are served by the cache and writes wait.
  package var isOffline: Bool { !isNetworkEnabled || onlineState == .offline }

  /// What is wrong with the connection; `nil` where it is as the user or the program wants it.
  package var trouble: String? { reason.flatMap { $0.isFailure ? $0.description : nil } }
}
