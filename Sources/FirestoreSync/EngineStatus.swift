// SPDX-License-Identifier: Apache-2.0
package import FirestoreLocal
package import FirestoreModel

/// One batch that the backend has not acknowledged.
package struct PendingWrite: Sendable {
  package enum State: Hashable, Sendable {
    /// The network is switched off, or not used because the cache cannot be written.
    case held
    /// Waits for its turn.
    case queued
    case inFlight
    /// Waits for the next attempt to connect.
    case backoff(until: Timestamp)
  }

  package var id: BatchID
  package var mutations: [Mutation]
  /// When the write was made, by this device's clock.
  package var localWriteTime: Timestamp
  /// Size of the encoded batch.
  package var byteCount: Int
  /// How often it was sent since the client was started.
  package var attempts: Int
  package var state: State
  /// Why the last attempt to send it failed.
  package var lastError: RPCStatus?
}

/// How much waits, whatever of it is listed.
package struct QueueSize: Hashable, Sendable {
  package var count: Int
  /// How many batches there were since the queue was last empty: so far is sending them.
  package var total: Int
  /// Encoded.
  package var byteCount: Int
}

/// How a batch left the queue.
package struct WriteOutcome: Sendable {
  /// Grows by one per outcome, so that an observer knows which it has seen.
  package var sequence: Int
  package var batch: BatchID
  /// From sending to the answer; `nil` for a batch that never left.
  package var after: Duration?
  /// `nil` for an acknowledgement; code `cancelled` for a batch that the user took back.
  package var rejection: RPCStatus?
}

package struct StreamStatus: Hashable, Sendable {
  package enum State: Hashable, Sendable {
    case closed, opening, open
    case backoff(until: Timestamp)
  }

  package var state: State
  package var lastError: RPCStatus?
}

/// The client's vital signs.
package struct EngineStatus: Sendable {
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
  /// Why the durable cache is not in use; `nil` if it is, or if memory was asked for.
  package var storageFallback: String?
  /// The kind of that failure.
  package var storageFailure: LocalStoreError.Kind?
  /// Whether the cache is on disk, so that what waits in it outlives the process.
  package var isDurable: Bool
  /// Why the store, wherever it is, does not work at present; the network is down until it does (`nextRetry`).
  package var storeFailure: RPCStatus?
}
