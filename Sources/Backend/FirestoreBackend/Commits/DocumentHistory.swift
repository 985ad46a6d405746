// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreSQLite

/// The contents of documents before they were changed or deleted, for reads in the past (PROTOCOL §0.3).
///
/// ```
/// documents:            version ───────────────────► now
/// history:  version ──► until   (the commit that ended it)
/// ```
/// At a version `t`, a document's content is its row in `documents` if that is not newer than `t`, otherwise the row of
/// the history with `version <= t < until`. There is at most one such row.
struct DocumentHistory {
  /// The retention time of versions: one hour in microseconds, as at the real backend without point-in-time recovery.
  static let kept: Int64 = 3_600_000_000

  private let connection: Connection

  init(_ connection: Connection) { self.connection = connection }

  func record(
    _ document: StoredDocument, in collection: Int64, _ name: DocumentName, until version: Int64
  ) throws(StoreError) {
    try connection.run(
      "INSERT INTO history (collection, name, until, version, created, fields) VALUES (?, ?, ?, ?, ?, ?)",
      collection, name.bytes, version, document.version,
      document.created, document.fields.bytes)
  }

  /// The document at a version; `nil` if it did not exist.
  func read(_ key: DocumentKey, in collection: Int64, at version: Int64) throws(StoreError) -> StoredDocument? {
    try connection.first(
      """
      SELECT version, created, fields FROM documents WHERE collection = ?1 AND name = ?2 AND version <= ?3
      UNION ALL
      SELECT version, created, fields FROM history
        WHERE collection = ?1 AND name = ?2 AND until > ?3 AND version <= ?3
      LIMIT 1
      """, collection, DocumentName(key.documentID).bytes, version
    ) { row in
      StoredDocument(
        key: key, version: row.integer(0), created: row.integer(1), fields: EncodedFields(trusted: row.blob(2)))
    }
  }

  /// Whether a collection had any document at a version.
  func isOccupied(_ collection: Int64, at version: Int64) throws(StoreError) -> Bool {
    try connection.exists(
      """
      SELECT 1 WHERE EXISTS (SELECT 1 FROM documents WHERE collection = ?1 AND version <= ?2)
        OR EXISTS (SELECT 1 FROM history WHERE collection = ?1 AND until > ?2 AND version <= ?2)
      """, collection, version)
  }

  /// The cost of a version in bytes: its data, and the approximate size of its row and index entry.
  static func cost(_ name: DocumentName, _ fields: EncodedFields) -> Int64 {
    Int64(2 * name.bytes.count + fields.bytes.count + 64)
  }

  /// The cost of all versions. O(versions), without reading their contents.
  func byteCount() throws(StoreError) -> Int64 {
    try connection.integer("SELECT sum(2 * length(name) + length(fields) + 64) FROM history") ?? 0
  }

  struct Pruned {
    var bytesLeft: Int64
    /// The oldest readable versions, by database number, of databases whose versions were pruned because of their size.
    var starts: [Int64: Int64] = [:]
  }

  /// Deletes the oldest versions: all versions that ended before a time, and more until `excess` bytes are freed.
  /// - Parameters:
  ///   - rows: the largest number of versions to delete.
  ///   - bytes: the cost of all versions.
  func prune(before cutoff: Int64, excess: Int64, rows: Int, of bytes: Int64) throws(StoreError) -> Pruned {
    var (freed, last): (Int64, Int64?) = (0, nil)
    var endings: [Int64: Int64] = [:]
    // Rows are written in the order in which the versions ended.
    try connection.scan(
      "SELECT id, until, collection, 2 * length(name) + length(fields) + 64 FROM history ORDER BY id LIMIT ?", rows
    ) { row in
      let isOld = row.integer(1) < cutoff
      guard isOld || freed < excess else { return false }
      if !isOld { endings[row.integer(2), default: .min] = max(endings[row.integer(2)] ?? .min, row.integer(1)) }
      freed += row.integer(3)
      last = row.integer(0)
      return true
    }
    guard let last else { return Pruned(bytesLeft: bytes) }
    try connection.run("DELETE FROM history WHERE id <= ?", last)
    var pruned = Pruned(bytesLeft: max(0, bytes - freed))
    for (collection, ending) in endings {
      let database = try connection.integer("SELECT database FROM collections WHERE id = ?", collection)
      if let database { pruned.starts[database] = max(pruned.starts[database] ?? .min, ending) }
    }
    for (database, start) in pruned.starts {
      try connection.run(
        "UPDATE databases SET history_start = max(history_start, ?) WHERE id = ?", start, database)
    }
    return pruned
  }

  /// Visits a collection's documents at a version in key order, or in reverse. The stored documents and the history are
  /// each in key order already, so they are merged without sorting.
  func scan(
    _ collection: Int64, from first: DocumentName, through last: DocumentName, at version: Int64, isDescending: Bool,
    visit: (Row) throws(StoreError) -> Bool
  ) throws(StoreError) {
    if isDescending {
      try connection.scan(
        """
        SELECT name, version, created, fields FROM documents
          WHERE collection = ?1 AND name >= ?2 AND name <= ?3 AND version <= ?4
        UNION ALL
        SELECT name, version, created, fields FROM history
          WHERE collection = ?1 AND name >= ?2 AND name <= ?3 AND until > ?4 AND version <= ?4
        ORDER BY name DESC
        """, collection, first.bytes, last.bytes, version, visit: visit)
    } else {
      try connection.scan(
        """
        SELECT name, version, created, fields FROM documents
          WHERE collection = ?1 AND name >= ?2 AND name <= ?3 AND version <= ?4
        UNION ALL
        SELECT name, version, created, fields FROM history
          WHERE collection = ?1 AND name >= ?2 AND name <= ?3 AND until > ?4 AND version <= ?4
        ORDER BY name
        """, collection, first.bytes, last.bytes, version, visit: visit)
    }
  }
}

/// The size of the history, which decides when to prune it.
struct HistorySize {
  /// The smallest number of rows to prune together, so that only a few commits have the cost of pruning.
  static let pruningSlice = 512

  /// The size limit in bytes.
  let limit: Int64
  /// The cost of all versions; `nil` until they are counted.
  private(set) var bytes: Int64?
  /// The number of versions added since the last pruning.
  private var rows = 0

  init(limit: Int64) { self.limit = limit }

  mutating func add(rows: Int, bytes: Int64) {
    self.rows += rows
    self.bytes? += bytes
  }

  /// Whether pruning is due. Also true after a commit while the cost is unknown, since an earlier process may have
  /// stored many versions.
  var wantsPruning: Bool { rows >= Self.pruningSlice || (rows > 0 && bytes.map { $0 > limit } ?? true) }

  /// The largest number of rows to prune together. It is twice the number of added rows, so that pruning catches up.
  var slice: Int { max(2 * rows, Self.pruningSlice) }

  /// The number of bytes to free, with a margin so that not every commit prunes.
  func excess(of bytes: Int64) -> Int64 { bytes > limit ? bytes - limit + limit / 16 : 0 }

  /// Clears the cost after a bulk change of the history, so that the cost is counted again.
  mutating func forget() { bytes = nil }

  mutating func setBytes(_ bytes: Int64) {
    self.bytes = bytes
    rows = 0
  }
}
