// SPDX-License-Identifier: Apache-2.0
import FirestoreLocal
package import FirestoreModel
package import FirestoreProtocol
import FirestoreSQLite

/// A handle for the two stages of a write: stored locally, and answered by the backend.
package struct WriteHandle: Sendable {
  let stored = OneShot<BatchID>()
  let answered = OneShot<CommitResponse>()

  /// The batch id. Available as soon as the write is stored in the cache and its local snapshots are being delivered.
  /// - Throws: the cache's error if it cannot store the write. In this case nothing changes.
  package var local: BatchID { get async throws(RPCStatus) { try await stored.value } }

  /// Returns when the backend has acknowledged the write. Waits while the client is offline.
  /// - Throws: the backend's rejection, or the cache's error if it cannot store the write.
  package var acknowledged: CommitResponse { get async throws(RPCStatus) { try await answered.value } }

  /// Registers `body` to run on the engine's queue when the backend has answered. It runs before any snapshot with the
  /// result is delivered (S3). Therefore, if `body` and a listener enqueue work on the same queue, the work that `body`
  /// enqueues runs first. `body` must not block.
  package func whenAnswered(_ body: @escaping @Sendable (Result<CommitResponse, RPCStatus>) -> Void) {
    answered.whenResolved(body)
  }
}

extension SyncEngine {
  /// Adds a rejected write to the end of the queue again.
  /// - Parameter mutations: the mutations to write instead of the rejected ones.
  package nonisolated func resend(_ id: BatchID, as mutations: [Mutation]? = nil) -> WriteHandle {
    let handle = WriteHandle()
    submit { engine in
      let time = engine.now()
      engine.queue(handle) { core throws(RPCStatus) in try core.resend(id, as: mutations, at: time) }
    }
    return handle
  }

  /// Removes an unsent write from the queue and stores it as a rejected write.
  /// - Throws: `not-found` if the batch is not pending; `failed-precondition` if it is in flight, or if another client
  ///   of the cache runs the streams.
  package func setWriteAside(_ id: BatchID) async throws(RPCStatus) {
    let time = now()
    try change { core throws(RPCStatus) in try core.setWriteAside(id, at: time) }
  }

  /// Drops a rejected write.
  /// - Throws: `not-found` if no rejected write has this number.
  package func dropRejectedWrite(_ id: BatchID) async throws(RPCStatus) {
    try change { core throws(RPCStatus) in try core.dropRejectedWrite(id) }
  }

  /// - Returns: the number of dropped writes.
  package func dropAllRejectedWrites() async throws(RPCStatus) -> Int {
    try change { core throws(StoreError) in try core.dropAllRejectedWrites() }
  }
}

/// An internal error of the client, with a conversion to the error that callers receive.
protocol ClientFailure: Error {
  var status: RPCStatus { get }
}

extension RPCStatus: ClientFailure {
  var status: RPCStatus { self }
}

extension StoreError: ClientFailure {
  var status: RPCStatus { RPCStatus(code, message) }
}

extension RPCStatus {
  package static let terminated = RPCStatus(.failedPrecondition, "The client has already been terminated.")
}
