// SPDX-License-Identifier: Apache-2.0
package import FirestoreClientState
package import FirestoreModel
package import FirestoreSQLite

extension LocalStore {
  /// The clients that share the cache, as they said last, and which of them has the lease; `nil` for a cache that no
  /// other can use.
  /// - Parameter now: the time for this client, which is there.
  package func company(at now: Timestamp) throws(StoreError) -> CacheCompany? {
    guard let sharing = database.sharing else { return nil }
    return try database.read { () throws(StoreError) in
      let lease = try sharing.tables.lease()
      let members = try sharing.tables.clients().filter { sharing.presence.isTaken($0.id) }.map { client in
        let isSelf = client.id == sharing.id
        return CacheCompany.Member(
          process: sharing.presence.process(at: client.id), isSelf: isSelf, hasLease: lease?.holder == client.id,
          usesNetwork: client.usesNetwork, isVisible: client.isVisible,
          seen: isSelf ? now : Timestamp(microseconds: client.alive))
      }
      return CacheCompany(members: members, renewed: lease.map { Timestamp(microseconds: $0.time) })
    }
  }
}
