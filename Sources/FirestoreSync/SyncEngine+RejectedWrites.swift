// SPDX-License-Identifier: Apache-2.0
import FirestoreLocal
package import FirestoreModel

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

  /// Forgets a rejected write.
  /// - Throws: `not-found` for a write that is not among the rejected ones.
  package func dropRejectedWrite(_ id: BatchID) async throws(RPCStatus) {
    try change { core throws(RPCStatus) in try core.dropRejectedWrite(id) }
  }

  /// - Returns: how many rejected writes were forgotten.
  package func dropAllRejectedWrites() async throws(RPCStatus) -> Int {
    try change { core throws(LocalStoreError) in try core.dropAllRejectedWrites() }
  }
}
