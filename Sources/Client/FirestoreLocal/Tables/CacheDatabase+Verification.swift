// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreQuery
import FirestoreSQLite

extension CacheDatabase {
  /// Checks the whole file: SQLite's structures, what the tables say about each other, and everything that is stored
  /// encoded. O(size).
  /// - Throws: `corrupt` for the first thing that is wrong.
  func verify() throws(StoreError) {
    if let complaint = try connection.integrityComplaint() { throw .damaged(complaint) }
    for (problem, rows) in Self.forbidden
    where try connection.integer(composed: "SELECT count(*) FROM \(rows)") ?? 0 > 0 {
      throw .damaged("it has \(problem)")
    }
    try documents.verify()
    try mutations.verify()
    try overlays.verify()
    try rejectedWrites.verify()
    try targets.verify()
    try retentions.verify()
  }

  /// Rows that no table may have, and how to call them.
  static let forbidden: [(problem: String, rows: String)] = [
    (
      "overlays without a batch",
      """
      overlays WHERE NOT EXISTS (
        SELECT 1 FROM batch_documents
        WHERE batch_documents.collection = overlays.collection AND batch_documents.name = overlays.name
          AND batch_documents.user = overlays.user)
      """
    ),
    ("batch documents without their batch", "batch_documents WHERE batch NOT IN (SELECT id FROM mutation_batches)"),
    (
      "overlays of batches that do not wait",
      """
      overlays WHERE largest_batch IS NOT (
        SELECT max(batch) FROM batch_documents
        WHERE batch_documents.collection = overlays.collection AND batch_documents.name = overlays.name
          AND batch_documents.user = overlays.user)
      """
    ),
    ("impossible pending documents", "pending_documents WHERE batch < 0 OR (batch = 0) IS NOT (mutation NOT NULL)"),
    ("batches of nobody", "mutation_batches WHERE user NOT IN (SELECT id FROM users)"),
    ("members without a document", "target_documents WHERE document NOT IN (SELECT id FROM documents)"),
    ("members without a target", "target_documents WHERE target NOT IN (SELECT id FROM targets)"),
    ("documents under another collection's number", "documents WHERE id >> 32 <> collection"),
    ("documents without a collection", "documents WHERE collection NOT IN (SELECT id FROM collection_parents)"),
    ("writes without a collection", "batch_documents WHERE collection NOT IN (SELECT id FROM collection_parents)"),
    ("documents in no state", "documents WHERE state NOT IN (0, 1, 2, 3, 5, 6, 7)"),
    ("impossible collections", "collection_parents WHERE NOT (\(among("id", StoredNumbers.collections)))"),
    (
      "impossible documents",
      """
      documents WHERE NOT (\(among("version")) AND \(among("create_time")) AND \(among("read_time"))
        AND \(among("sequence_number", StoredNumbers.counters)))
      """
    ),
    ("impossible batches", "mutation_batches WHERE NOT (\(among("id", StoredNumbers.counters)))"),
    (
      "impossible targets",
      """
      targets WHERE NOT (id BETWEEN 1 AND \(Int32.max) AND \(among("snapshot_version"))
        AND \(among("limbo_free_version")) AND \(among("sequence_number", StoredNumbers.counters)))
      """
    ),
    (
      "impossible counters",
      """
      globals WHERE name NOT IN ('\(Globals.Name.clientIdentity.rawValue)', '\(ownerName)')
        AND NOT (\(among("value")))
      """
    ),
  ]

  private static func among(_ column: String, _ range: Range<Int64>) -> String {
    "\(column) >= \(range.lowerBound) AND \(column) < \(range.upperBound)"
  }

  private static func among(_ column: String) -> String {
    "ifnull(\(column), 0) BETWEEN \(StoredNumbers.times.lowerBound) AND \(StoredNumbers.times.upperBound)"
  }
}
