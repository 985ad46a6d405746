// SPDX-License-Identifier: Apache-2.0
package import FirestoreClientState
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
package import FirestoreSQLite

// Pins have an effect without a listener, because the collectors and eviction read them from the table, in any client.
extension LocalStore {
  /// The pins and lifetimes, in the order of their creation.
  package func retentions() throws(StoreError) -> [Retention] {
    let database = database
    return try database.read { () throws(StoreError) in try database.retentions.all }
  }

  /// Stores a retention (a pin or a lifetime) and notifies the other clients. Replaces an existing retention of the
  /// same kind for the same query.
  package mutating func set(_ retention: Retention) throws(StoreError) {
    let database = database
    try database.transaction { () throws(StoreError) in
      try database.retentions.set(retention)
      try database.sharing?.tell(.retentions)
    }
  }

  /// Removes the retention with the same kind and the same query.
  /// - Returns: whether the cache had such a retention.
  package mutating func remove(_ retention: Retention) throws(StoreError) -> Bool {
    references.settle()
    let (database, collector) = (database, eagerGarbageCollector)
    return try database.transaction { () throws(StoreError) in
      guard try database.retentions.remove(retention) else { return false }
      try database.sharing?.tell(.retentions)
      // The eager collector must check the documents now, when they lose a reference, because it never scans the cache.
      if let collector, retention.kind.isPin { try collector.collect(database.documents(matching: retention.target)) }
      return true
    }
  }
}

extension CacheDatabase {
  /// Returns two lists of targets that are pinned or belong to other clients. The targets in `targets` are not
  /// collected, even if this client does not listen to them. For the targets in `shown`, every matching document is
  /// kept.
  /// - Parameter user: the primary client's user.
  func kept(besides user: UserNumber) throws(StoreError) -> (targets: Set<TargetID>, shown: [Target]) {
    var kept = try listening(besides: user)
    for target in try retentions.pinned {
      kept.shown.append(target)
      if let id = try targets.id(of: target) { kept.targets.insert(id) }
    }
    return kept
  }

  /// The documents that match a target, ignoring its limit. Reads all documents of the target's collections.
  fileprivate func documents(matching target: Target) throws(StoreError) -> [DocumentNumber] {
    var found: [DocumentNumber] = []
    for collection in try numbers(of: target) {
      let path = try collections.path(of: collection)
      try documents.scan(collection, where: nil) { row throws(StoreError) in
        if row.isFound, let document = try row.document(row.key(in: path)), target.matches(document) {
          found.append(row.number)
        }
      }
    }
    return found
  }

  /// The collections in the cache that may contain a target's documents.
  private func numbers(of target: Target) throws(StoreError) -> [CollectionNumber] {
    if let group = target.collectionGroup { return try collections.group(group, below: target.path) }
    let path = target.isDocumentTarget ? target.path.parent : target.path
    return try collections.number(of: path).map { [$0] } ?? []
  }
}

extension TargetCache {
  /// - Returns: `nil` for a target that is not in the cache.
  func id(of target: Target) throws(StoreError) -> TargetID? {
    try connection.first("SELECT id FROM targets WHERE canonical_id = ?", target.canonicalID) {
      row throws(StoreError) in try Self.id(row.integer(0))
    }
  }
}

/// The pins and lifetimes of the cache (`Retention`), in the order of their creation. The table is small, so its rows
/// are cached in memory after the first read.
final class RetentionTable {
  static let schema = """
    CREATE TABLE retentions (
      id INTEGER PRIMARY KEY,
      canonical_id TEXT NOT NULL,
      target BLOB NOT NULL,
      lifetime INTEGER,           -- microseconds; NULL: pinned
      since INTEGER NOT NULL,
      checksum INTEGER NOT NULL   -- of `target` and the two times
    ) STRICT;
    """

  /// The maximum number of retentions. It is limited because eviction compares every candidate document with each
  /// retention.
  static let most = 100
  /// The longest lifetime, in microseconds: 100 years.
  private static let longest: Int64 = 3_155_760_000_000_000

  private let connection: Connection
  private var loaded: [Retention]?

  init(_ connection: Connection) { self.connection = connection }

  /// Discards the rows cached in memory, because the rows on disk may have changed.
  func forget() { loaded = nil }

  var all: [Retention] {
    get throws(StoreError) {
      if let loaded { return loaded }
      let found = try connection.all("SELECT target, lifetime, since, checksum FROM retentions ORDER BY id") {
        row throws(StoreError) in try Self.retention(row)
      }
      loaded = found
      return found
    }
  }

  var pinned: [Target] { get throws(StoreError) { try all.filter(\.kind.isPin).map(\.target) } }

  /// Adds a retention. If one of the same kind exists for the same query, replaces it.
  /// - Precondition: inside a transaction.
  func set(_ retention: Retention) throws(StoreError) {
    try remove(retention)
    guard try all.count < Self.most else {
      throw StoreError(
        .refused(.resourceExhausted),
        "A cache has at most \(Self.most) pins and lifetimes. Remove one before you add another.")
    }
    let target = retention.target.encoded()
    let lifetime = retention.lifetime.map { min(max($0.wholeMicroseconds, 1), Self.longest) }
    let since = retention.since.microseconds
    try connection.run(
      "INSERT INTO retentions (canonical_id, target, lifetime, since, checksum) VALUES (?, ?, ?, ?, ?)",
      retention.target.canonicalID, target, lifetime, since,
      RowChecksum.of(target, numbers: (lifetime ?? .min, since)))
    forget()
  }

  /// Removes the retention with the same kind and the same query.
  /// - Precondition: inside a transaction.
  /// - Returns: whether the table had such a retention.
  @discardableResult
  func remove(_ retention: Retention) throws(StoreError) -> Bool {
    try connection.run(
      "DELETE FROM retentions WHERE canonical_id = ? AND (lifetime IS NULL) = ?", retention.target.canonicalID,
      retention.kind.isPin ? 1 : 0)
    let isGone = connection.rowsChangedLast > 0
    forget()
    return isGone
  }

  /// Reads all rows. O(rows).
  func verify() throws(StoreError) {
    forget()
    _ = try all
  }

  /// - Parameter row: target, lifetime, since and checksum.
  private static func retention(_ row: Row) throws(StoreError) -> Retention {
    let (lifetime, since) = (row.optionalInteger(1), row.integer(2))
    guard RowChecksum.holds(row.integer(3), for: row.blobBytes(0), numbers: (lifetime ?? .min, since)) else {
      throw .damaged("a pin or a lifetime has changed on disk")
    }
    guard lifetime.map({ (1...longest).contains($0) }) ?? true, StoredNumbers.times.contains(since) else {
      throw StoredNumbers.damage("a lifetime", lifetime ?? since)
    }
    return Retention(
      try TargetCache.decode(row.blob(0)), lifetime.map { .lifetime(.microseconds($0)) } ?? .pinned,
      since: Timestamp(microseconds: since))
  }
}
