// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
import FirestoreSQLite

/// The one database that a cache and its queue of writes belong to. It is stored in the cache when that is first opened
/// for a database, and compared at every opening after: what waits in a queue is never sent to another database.
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

  /// - Parameter name: of a backend that lives in the memory of a process.
  package static func memory(_ name: String, _ database: DatabaseID) -> CacheIdentity {
    CacheIdentity(backend: "memory named \"\(name)\"", database: database)
  }

  /// As it is stored and shown.
  package var description: String { "\(database.name) of \(backend)" }
}

/// What a client asks of the cache that it opens.
package struct CacheClaim: Hashable, Sendable {
  /// A cache that has no owner yet, or comes from a version that did not note it, belongs to this database from
  /// now on.
  package var identity: CacheIdentity
  /// Whether the cache of another database is begun anew if no write waits in it. For a place that only ever has caches
  /// of this client's backend, so that another one's can only be left over from data that is gone.
  package var replacesOthers: Bool

  package init(_ identity: CacheIdentity, replacesOthers: Bool = false) {
    self.identity = identity
    self.replacesOthers = replacesOthers
  }
}

extension CacheDatabase {
  /// Beside the numbers in `globals`; no number of theirs.
  static let ownerName = "database_identity"

  /// The database that the cache belongs to; `nil` for one that was never claimed, or that a version made
  /// which did not note its owner.
  var owner: String? {
    get throws(StoreError) {
      try connection.first("SELECT value FROM globals WHERE name = ?", Self.ownerName) { $0.text(0) }
    }
  }

  /// Batches that wait and batches that were refused, of all users.
  var keptWriteCount: Int64 {
    get throws(StoreError) {
      try connection.integer("SELECT (SELECT count(*) FROM mutation_batches) + (SELECT count(*) FROM rejected_writes)")
        ?? 0
    }
  }

  /// Has the cache belong to a database from now on, if it does not already.
  /// - Returns: `false` for another database's that may be begun anew.
  /// - Throws: `foreign` for another database's that may not.
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
