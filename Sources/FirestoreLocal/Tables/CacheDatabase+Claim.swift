// SPDX-License-Identifier: Apache-2.0
import FirestoreSQLite

extension CacheDatabase {
  /// Beside the numbers in `globals`; no number of theirs.
  static let ownerName = "database_identity"

  /// The database that the cache belongs to; `nil` for nobody's, or one that a version made which did not note it.
  var owner: String? {
    get throws(LocalStoreError) {
      try connection.first("SELECT value FROM globals WHERE name = ?", Self.ownerName) { $0.text(0) }
    }
  }

  /// Batches that wait and batches that were refused, of all users.
  var keptWriteCount: Int64 {
    get throws(LocalStoreError) {
      try connection.integer("SELECT (SELECT count(*) FROM mutation_batches) + (SELECT count(*) FROM rejected_writes)")
        ?? 0
    }
  }

  /// Has the cache belong to a database from now on, if it does not already.
  /// - Returns: `false` for another database's that may be begun anew.
  /// - Throws: `foreign` for another database's that may not.
  func accept(_ claim: CacheClaim, in path: String) throws(LocalStoreError) -> Bool {
    let identity = claim.identity.description
    guard let owner = try owner else {
      try transaction { () throws(LocalStoreError) in
        try connection.run("INSERT INTO globals (name, value) VALUES (?, ?)", Self.ownerName, identity)
      }
      return true
    }
    if owner == identity { return true }
    let count = try keptWriteCount
    if count == 0, claim.replacesOthers { return false }
    let contents = count == 0 ? "" : ", and \(count == 1 ? "a write is" : "\(count) writes are") kept in it"
    throw LocalStoreError(
      .foreign,
      "The cache in \(path) is that of \(owner)\(contents). It is not used for \(identity): use another cache "
        + "directory, or move this one away.")
  }
}
