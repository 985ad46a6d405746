// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
package import FirestoreSQLite
import Foundation

/// The one database that a cache and its write queue belong to. The cache stores it when it is first opened for a
/// database and compares it at every later opening. Pending writes are therefore never sent to another database.
package struct CacheIdentity: Hashable, Sendable, CustomStringConvertible {
  private let backend: String
  private let database: DatabaseID

  /// - Parameter instance: the random number that an embedded backend draws when its data is created.
  package static func embedded(_ instance: [UInt8], _ database: DatabaseID) -> CacheIdentity {
    CacheIdentity(backend: "embedded data \(Hexadecimal.text(instance))", database: database)
  }

  /// - Parameter address: `HOST:PORT`, case-insensitive.
  package static func server(_ address: String, _ database: DatabaseID) -> CacheIdentity {
    CacheIdentity(backend: address.lowercased(), database: database)
  }

  /// - Parameter name: the name of a backend in the memory of a process.
  package static func memory(_ name: String, _ database: DatabaseID) -> CacheIdentity {
    CacheIdentity(backend: "memory named \"\(name)\"", database: database)
  }

  /// The identity as the cache stores it and as users see it.
  package var description: String { "\(database.name) of \(backend)" }
}

/// The identity that a client requires of the cache that it opens.
package struct CacheClaim: Hashable, Sendable {
  /// The database of the client. A cache without an owner, or from a version that did not store one, belongs to it from
  /// now on.
  package var identity: CacheIdentity
  /// Whether to replace another database's cache with an empty one if it has no pending writes. Meant for a directory
  /// that only has caches of this client's backend: another database's cache there can only come from deleted data.
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

  /// The number of pending and rejected batches, of all users.
  var keptWriteCount: Int64 {
    get throws(StoreError) {
      try connection.integer("SELECT (SELECT count(*) FROM mutation_batches) + (SELECT count(*) FROM rejected_writes)")
        ?? 0
    }
  }

  /// Assigns the cache to the claim's database, unless it has an owner.
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
  /// Whether a directory contains a durable cache, in any state.
  package static func exists(in path: String) -> Bool { CacheDatabase.files(in: path).exists }
}

extension LocalStore {
  /// Notifies the clients that share a durable cache that it is about to be deleted, so that they close it. Does
  /// nothing if there is no cache.
  package static func announceErasure(of path: String) throws(StoreError) {
    guard exists(in: path) else { return }
    let database = try CacheDatabase.open(in: path, claim: nil, use: .shared)
    defer { database.close() }
    try database.transaction { () throws(StoreError) in try database.sharing?.tell(.cleared) }
  }

  /// Disconnects the clients that share a durable cache, then deletes the cache.
  /// - Parameter clock: measures the time that the clients have to close it: five seconds.
  /// - Throws: as `erase`; `locked` also if a client does not close the cache because its process is stopped.
  package static func eraseShared(_ path: String, clock: any Clock<Duration>) async throws(StoreError) {
    let refusal: StoreError
    do throws(StoreError) { return try erase(path) } catch { refusal = error }
    guard refusal.kind == .locked else { throw refusal }
    // A client with exclusive use of the cache gets no notice.
    do throws(StoreError) { try announceErasure(of: path) } catch { throw refusal }
    for _ in 0..<100 {
      do throws(StoreError) { return try erase(path) } catch { if error.kind != .locked { throw error } }
      // Canceling the task cancels the deletion.
      guard (try? await clock.sleep(for: .milliseconds(50))) != nil else { throw refusal }
    }
    throw refusal
  }

  /// Deletes a durable cache: the database, its log, and files that were moved aside. Does nothing if there is none.
  /// - Throws: `locked` if a store has it open; `notWritable`.
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
