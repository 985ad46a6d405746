// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreSQLite

extension DocumentReader {
  /// Whether something that a transaction read has changed since: a document it looked up, or one that one of its
  /// queries matched or now matches, limits aside.
  /// - Parameter earlier: reads at the transaction's version.
  func hasConflict(_ transaction: OpenTransaction, earlier: DocumentReader) throws(BackendError) -> Bool {
    guard let version = transaction.version, version < state.version else { return false }
    // What changed is no longer on record: it might be anything.
    if version < state.pruned || version < state.historyStart { return true }
    for key in try changedKeys(after: version) {
      if transaction.keys.contains(key) { return true }
      let queries = transaction.queries.filter { $0.covers(key.collection) }
      if queries.isEmpty { continue }
      let (before, after) = (try earlier.document(key), try document(key))
      if queries.contains(where: { $0.holds(before) || $0.holds(after) }) { return true }
    }
    return false
  }

  /// Every document that changed after a version, once.
  private func changedKeys(after version: Int64) throws(BackendError) -> Set<DocumentKey> {
    var keys: Set<DocumentKey> = []
    try connection.forEachRow(
      """
      SELECT collections.path, changes.name FROM changes JOIN collections ON collections.id = changes.collection
        WHERE changes.database = ? AND changes.version > ?
      """, state.id, version
    ) { row in
      let id = DocumentName.id(row.blobBytes(1))
      keys.insert(DocumentKey(unchecked: ResourcePath(row.text(0)).appending(id)))
    }
    return keys
  }
}
