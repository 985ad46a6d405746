// SPDX-License-Identifier: Apache-2.0
import FirestoreModel

/// What documents held before they were changed or deleted, for reads in the past (PROTOCOL §0.3).
///
/// ```
/// documents:            version ───────────────────► now
/// history:  version ──► until   (the commit that ended it)
/// ```
/// At a version `t` a document is what `documents` holds if that is not newer than `t`, otherwise the row of the
/// history with `version <= t < until`, of which there is one at most.
struct DocumentHistory {
  /// One hour in microseconds, as the real backend keeps without point-in-time recovery.
  static let kept: Int64 = 3_600_000_000

  private let connection: Connection

  init(_ connection: Connection) { self.connection = connection }

  func record(
    _ document: StoredDocument, in collection: Int64, _ name: DocumentName, until version: Int64
  ) throws(BackendError) {
    try connection.run(
      "INSERT INTO history (collection, name, until, version, created, fields) VALUES (?, ?, ?, ?, ?, ?)",
      .integer(collection), .bytes(name.bytes), .integer(version), .integer(document.version),
      .integer(document.created), .bytes(document.fields.bytes))
  }

  /// The document as it was at a version; `nil` where it did not exist.
  func read(_ key: DocumentKey, in collection: Int64, at version: Int64) throws(BackendError) -> StoredDocument? {
    try connection.first(
      """
      SELECT version, created, fields FROM documents WHERE collection = ?1 AND name = ?2 AND version <= ?3
      UNION ALL
      SELECT version, created, fields FROM history
        WHERE collection = ?1 AND name = ?2 AND until > ?3 AND version <= ?3
      LIMIT 1
      """, .integer(collection), .bytes(DocumentName(key.documentID).bytes), .integer(version)
    ) { row in
      StoredDocument(
        key: key, version: row.integer(0), created: row.integer(1), fields: EncodedFields(trusted: row.bytes(2)))
    }
  }

  /// Whether a collection held any document at a version.
  func isOccupied(_ collection: Int64, at version: Int64) throws(BackendError) -> Bool {
    try connection.first(
      """
      SELECT 1 WHERE EXISTS (SELECT 1 FROM documents WHERE collection = ?1 AND version <= ?2)
        OR EXISTS (SELECT 1 FROM history WHERE collection = ?1 AND until > ?2 AND version <= ?2)
      """, .integer(collection), .integer(version)
    ) { _ in true } ?? false
  }

  /// What a version counts for in the bytes that are kept: its data, and about what a row and its index entry take.
  static func cost(_ name: DocumentName, _ fields: EncodedFields) -> Int64 {
    Int64(2 * name.bytes.count + fields.bytes.count) + rowOverhead
  }

  private static let rowOverhead: Int64 = 64
  private static let cost = "2 * length(name) + length(fields) + \(rowOverhead)"

  /// The cost of all versions. O(versions); reads none of them.
  func byteCount() throws(BackendError) -> Int64 {
    try connection.first("SELECT sum(\(Self.cost)) FROM history") { $0.integer(0) } ?? 0
  }

  struct Pruned {
    var bytesLeft: Int64
    /// Of each database, by number, of which versions went before their time: reads reach back to here at most.
    var starts: [Int64: Int64] = [:]
  }

  /// Forgets the oldest versions: those that ended before a time, and more until `excess` bytes are gone.
  /// - Parameters:
  ///   - rows: how many go at most.
  ///   - bytes: the cost of all versions.
  func prune(before cutoff: Int64, excess: Int64, rows: Int, of bytes: Int64) throws(BackendError) -> Pruned {
    var (freed, last): (Int64, Int64?) = (0, nil)
    var endings: [Int64: Int64] = [:]
    // Rows are numbered as they were written, which is the order in which they ended.
    try connection.each(
      "SELECT id, until, collection, \(Self.cost) FROM history ORDER BY id LIMIT ?", .integer(Int64(rows))
    ) { row in
      let isOld = row.integer(1) < cutoff
      guard isOld || freed < excess else { return false }
      if !isOld { endings[row.integer(2), default: .min] = max(endings[row.integer(2)] ?? .min, row.integer(1)) }
      freed += row.integer(3)
      last = row.integer(0)
      return true
    }
    guard let last else { return Pruned(bytesLeft: bytes) }
    try connection.run("DELETE FROM history WHERE id <= ?", .integer(last))
    var pruned = Pruned(bytesLeft: max(0, bytes - freed))
    for (collection, ending) in endings {
      let database = try connection.first(
        "SELECT database FROM collections WHERE id = ?", .integer(collection)
      ) { $0.integer(0) }
      if let database { pruned.starts[database] = max(pruned.starts[database] ?? .min, ending) }
    }
    for (database, start) in pruned.starts {
      try connection.run(
        "UPDATE databases SET history_start = max(history_start, ?) WHERE id = ?", .integer(start), .integer(database))
    }
    return pruned
  }

  /// Visits a collection's documents as of version ?4, in key order. Each half is in key order already, so merging
  /// them sorts nothing.
  static let scan = scan(direction: "")
  static let scanDescending = scan(direction: " DESC")

  private static func scan(direction: String) -> String {
    """
    SELECT name, version, created, fields FROM documents
      WHERE collection = ?1 AND name >= ?2 AND name <= ?3 AND version <= ?4
    UNION ALL
    SELECT name, version, created, fields FROM history
      WHERE collection = ?1 AND name >= ?2 AND name <= ?3 AND until > ?4 AND version <= ?4
    ORDER BY name\(direction)
    """
  }
}
