// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
package import FirestoreSQLite
import Foundation

/// The database that a cache and its write queue belong to. The cache stores this identity when it is first opened, and
/// compares it each time it is opened again. Therefore pending writes are never sent to another database.
package struct CacheIdentity: Hashable, Sendable, CustomStringConvertible {
  private let backend: String
  private let database: DatabaseID

  /// - Parameter instance: the random number that an embedded backend generates when it creates its data.
  package static func embedded(_ instance: [UInt8], _ database: DatabaseID) -> CacheIdentity {
    CacheIdentity(backend: "embedded data \(Hexadecimal.text(instance))", database: database)
  }

  /// - Parameter address: `HOST:PORT`, case-insensitive.
  package static func server(_ address: String, _ database: DatabaseID) -> CacheIdentity {
    CacheIdentity(backend: address.lowercased(), database: database)
  }

  /// - Parameter name: the name of an in-memory backend.
  package static func memory(_ name: String, _ database: DatabaseID) -> CacheIdentity {
    CacheIdentity(backend: "memory named \"\(name)\"", database: database)
  }

  /// The identity in the form that the cache stores and that error messages contain.
  package var description: String { "\(database.name) of \(backend)" }
}

/// The identity that a client requires of a cache when opening it.
package struct CacheClaim: Hashable, Sendable {
  /// The client's database. A cache without an owner is assigned to this database, because early versions stored no
  /// owner.
  package var identity: CacheIdentity
  /// Whether to replace a cache of another database with an empty one, if the old cache has no pending writes. Set it
  /// only for a directory that contains no caches of other backends. There, the cache of another database can only be
  /// left over from deleted data.
  package var replacesOthers: Bool

  package init(_ identity: CacheIdentity, replacesOthers: Bool = false) {
    self.identity = identity
    self.replacesOthers = replacesOthers
  }
}

extension CacheDatabase {
  /// The name of the row in the table `globals` that contains the owner. The other rows of that table contain the
  /// numbers of `Globals`.
  static let ownerName = "database_identity"

  /// The database that the cache belongs to; `nil` for a cache that was never claimed.
  var owner: String? {
    get throws(StoreError) {
      try connection.first("SELECT value FROM globals WHERE name = ?", Self.ownerName) { $0.text(0) }
    }
  }

  /// The number of pending and rejected batches of all users.
  var keptWriteCount: Int64 {
    get throws(StoreError) {
      try connection.integer("SELECT (SELECT count(*) FROM mutation_batches) + (SELECT count(*) FROM rejected_writes)")
        ?? 0
    }
  }

  /// Assigns the cache to the claim's database, unless the cache already has an owner.
  /// - Returns: `false` if the cache belongs to another database and may be replaced.
  /// - Throws: `foreign` if the cache belongs to another database and may not be replaced.
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
    let contents = count == 0 ? "" : ", and \(count == 1 ? "a write is" : "\(count) writes are") stored in it"
    throw StoreError(
      .foreign,
      "The cache in \(path) belongs to \(owner)\(contents). It cannot be used for \(identity). Use another "
        + "cache directory, or move this one away.")
  }
}

extension LocalStore {
  /// Whether a directory contains a durable cache, even a damaged one.
  package static func exists(in path: String) -> Bool { CacheDatabase.files(in: path).exists }
}

extension LocalStore {
  /// Notifies the clients of a shared durable cache before it is deleted, so that they close it. Does nothing if there
  /// is no cache.
  package static func announceErasure(of path: String) throws(StoreError) {
    guard exists(in: path) else { return }
    let database = try CacheDatabase.open(in: path, claim: nil, use: .shared)
    defer { database.close() }
    try database.transaction { () throws(StoreError) in try database.sharing?.tell(.cleared) }
  }

  /// Notifies the clients of a shared durable cache, waits until they have closed the cache, and deletes it.
  /// - Parameter clock: measures the five seconds that clients have to close the cache.
  /// - Throws: the errors of `erase`, and `locked` if a client does not close the cache in time, for example because
  ///   its process is stopped.
  package static func eraseShared(_ path: String, clock: any Clock<Duration>) async throws(StoreError) {
    let refusal: StoreError
    do throws(StoreError) { return try erase(path) } catch { refusal = error }
    guard refusal.kind == .locked else { throw refusal }
    // Fails if one client has exclusive use of the cache. Such a client reads no notices.
    do throws(StoreError) { try announceErasure(of: path) } catch { throw refusal }
    for _ in 0..<100 {
      do throws(StoreError) { return try erase(path) } catch { if error.kind != .locked { throw error } }
      // Canceling the task cancels the deletion.
      guard (try? await clock.sleep(for: .milliseconds(50))) != nil else { throw refusal }
    }
    throw refusal
  }

  /// Deletes a durable cache: the database, its write-ahead log, and damaged files that were moved aside. Does nothing
  /// if there is none.
  /// - Throws: `locked` if a store has the cache open; `notWritable`.
  package static func erase(_ path: String) throws(StoreError) {
    guard FileManager.default.fileExists(atPath: path) else { return }
    // Held until everything is deleted, so that no store opens the cache meanwhile.
    let directory = try CacheDatabase.hold(path)
    do {
      try FileManager.default.removeItem(atPath: directory.path)
    } catch {
      throw StoreError(
        .notWritable,
        "The cache in \(path) cannot be deleted: \(error.localizedDescription). Check its permissions.")
    }
  }
}
