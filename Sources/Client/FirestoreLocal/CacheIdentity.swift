// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
package import FirestoreSQLite
import Foundation

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

extension LocalStore {
  /// Whether a directory holds a durable cache, in whatever state.
  package static func exists(in path: String) -> Bool { CacheDatabase.files(in: path).exists }
}

extension LocalStore {
  /// Tells the clients that share a durable cache, if there are any, that it is about to be deleted, so that they let
  /// go of it. Nothing happens if there is no cache.
  package static func announceErasure(of path: String) throws(StoreError) {
    guard exists(in: path) else { return }
    let database = try CacheDatabase.open(in: path, claim: nil, use: .shared)
    defer { database.close() }
    try database.transaction { () throws(StoreError) in try database.sharing?.tell(.cleared) }
  }

  /// Deletes a durable cache, and ends the clients that share it before.
  /// - Parameter clock: measures the time that the clients may take to let go of it: five seconds.
  /// - Throws: as `erase`; `locked` also for a client that does not let go, because its process is stopped.
  package static func eraseShared(_ path: String, clock: any Clock<Duration>) async throws(StoreError) {
    let refusal: StoreError
    do throws(StoreError) { return try erase(path) } catch { refusal = error }
    guard refusal.kind == .locked else { throw refusal }
    // A client that has the cache alone gets no notice.
    do throws(StoreError) { try announceErasure(of: path) } catch { throw refusal }
    for _ in 0..<100 {
      do throws(StoreError) { return try erase(path) } catch { if error.kind != .locked { throw error } }
      // A cancelled task means that the cache is not to be deleted.
      guard (try? await clock.sleep(for: .milliseconds(50))) != nil else { throw refusal }
    }
    throw refusal
  }

  /// Deletes a durable cache: the database with its log, and files that were moved aside. Nothing happens if there is
  /// none.
  /// - Throws: `locked` if a store has it open; `notWritable`.
  package static func erase(_ path: String) throws(StoreError) {
    guard FileManager.default.fileExists(atPath: path) else { return }
    // Held until all is gone, so that no store opens what is being deleted.
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
