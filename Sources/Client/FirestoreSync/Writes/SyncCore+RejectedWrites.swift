// SPDX-License-Identifier: Apache-2.0
package import FirestoreClientState
import FirestoreLocal
package import FirestoreModel
package import FirestoreSQLite

extension SyncCore {
  /// The current user's writes that the backend rejected, in the order in which they were made.
  package mutating func rejectedWrites() throws(StoreError) -> [RejectedWrite] {
    if let rejected = writes.answers.rejected { return rejected }
    let rejected = try store.rejectedWrites()
    writes.answers.rejectedWritesRead(rejected)
    return rejected
  }

  /// Puts a rejected write into the queue again, as the newest; it leaves the rejected ones in the same transaction.
  /// - Parameter mutations: the mutations to write instead of the rejected ones.
  /// - Returns: the write's new number.
  /// - Throws: `not-found` for a write that is not among the rejected ones, and errors of the store.
  package mutating func resend(
    _ id: BatchID, as mutations: [Mutation]?, at now: Timestamp
  ) throws(RPCStatus) -> BatchID {
    let batch: BatchID?
    do throws(StoreError) {
      let found = try rejectedWrites().first { $0.id == id }
      batch = try found.map { write throws(StoreError) in
        try self.write(mutations ?? write.mutations, at: now, insteadOf: id)
      }
    } catch {
      throw error.status
    }
    guard let batch else { throw Self.notRejected(id) }
    writes.answers.rejectedWriteLeft(id)
    return batch
  }

  /// Forgets a rejected write.
  /// - Throws: `not-found` for a write that is not among the rejected ones, and errors of the store.
  package mutating func dropRejectedWrite(_ id: BatchID) throws(RPCStatus) {
    let wasThere: Bool
    do throws(StoreError) {
      wasThere = try store.dropRejectedWrite(id)
    } catch {
      throw error.status
    }
    guard wasThere else { throw Self.notRejected(id) }
    writes.answers.rejectedWriteLeft(id)
    output.statusChanged()
  }

  /// - Returns: the number of writes that were forgotten.
  package mutating func dropAllRejectedWrites() throws(StoreError) -> Int {
    let count = try store.dropAllRejectedWrites()
    writes.answers.rejectedWritesRead([])
    output.statusChanged()
    return count
  }

  private static func notRejected(_ id: BatchID) -> RPCStatus {
    RPCStatus(.notFound, "Write \(id) is not among the rejected writes; it was sent again or dropped.")
  }
}
