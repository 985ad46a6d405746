// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
package import FirestoreProtocol
package import FirestoreQuery
import FirestoreSQLite

/// The targets in the cache, and for each target the documents that the backend reported for it.
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

  /// Reads every target and checks its document list. Takes time linear in the length of all lists.
  func verify() throws(StoreError) {
    try connection.forEachRow(
      """
      SELECT id, target, sequence_number, snapshot_version, limbo_free_version, resume_token, checksum, canonical_id
      FROM targets
      """
    ) { row throws(StoreError) in
      let (target, name) = (try Self.decode(row.blob(1)), row.text(7))
      // A target that is being collected has a unique name and no checksum, so it is not checked.
      if name.hasPrefix("collected:") { return }
      try Self.check(row)
      guard target.canonicalID.equalsUTF8(name) else { throw Self.misnamed }
    }
    try checkMembers()
  }

  /// - Parameter row: a row with the columns id, target, sequence number, the two versions, token and checksum.
  /// - Throws: `corrupt` if these values were altered on disk.
  private static func check(_ row: Row) throws(StoreError) {
    let isIntact = RowChecksum.holds(
      row.optionalInteger(6), for: row.blobBytes(1), row.blobBytes(5),
      numbers: (row.optionalInteger(3) ?? .min, row.optionalInteger(4) ?? .min))
    guard isIntact else { throw .damaged("a target has changed on disk") }
  }

  private static var misnamed: StoreError { .damaged("a target is stored under the name of another target") }

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

  /// Removes a target and its document list.
  func remove(_ id: TargetID) throws(StoreError) {
    try connection.run("DELETE FROM targets WHERE id = ?", id)
    try removeMembers(of: id)
  }

  func sequenceNumbers() throws(StoreError) -> [Int64] {
    try connection.all("SELECT sequence_number FROM targets") { $0.integer(0) }
  }

  // MARK: Membership

  /// - Parameter documents: preferably in ascending order, because neighboring rows share pages.
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

  /// The target's documents, in ascending order.
  /// - Throws: `corrupt` if the document list was altered on disk.
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

/// The stored data of a target.
package struct TargetData: Sendable {
  package var id: TargetID
  package var target: Target
  /// The cache's sequence number for the target's last use, which determines the order of garbage collection.
  package var sequenceNumber: Int64
  package var purpose: TargetPurpose
  /// The snapshot version that `resumeToken` belongs to.
  package var snapshotVersion: SnapshotVersion?
  /// The last snapshot at which the target's view had no documents in limbo. A document that has not changed since then
  /// matches now if and only if it matched then.
  package var lastLimboFreeSnapshotVersion: SnapshotVersion?
  package var resumeToken: ResumeToken?

  package init(
    id: TargetID, target: Target, sequenceNumber: Int64, purpose: TargetPurpose = .listen,
    snapshotVersion: SnapshotVersion? = nil, lastLimboFreeSnapshotVersion: SnapshotVersion? = nil,
    resumeToken: ResumeToken? = nil
  ) {
    self.id = id
    self.target = target
    self.sequenceNumber = sequenceNumber
    self.purpose = purpose
    self.snapshotVersion = snapshotVersion
    self.lastLimboFreeSnapshotVersion = lastLimboFreeSnapshotVersion
    self.resumeToken = resumeToken
  }
}

/// A digest of a target's documents, regardless of their order: the exclusive or of their hashes. Updating the digest
/// takes the same time for any number of documents.
struct MemberDigest: Hashable {
  private(set) var value: Int64 = 0

  /// Adds a document to the digest, or removes it if the digest already includes it.
  mutating func toggle(_ document: DocumentNumber) { value ^= Self.hash(document.rawValue) }

  /// A bijection whose results look random (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014).
  private static func hash(_ number: Int64) -> Int64 {
    var bits = UInt64(bitPattern: number) &+ 0x9E37_79B9_7F4A_7C15
    bits = (bits ^ bits >> 30) &* 0xBF58_476D_1CE4_E5B9
    bits = (bits ^ bits >> 27) &* 0x94D0_49BB_1331_11EB
    return Int64(bitPattern: bits ^ bits >> 31)
  }
}

extension TargetCache {
  /// - Throws: `corrupt` if the target's documents on disk do not have this digest.
  func check(_ digest: MemberDigest, of id: TargetID) throws(StoreError) {
    let stored = try connection.integer("SELECT members FROM targets WHERE id = ?", id)
    if let stored, stored != digest.value { throw Self.exchanged }
  }

  /// Updates a target's stored digest for documents that were added or removed.
  func toggle(_ digest: MemberDigest, of id: TargetID) throws(StoreError) {
    if digest == MemberDigest() { return }
    // SQLite has no operator for exclusive or.
    try connection.run(
      "UPDATE targets SET members = (members | ?1) - (members & ?1) WHERE id = ?2", digest.value, id)
  }

  /// Checks the document list of every target. Takes time linear in the length of all lists.
  func checkMembers() throws(StoreError) {
    let digests = try memberDigests()
    try connection.forEachRow("SELECT id, members FROM targets WHERE members NOT NULL") { row throws(StoreError) in
      guard digests[row.integer(0), default: MemberDigest()].value == row.integer(1) else { throw Self.exchanged }
    }
  }

  private func memberDigests() throws(StoreError) -> [Int64: MemberDigest] {
    var digests: [Int64: MemberDigest] = [:]
    try connection.forEachRow("SELECT target, document FROM target_documents") { row in
      digests[row.integer(0), default: MemberDigest()].toggle(row.number(1))
    }
    return digests
  }

  private static var exchanged: StoreError {
    .damaged("a target's documents differ from the stored documents")
  }
}

extension CacheDatabase {
  /// Calls `body` with the rows of a target's documents, in ascending order.
  /// - Throws: `corrupt`, after the last row, if the document list was altered on disk.
  func scanMembers(
    of id: TargetID, _ body: (DocumentRow) throws(StoreError) -> Void
  ) throws(StoreError) {
    var digest = MemberDigest()
    try documents.scan(target: id) { row throws(StoreError) in
      digest.toggle(row.number)
      try body(row)
    }
    try targets.check(digest, of: id)
  }
}
