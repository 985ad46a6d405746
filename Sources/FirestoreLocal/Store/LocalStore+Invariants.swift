// SPDX-License-Identifier: Apache-2.0
import FirestoreModel

extension LocalStore {
  /// Recomputes what the tables hold twice. O(pending writes + membership); for tests and debug builds.
  /// - Returns: what does not agree; empty when all is well.
  package func checkInvariants() throws(LocalStoreError) -> [String] {
    var violations: [String] = []
    let documents = LocalDocuments(database: database, user: user, hasBatches: true)
    for key in try database.mutations.keys(of: user) {
      let remote = try database.documents.document(key)
      let collection = try database.collections.numberAdding(key.collection)
      let batches = try database.mutations.batches(affecting: collection, key.documentID, of: user)
      let expected = documents.fold(batches, key, over: remote).view
      let stored = try documents.view(of: key)
      if stored != expected { violations.append("S9: the overlay of \(key) gives \(stored), its batches \(expected)") }
    }
    for (problem, query) in Self.forbidden {
      let count = try database.connection.integer("SELECT count(*) FROM \(query)")
      if count > 0 { violations.append("\(count) \(problem)") }
    }
    let stored = try database.mutations.count(of: user)
    if stored != batchCount { violations.append("\(batchCount) batches are counted, \(stored) stored") }
    violations += try IndexVerification(database: database).violations()
    return violations
  }

  private static let forbidden = [
    (
      "overlays without a batch",
      """
      overlays WHERE NOT EXISTS (
        SELECT 1 FROM batch_documents
        WHERE batch_documents.collection = overlays.collection AND batch_documents.name = overlays.name
          AND batch_documents.user = overlays.user)
      """
    ),
    (
      "batch documents without their batch",
      "batch_documents WHERE batch NOT IN (SELECT id FROM mutation_batches)"
    ),
    ("members without a document", "target_documents WHERE document NOT IN (SELECT id FROM documents)"),
    ("members without a target", "target_documents WHERE target NOT IN (SELECT id FROM targets)"),
    ("documents under another collection's number", "documents WHERE id >> 32 <> collection"),
  ]
}
