// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery

extension TargetCache {
  /// That a document belongs to a target.
  struct Membership: Sendable {
    var document: DocumentTable.Number
    var target: TargetID
  }

  /// Calls `body` for at most `limit` memberships, by document.
  func scanMembership(
    after position: Membership?, limit: Int, _ body: (Membership) -> Void
  ) throws(LocalStoreError) {
    let statement = try connection.prepareOnce(
      """
      SELECT document, target FROM target_documents INDEXED BY target_documents_by_document
      WHERE (document, target) > (?, ?) ORDER BY document, target LIMIT ?
      """)
    statement.bind(position?.document ?? .min, at: 1).bind(position.map { Int64($0.target.rawValue) } ?? .min, at: 2)
    try statement.bind(Int64(limit), at: 3).forEachRow { row in
      body(Membership(document: row.integer(0), target: TargetID(Int32(truncatingIfNeeded: row.integer(1)))))
    }
  }

  /// The next targets by id that were last used then or before.
  func all(
    upToSequenceNumber bound: Int64, after id: TargetID?, limit: Int
  ) throws(LocalStoreError) -> [TargetData] {
    var found: [TargetData] = []
    let statement = try connection.prepareOnce(
      "SELECT id, target, sequence_number FROM targets WHERE sequence_number <= ? AND id > ? ORDER BY id LIMIT ?")
    statement.bind(bound, at: 1).bind(id.map { Int64($0.rawValue) } ?? .min, at: 2)
    try statement.bind(Int64(limit), at: 3).forEachRow { row throws(LocalStoreError) in
      found.append(
        TargetData(
          id: try Self.id(row.integer(0)), target: try Self.decode(row.blob(1)),
          sequenceNumber: row.integer(2)))
    }
    return found
  }

  /// Makes a target one that no query finds any more: its query would be a new target. It is the first to be collected
  /// if its documents cannot be forgotten now.
  func makeUnknown(_ id: TargetID) throws(LocalStoreError) {
    try connection.prepareOnce(
      """
      UPDATE targets SET canonical_id = 'collected:' || id, sequence_number = 0, snapshot_version = NULL,
        limbo_free_version = NULL, resume_token = NULL, checksum = NULL, members = NULL
      WHERE id = ?
      """
    ).bind(Int64(id.rawValue), at: 1).run()
  }

  func memberCount(of id: TargetID) throws(LocalStoreError) -> Int {
    try connection.prepareOnce("SELECT count(*) FROM target_documents WHERE target = ?").bind(Int64(id.rawValue), at: 1)
      .first { Int($0.integer(0)) } ?? 0
  }

  /// - Returns: how many memberships were removed; at most `limit`.
  func removeMembers(of id: TargetID, limit: Int) throws(LocalStoreError) -> Int {
    try connection.prepareOnce(
      """
      DELETE FROM target_documents WHERE target = ?1 AND document IN
        (SELECT document FROM target_documents WHERE target = ?1 ORDER BY document LIMIT ?2)
      """
    ).bind(Int64(id.rawValue), at: 1).bind(Int64(limit), at: 2).run()
    return connection.rowsChangedLast
  }

  func count() throws(LocalStoreError) -> Int { Int(try connection.integer("SELECT count(*) FROM targets")) }
}
