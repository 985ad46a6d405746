// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

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
  /// A cache that belongs to nobody yet, or comes from a version that did not note it, belongs to this database from
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
