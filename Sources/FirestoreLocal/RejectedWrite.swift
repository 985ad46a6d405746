// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

/// A batch that the backend refused for good, kept so that nothing a user wrote is lost without a trace.
package struct RejectedWrite: Equatable, Sendable {
  /// The number under which the batch waited; no other batch ever gets it.
  package var id: BatchID
  package var mutations: [Mutation]
  /// When the write was made, by this device's clock.
  package var localWriteTime: Timestamp
  package var rejection: Rejection
  /// Size of the encoded batch.
  package var byteCount: Int
}

/// The backend's last word on a batch.
package struct Rejection: Hashable, Sendable {
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
