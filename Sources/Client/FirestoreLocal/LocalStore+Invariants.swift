// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreModel
import FirestoreQuery
package import FirestoreSQLite

extension LocalStore {
  /// Checks that redundant data in the tables is consistent. Takes O(pending writes + documents in targets) time; for
  /// tests and debug builds.
  /// - Returns: descriptions of the inconsistencies.
  package func checkInvariants() throws(StoreError) -> [String] {
    // Runs in a read transaction, which detects other clients' changes before it uses state in memory.
    try database.read { () throws(StoreError) in try violations() }
  }

  private func violations() throws(StoreError) -> [String] {
    var violations: [String] = []
    let documents = LocalDocuments(database: database, user: user, hasBatches: true)
    for key in try database.mutations.keys(of: user) {
      let remote = try database.documents.document(key)
      let collection = try database.collections.numberAdding(key)
      let batches = try database.mutations.batches(affecting: collection, key.documentID, of: user)
      let expected = documents.fold(batches, key, over: remote).view
      let overlay = try database.overlays.storedOverlay(collection, key.documentID, of: user)
      for view in [try documents.view(of: key), LocalDocuments.view(of: key, over: remote, overlay)] {
        // Also compares the bytes, because `==` does not compare the estimates of server timestamps.
        let isSame = view == expected && view.data?.encoded.bytes == expected.data?.encoded.bytes
        if !isSame { violations.append("S9: the overlay of \(key) gives \(view), but its batches give \(expected)") }
      }
    }
    for (problem, rows) in CacheDatabase.forbidden {
      let count = try database.connection.integer(composed: "SELECT count(*) FROM \(rows)") ?? 0
      if count > 0 { violations.append("\(count) \(problem)") }
    }
    let stored = try database.mutations.count(of: user)
    if !isShared, stored != queue.batchCount {
      violations.append("\(queue.batchCount) batches are counted, but \(stored) are stored")
    }
    do throws(StoreError) { try database.targets.checkMembers() } catch { violations.append(error.message) }
    violations += try IndexVerification(database: database).violations()
    return violations
  }
}

/// Compares the entries of all indexes with the documents. Takes O(size) time; for tests and debug builds.
struct IndexVerification {
  let database: CacheDatabase

  private struct Entry: Hashable {
    let index: IndexNumber
    let document: DocumentNumber
    let key: [UInt8]
  }

  /// - Returns: descriptions of the inconsistencies.
  func violations() throws(StoreError) -> [String] {
    var violations: [String] = []
    var stored: Set<Entry> = []
    let dropped = Set(try database.indexes.dropped)
    try database.connection.forEachRow("SELECT index_id, collection, value, document FROM index_entries") { row in
      guard !dropped.contains(row.number(0)) else { return }
      let document = DocumentNumber(row.number(1), row.integer(3))
      stored.insert(Entry(index: row.number(0), document: document, key: row.blob(2)))
    }
    var code = OrderedCode()
    for index in try database.indexes.indexes {
      for collection in try database.collections.group(index.definition.collectionGroup, below: .root) {
        try database.documents.scan(collection, from: collection.documents.lowerBound) { row throws(StoreError) in
          guard row.isFound, try !database.indexes.tails.contains(row.number) else { return true }
          let keys = index.definition.keys(of: EncodedFieldsView(row.fieldBytes), &code)
          let isCovered = index.position.map { row.number < $0 } ?? true
          for key in keys {
            let entry = Entry(index: index.number, document: row.number, key: key)
            if stored.remove(entry) == nil, isCovered {
              violations.append("\(index.definition) has no entry for document \(row.number.rawValue)")
            }
          }
          return true
        }
      }
    }
    if !stored.isEmpty {
      violations.append("\(stored.count) index entries do not match the fields of their document, or have no document")
    }
    return violations
  }
}

extension CacheDatabase {
  /// Checks the whole file: SQLite's data structures, references between tables, and all encoded values. Takes O(size)
  /// time.
  /// - Throws: `corrupt` for the first inconsistency.
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

  /// SQL queries for rows that must not exist, each with a description of the problem.
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
      "overlays of batches that are not pending",
      """
      overlays WHERE largest_batch IS NOT (
        SELECT max(batch) FROM batch_documents
        WHERE batch_documents.collection = overlays.collection AND batch_documents.name = overlays.name
          AND batch_documents.user = overlays.user)
      """
    ),
    ("impossible pending documents", "pending_documents WHERE batch < 0 OR (batch = 0) IS NOT (mutation NOT NULL)"),
    ("batches without a user", "mutation_batches WHERE user NOT IN (SELECT id FROM users)"),
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
