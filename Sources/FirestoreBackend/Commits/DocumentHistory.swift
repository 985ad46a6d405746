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
  /// Pruning works on at least so many rows at once, so that its cost is spread.
  static let pruningSlice = 512

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

  /// Forgets versions that ended before a time, at most `rows` of the oldest.
  func prune(before cutoff: Int64, rows: Int) throws(BackendError) {
    // Rows are numbered as they were written, which is the order in which they ended.
    try connection.run(
      """
      DELETE FROM history WHERE id <=
        (SELECT max(id) FROM (SELECT id, until FROM history ORDER BY id LIMIT ?1) WHERE until < ?2) AND until < ?2
      """, .integer(Int64(rows)), .integer(cutoff))
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
