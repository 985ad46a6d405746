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
      engine.queue(handle) { core, effects throws(RPCStatus) in
        try core.resend(id, as: mutations, at: time, &effects)
      }
    }
    return handle
  }

  /// Forgets a rejected write.
  /// - Throws: `not-found` for a write that is not among the rejected ones.
  package func dropRejectedWrite(_ id: BatchID) async throws(RPCStatus) {
    guard core != nil else { throw .terminated }
    var failure: RPCStatus?
    transition { core, _ in
      do throws(RPCStatus) { try core.dropRejectedWrite(id) } catch { failure = error }
    }
    if let failure { throw failure }
  }

  /// - Returns: how many rejected writes were forgotten.
  package func dropAllRejectedWrites() async throws(RPCStatus) -> Int {
    try change { core, _ throws(LocalStoreError) in try core.dropAllRejectedWrites() }
  }
}
