// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
import FirestoreSQLite

extension TargetCache {
  /// That a document belongs to a target.
  struct Membership: Sendable {
    var document: DocumentNumber
    var target: TargetID
  }

  /// Calls `body` for at most `limit` memberships, by document.
  func scanMembership(
    after position: Membership?, limit: Int, _ body: (Membership) -> Void
  ) throws(LocalStoreError) {
    try connection.forEachRow(
      """
      SELECT document, target FROM target_documents INDEXED BY target_documents_by_document
      WHERE (document, target) > (?, ?) ORDER BY document, target LIMIT ?
      """, position?.document.rawValue ?? .min, position.map { Int64($0.target.rawValue) } ?? .min, limit
    ) { row in
      body(Membership(document: row.number(0), target: TargetID(Int32(truncatingIfNeeded: row.integer(1)))))
    }
  }

  /// The next targets by id that were last used then or before.
  func all(
    upToSequenceNumber bound: Int64, after id: TargetID?, limit: Int
  ) throws(LocalStoreError) -> [TargetData] {
    try connection.all(
      "SELECT id, target, sequence_number FROM targets WHERE sequence_number <= ? AND id > ? ORDER BY id LIMIT ?",
      bound,
      id.map { Int64($0.rawValue) } ?? .min, limit
    ) { row throws(StoreError) in
      TargetData(
        id: try Self.id(row.integer(0)), target: try Self.decode(row.blob(1)), sequenceNumber: row.integer(2))
    }
  }

  /// Makes a target one that no query finds any more: its query would be a new target. It is the first to be collected
  /// if its documents cannot be forgotten now.
  func makeUnknown(_ id: TargetID) throws(LocalStoreError) {
    try connection.run(
      """
      UPDATE targets SET canonical_id = 'collected:' || id, sequence_number = 0, snapshot_version = NULL,
        limbo_free_version = NULL, resume_token = NULL, checksum = NULL, members = NULL
      WHERE id = ?
      """, id)
  }

  func memberCount(of id: TargetID) throws(LocalStoreError) -> Int {
    Int(try connection.integer("SELECT count(*) FROM target_documents WHERE target = ?", id) ?? 0)
  }

  /// - Returns: how many memberships were removed; at most `limit`.
  func removeMembers(of id: TargetID, limit: Int) throws(LocalStoreError) -> Int {
    try connection.run(
      """
      DELETE FROM target_documents WHERE target = ?1 AND document IN
        (SELECT document FROM target_documents WHERE target = ?1 ORDER BY document LIMIT ?2)
      """, id, limit)
    return connection.rowsChangedLast
  }

  func count() throws(LocalStoreError) -> Int { Int(try connection.integer("SELECT count(*) FROM targets") ?? 0) }
}
