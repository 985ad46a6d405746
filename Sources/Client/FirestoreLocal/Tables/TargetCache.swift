// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
import FirestoreSQLite

/// The targets the cache knows, and which documents belong to each according to the backend.
struct TargetCache {
  let connection: Connection

  func data(for target: Target) throws(StoreError) -> TargetData? {
    try connection.first(
      """
      SELECT id, target, sequence_number, snapshot_version, limbo_free_version, resume_token, checksum FROM targets
      WHERE canonical_id = ?
      """, target.canonicalID
    ) { row throws(StoreError) in
      try Self.check(row)
      guard try Self.decode(row.blob(1)) == target else { throw Self.misnamed }
      return TargetData(
        id: try Self.id(row.integer(0)), target: target,
        sequenceNumber: row.integer(2),
        snapshotVersion: try row.version(3), lastLimboFreeSnapshotVersion: try row.version(4),
        resumeToken: ResumeToken(row.blob(5)))
    }
  }

  /// Reads every target, and compares its documents. O(memberships).
  func verify() throws(StoreError) {
    try connection.forEachRow(
      """
      SELECT id, target, sequence_number, snapshot_version, limbo_free_version, resume_token, checksum, canonical_id
      FROM targets
      """
    ) { row throws(StoreError) in
      let (target, name) = (try Self.decode(row.blob(1)), row.text(7))
      // A target that is being collected has a name that no other has, and no checksum.
      if name.hasPrefix("collected:") { return }
      try Self.check(row)
      guard target.canonicalID.equalsUTF8(name) else { throw Self.misnamed }
    }
    try checkMembers()
  }

  /// - Parameter row: id, target, sequence number, the two versions, token and checksum.
  /// - Throws: `corrupt` if they are not as they were stored.
  private static func check(_ row: Row) throws(StoreError) {
    let isIntact = RowChecksum.holds(
      row.optionalInteger(6), for: row.blobBytes(1), row.blobBytes(5),
      numbers: (row.optionalInteger(3) ?? .min, row.optionalInteger(4) ?? .min))
    guard isIntact else { throw .damaged("a target has changed on disk") }
  }

  private static var misnamed: StoreError { .damaged("a target is stored under another one's name") }

  static func id(_ number: Int64) throws(StoreError) -> TargetID {
    guard let id = Int32(exactly: number), id > 0 else { throw StoredNumbers.damage("a target's id", number) }
    return TargetID(id)
  }

  static func decode(_ bytes: [UInt8]) throws(StoreError) -> Target {
    do throws(ModelError) {
      return try Target(decoding: bytes)
    } catch {
      throw .damaged("a target cannot be read (\(error.message))")
    }
  }

  func set(_ data: TargetData) throws(StoreError) {
    let (target, token) = (data.target.encoded(), data.resumeToken?.bytes)
    let (version, limboFree) = (data.snapshotVersion?.microseconds, data.lastLimboFreeSnapshotVersion?.microseconds)
    let checksum = RowChecksum.of(target, token ?? [], numbers: (version ?? .min, limboFree ?? .min))
    try connection.run(
      """
      INSERT INTO targets
        (id, canonical_id, target, sequence_number, snapshot_version, limbo_free_version, resume_token, checksum)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?)
      ON CONFLICT (id) DO UPDATE SET
        sequence_number = excluded.sequence_number, snapshot_version = excluded.snapshot_version,
        limbo_free_version = excluded.limbo_free_version, resume_token = excluded.resume_token,
        checksum = excluded.checksum
      """, data.id, data.target.canonicalID, target, data.sequenceNumber, version, limboFree, token, checksum)
  }

  /// Removes a target and its membership.
  func remove(_ id: TargetID) throws(StoreError) {
    try connection.run("DELETE FROM targets WHERE id = ?", id)
    try removeMembers(of: id)
  }

  func sequenceNumbers() throws(StoreError) -> [Int64] {
    try connection.all("SELECT sequence_number FROM targets") { $0.integer(0) }
  }

  // MARK: Membership

  /// - Parameter documents: best ascending; neighbours share pages.
  func add(_ documents: some Sequence<DocumentNumber>, to id: TargetID) throws(StoreError) {
    var digest = MemberDigest()
    for document in documents {
      try connection.run("INSERT OR IGNORE INTO target_documents (target, document) VALUES (?, ?)", id, document)
      if connection.rowsChangedLast > 0 { digest.toggle(document) }
    }
    try toggle(digest, of: id)
  }

  func remove(_ documents: some Sequence<DocumentNumber>, from id: TargetID) throws(StoreError) {
    var digest = MemberDigest()
    for document in documents {
      try connection.run("DELETE FROM target_documents WHERE target = ? AND document = ?", id, document)
      if connection.rowsChangedLast > 0 { digest.toggle(document) }
    }
    try toggle(digest, of: id)
  }

  func removeMembers(of id: TargetID) throws(StoreError) {
    try connection.run("DELETE FROM target_documents WHERE target = ?", id)
    try connection.run("UPDATE targets SET members = 0 WHERE id = ?", id)
  }

  /// Ascending.
  /// - Throws: `corrupt` if they are others than those that were stored.
  func members(of id: TargetID) throws(StoreError) -> [DocumentNumber] {
    var digest = MemberDigest()
    let numbers = try connection.all("SELECT document FROM target_documents WHERE target = ? ORDER BY document", id) {
      row in
      let number: DocumentNumber = row.number(0)
      digest.toggle(number)
      return number
    }
    try check(digest, of: id)
    return numbers
  }

  func anyContains(_ document: DocumentNumber) throws(StoreError) -> Bool {
    try connection.exists("SELECT 1 FROM target_documents WHERE document = ? LIMIT 1", document)
  }
}

extension TargetID: SQLValue {
  package func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
    Int64(rawValue).bind(to: statement, at: index)
  }
}
