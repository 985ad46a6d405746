// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

/// One batch that the backend has not acknowledged.
package struct PendingWrite: Codable, Equatable, Sendable {
  package enum State: Codable, Hashable, Sendable {
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

  package init(
    id: BatchID, mutations: [Mutation], localWriteTime: Timestamp, byteCount: Int, attempts: Int, state: State,
    lastError: RPCStatus? = nil
  ) {
    self.id = id
    self.mutations = mutations
    self.localWriteTime = localWriteTime
    self.byteCount = byteCount
    self.attempts = attempts
    self.state = state
    self.lastError = lastError
  }
}

/// How much waits, whatever of it is listed.
package struct QueueSize: Codable, Hashable, Sendable {
  package var count: Int
  /// How many batches there were since the queue was last empty: so far is sending them.
  package var total: Int
  /// Encoded.
  package var byteCount: Int

  package init(count: Int = 0, total: Int = 0, byteCount: Int = 0) {
    self.count = count
    self.total = total
    self.byteCount = byteCount
  }
}

/// How a batch left the queue.
package struct WriteOutcome: Codable, Sendable {
  /// Grows by one per outcome, so that an observer knows which it has seen.
  package var sequence: Int
  package var batch: BatchID
  /// From sending to the answer; `nil` for a batch that never left.
  package var after: Duration?
  /// `nil` for an acknowledgement; code `cancelled` for a batch that the user took back.
  package var rejection: RPCStatus?
  /// When the backend applied the batch, by its clock; `nil` for one that it did not apply.
  package var commitTime: SnapshotVersion?

  package init(
    sequence: Int, batch: BatchID, after: Duration?, rejection: RPCStatus?, commitTime: SnapshotVersion? = nil
  ) {
    self.sequence = sequence
    self.batch = batch
    self.after = after
    self.rejection = rejection
    self.commitTime = commitTime
  }
}

/// A batch that the backend refused for good, kept so that nothing a user wrote is lost without a trace.
package struct RejectedWrite: Codable, Equatable, Sendable {
  /// The number under which the batch waited; no other batch ever gets it.
  package var id: BatchID
  package var mutations: [Mutation]
  /// When the write was made, by this device's clock.
  package var localWriteTime: Timestamp
  package var rejection: Rejection
  /// Size of the encoded batch.
  package var byteCount: Int

  package init(
    id: BatchID, mutations: [Mutation], localWriteTime: Timestamp, rejection: Rejection, byteCount: Int
  ) {
    self.id = id
    self.mutations = mutations
    self.localWriteTime = localWriteTime
    self.rejection = rejection
    self.byteCount = byteCount
  }
}

/// The backend's last word on a batch.
package struct Rejection: Codable, Hashable, Sendable {
  package var status: RPCStatus
  /// By this device's clock.
  package var time: Timestamp
  /// How often the batch was sent since the client was started.
  package var attempts: Int

  package init(status: RPCStatus, time: Timestamp, attempts: Int) {
    self.status = status
    self.time = time
    self.attempts = attempts
  }
}
