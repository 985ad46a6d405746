// SPDX-License-Identifier: Apache-2.0
package import FirestoreClientState
package import FirestoreModel

extension LocalStore {
  /// The current user's writes that the backend refused, in the order in which they were made. Bounded: of more than
  /// 1 000 writes or 10 MiB the oldest are forgotten, but never the one that was refused last.
  package func rejectedWrites() throws(LocalStoreError) -> [RejectedWrite] {
    try database.read { () throws(LocalStoreError) in try database.rejectedWrites.writes(of: user) }
  }

  /// - Returns: whether the current user had it.
  package mutating func dropRejectedWrite(_ id: BatchID) throws(LocalStoreError) -> Bool {
    let (database, user) = (database, user)
    return try database.transaction { () throws(LocalStoreError) in
      try database.rejectedWrites.remove(id, of: user)
    }
  }

  /// - Returns: how many the current user had.
  package mutating func dropAllRejectedWrites() throws(LocalStoreError) -> Int {
    let (database, user) = (database, user)
    return try database.transaction { () throws(LocalStoreError) in
      try database.rejectedWrites.removeAll(of: user)
    }
  }
}
