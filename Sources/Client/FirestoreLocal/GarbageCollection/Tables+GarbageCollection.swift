// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
import FirestoreSQLite

extension TargetCache {
  /// A document that belongs to a target.
  struct Membership: Sendable {
    var document: DocumentNumber
    var target: TargetID
  }

  /// Calls `body` for at most `limit` memberships, by document.
  func scanMembership(
    after position: Membership?, limit: Int, _ body: (Membership) -> Void
  ) throws(StoreError) {
    try connection.forEachRow(
      """
      SELECT document, target FROM target_documents INDEXED BY target_documents_by_document
      WHERE (document, target) > (?, ?) ORDER BY document, target LIMIT ?
      """, position?.document.rawValue ?? .min, position.map { Int64($0.target.rawValue) } ?? .min, limit
    ) { row in
      body(Membership(document: row.number(0), target: TargetID(Int32(truncatingIfNeeded: row.integer(1)))))
    }
  }

  /// The next targets by id that were last used at this sequence number or before.
  func all(
    upToSequenceNumber bound: Int64, after id: TargetID?, limit: Int
  ) throws(StoreError) -> [TargetData] {
    try connection.all(
      """
      SELECT id, target, sequence_number, snapshot_version FROM targets WHERE sequence_number <= ? AND id > ?
      ORDER BY id LIMIT ?
      """, bound, id.map { Int64($0.rawValue) } ?? .min, limit
    ) { row throws(StoreError) in
      TargetData(
        id: try Self.id(row.integer(0)), target: try Self.decode(row.blob(1)), sequenceNumber: row.integer(2),
        snapshotVersion: try row.version(3))
    }
  }

  /// Makes a target one that no query finds any more: a new listener to its query gets a new target. It is the first to
  /// be collected if its documents cannot be forgotten now.
  func makeUnknown(_ id: TargetID) throws(StoreError) {
    try connection.run(
      """
      UPDATE targets SET canonical_id = 'collected:' || id, sequence_number = 0, snapshot_version = NULL,
        limbo_free_version = NULL, resume_token = NULL, checksum = NULL, members = NULL
      WHERE id = ?
      """, id)
  }

  func memberCount(of id: TargetID) throws(StoreError) -> Int {
    Int(try connection.integer("SELECT count(*) FROM target_documents WHERE target = ?", id) ?? 0)
  }

  /// - Returns: the number of memberships that were removed; at most `limit`.
  func removeMembers(of id: TargetID, limit: Int) throws(StoreError) -> Int {
    try connection.run(
      """
      DELETE FROM target_documents WHERE target = ?1 AND document IN
        (SELECT document FROM target_documents WHERE target = ?1 ORDER BY document LIMIT ?2)
      """, id, limit)
    return connection.rowsChangedLast
  }

  func count() throws(StoreError) -> Int { Int(try connection.integer("SELECT count(*) FROM targets") ?? 0) }

  /// The targets that have a document.
  func all(with document: DocumentNumber) throws(StoreError) -> [TargetID] {
    try connection.all("SELECT target FROM target_documents WHERE document = ? ORDER BY target", document) {
      row throws(StoreError) in try Self.id(row.integer(0))
    }
  }

  /// Deletes the memberships of a document, whose targets are unknown to queries.
  func removeMemberships(of document: DocumentNumber) throws(StoreError) {
    try connection.run("DELETE FROM target_documents WHERE document = ?", document)
  }
}

extension DocumentTable {
  /// The time when a document was last used, and its place in the index that is ordered by it.
  struct Age: Sendable {
    var collection: CollectionNumber
    var readTime: Int64
    var sequenceNumber: Int64
    var number: DocumentNumber
  }

  /// Calls `body` for rows with this sequence number or a lower one, in the order of their index.
  /// - Returns: the position to continue after; `nil` after the last row.
  func scanAges(
    after position: Age?, upTo bound: Int64, limit: Int, _ body: (Age) -> Void
  ) throws(StoreError) -> Age? {
    var last: Age?
    var count = 0
    try connection.forEachRow(
      """
      SELECT collection, read_time, sequence_number, id FROM documents INDEXED BY documents_by_read_time
      WHERE (collection, read_time, sequence_number, id) > (?, ?, ?, ?)
      ORDER BY collection, read_time, sequence_number, id LIMIT ?
      """, position?.collection.rawValue ?? .min, position?.readTime ?? .min, position?.sequenceNumber ?? .min,
      position?.number.rawValue ?? .min, limit
    ) { row in
      let age = Age(
        collection: row.number(0), readTime: row.integer(1), sequenceNumber: row.integer(2), number: row.number(3))
      if age.sequenceNumber <= bound { body(age) }
      last = age
      count += 1
    }
    return count < limit ? nil : last
  }

  /// - Returns: `nil` if the document is not in the cache.
  func sequenceNumber(_ number: DocumentNumber) throws(StoreError) -> Int64? {
    try connection.integer("SELECT sequence_number FROM documents WHERE id = ?", number)
  }

  /// The size of a document's fields and id.
  func byteCount(_ number: DocumentNumber) throws(StoreError) -> Int64 {
    try connection.integer("SELECT length(name) + ifnull(length(fields), 0) FROM documents WHERE id = ?", number) ?? 0
  }

  func count() throws(StoreError) -> Int { Int(try connection.integer("SELECT count(*) FROM documents") ?? 0) }
}
