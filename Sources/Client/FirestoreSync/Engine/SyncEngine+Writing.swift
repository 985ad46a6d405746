// SPDX-License-Identifier: Apache-2.0
import FirestoreLocal
package import FirestoreModel
package import FirestoreProtocol
import FirestoreSQLite

/// Both stages of a write.
package struct WriteHandle: Sendable {
  let stored = OneShot<BatchID>()
  let answered = OneShot<CommitResponse>()

  /// The batch id, once the write is durable in the cache and its local snapshots are under way.
  /// - Throws: why the cache could not keep it; then nothing happened.
  package var local: BatchID { get async throws(RPCStatus) { try await stored.value } }

  /// Returns once the backend has acknowledged, however long the client is offline.
  /// - Throws: the backend's rejection, or why the cache could not keep the write.
  package var acknowledged: CommitResponse { get async throws(RPCStatus) { try await answered.value } }

  /// Calls on the engine's queue when the backend has answered, before any snapshot that contains the result is
  /// delivered (S3): what the body enqueues elsewhere comes before what listeners enqueue there. It must not block.
  package func whenAnswered(_ body: @escaping @Sendable (Result<CommitResponse, RPCStatus>) -> Void) {
    answered.whenResolved(body)
  }
}

extension SyncEngine {
  /// Queues a rejected write again, as the newest of the queue.
  /// - Parameter mutations: what to write instead of what was rejected.
  package nonisolated func resend(_ id: BatchID, as mutations: [Mutation]? = nil) -> WriteHandle {
    let handle = WriteHandle()
    submit { engine in
      let time = engine.now()
      engine.queue(handle) { core throws(RPCStatus) in try core.resend(id, as: mutations, at: time) }
    }
    return handle
  }

  /// Takes a write out of the queue that was not sent, and keeps it among the rejected ones.
  /// - Throws: `not-found` for a batch that is not pending, `failed-precondition` for one in flight, or if another
  ///   client of the cache has the streams.
  package func setWriteAside(_ id: BatchID) async throws(RPCStatus) {
    let time = now()
    try change { core throws(RPCStatus) in try core.setWriteAside(id, at: time) }
  }

  /// Forgets a rejected write.
  /// - Throws: `not-found` for a write that is not among the rejected ones.
  package func dropRejectedWrite(_ id: BatchID) async throws(RPCStatus) {
    try change { core throws(RPCStatus) in try core.dropRejectedWrite(id) }
  }

  /// - Returns: how many rejected writes were forgotten.
  package func dropAllRejectedWrites() async throws(RPCStatus) -> Int {
    try change { core throws(StoreError) in try core.dropAllRejectedWrites() }
  }
}

/// An error inside the client, with the form that its callers get.
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
