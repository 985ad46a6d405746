// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
import FirestoreSQLite

/// The one database that a cache and its queue of writes belong to. It is stored in the cache when the cache is first
/// opened for a database, and compared at every later opening: writes that wait in a queue are never sent to another
/// database.
package struct CacheIdentity: Hashable, Sendable, CustomStringConvertible {
  private let backend: String
  private let database: DatabaseID

  /// - Parameter instance: the random number that an embedded backend draws when its data is made.
  package static func embedded(_ instance: [UInt8], _ database: DatabaseID) -> CacheIdentity {
    CacheIdentity(backend: "embedded data \(Hexadecimal.text(instance))", database: database)
  }

  /// - Parameter address: `HOST:PORT`; upper and lower case are the same.
  package static func server(_ address: String, _ database: DatabaseID) -> CacheIdentity {
    CacheIdentity(backend: address.lowercased(), database: database)
  }

  /// - Parameter name: the name of a backend that lives in the memory of a process.
  package static func memory(_ name: String, _ database: DatabaseID) -> CacheIdentity {
    CacheIdentity(backend: "memory named \"\(name)\"", database: database)
  }

  /// The identity as the cache stores it and as users see it.
  package var description: String { "\(database.name) of \(backend)" }
}

/// The demand of a client on the owner of the cache that it opens.
package struct CacheClaim: Hashable, Sendable {
  /// A cache that has no owner yet, or comes from a version that did not note it, belongs to this database from
  /// now on.
  package var identity: CacheIdentity
  /// Whether the cache of another database is begun anew if no write waits in it. Meant for a place that only ever has
  /// caches of this client's backend, so that another database's cache can only be left over from data that is gone.
  package var replacesOthers: Bool

  package init(_ identity: CacheIdentity, replacesOthers: Bool = false) {
    self.identity = identity
    self.replacesOthers = replacesOthers
  }
}

extension CacheDatabase {
  /// The name of the owner's row in `globals`, whose other rows are the numbers of `Globals`.
  static let ownerName = "database_identity"

  /// The database that the cache belongs to; `nil` for a cache that was never claimed.
  var owner: String? {
    get throws(StoreError) {
      try connection.first("SELECT value FROM globals WHERE name = ?", Self.ownerName) { $0.text(0) }
    }
  }

  /// The number of batches that wait and of batches that were refused, of all users.
  var keptWriteCount: Int64 {
    get throws(StoreError) {
      try connection.integer("SELECT (SELECT count(*) FROM mutation_batches) + (SELECT count(*) FROM rejected_writes)")
        ?? 0
    }
  }

  /// Has the cache belong to the database of the claim from now on, if it does not already.
  /// - Returns: `false` if the cache belongs to another database and may be begun anew.
  /// - Throws: `foreign` if the cache belongs to another database and may not be begun anew.
  func accept(_ claim: CacheClaim, in path: String) throws(StoreError) -> Bool {
    let identity = claim.identity.description
    guard let owner = try owner else {
      try transaction { () throws(StoreError) in
        try connection.run("INSERT INTO globals (name, value) VALUES (?, ?)", Self.ownerName, identity)
      }
      return true
    }
    if owner == identity { return true }
    let count = try keptWriteCount
    if count == 0, claim.replacesOthers { return false }
    let contents = count == 0 ? "" : ", and \(count == 1 ? "a write is" : "\(count) writes are") kept in it"
    throw StoreError(
      .foreign,
      "The cache in \(path) is that of \(owner)\(contents). It is not used for \(identity): use another cache "
        + "directory, or move this one away.")
  }
}
