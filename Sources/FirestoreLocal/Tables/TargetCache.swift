// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery

/// The targets the cache knows, and which documents belong to each according to the backend.
struct TargetCache {
  let connection: Connection
  private let find: Statement
  private let store: Statement
  private let delete: Statement
  private let allSequenceNumbers: Statement
  private let addDocument: Statement
  private let removeDocument: Statement
  private let removeAll: Statement
  private let members: Statement
  let findDigest: Statement
  private let toggleDigest: Statement
  private let emptyDigest: Statement
  private let contains: Statement

  init(_ connection: Connection) throws(LocalStoreError) {
    self.connection = connection
    find = try connection.prepare(
      """
      SELECT \(Self.columns) FROM targets WHERE canonical_id = ?
      """)
    store = try connection.prepare(
      """
      INSERT INTO targets
        (id, canonical_id, target, sequence_number, snapshot_version, limbo_free_version, resume_token, checksum)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?)
      ON CONFLICT (id) DO UPDATE SET
        sequence_number = excluded.sequence_number, snapshot_version = excluded.snapshot_version,
        limbo_free_version = excluded.limbo_free_version, resume_token = excluded.resume_token,
        checksum = excluded.checksum
      """)
    delete = try connection.prepare("DELETE FROM targets WHERE id = ?")
    allSequenceNumbers = try connection.prepare("SELECT sequence_number FROM targets")
    addDocument = try connection.prepare("INSERT OR IGNORE INTO target_documents (target, document) VALUES (?, ?)")
    removeDocument = try connection.prepare("DELETE FROM target_documents WHERE target = ? AND document = ?")
    removeAll = try connection.prepare("DELETE FROM target_documents WHERE target = ?")
    members = try connection.prepare("SELECT document FROM target_documents WHERE target = ? ORDER BY document")
    findDigest = try connection.prepare("SELECT members FROM targets WHERE id = ?")
    // SQLite has no exclusive or.
    toggleDigest = try connection.prepare("UPDATE targets SET members = (members | ?1) - (members & ?1) WHERE id = ?2")
    emptyDigest = try connection.prepare("UPDATE targets SET members = 0 WHERE id = ?")
    contains = try connection.prepare("SELECT 1 FROM target_documents WHERE document = ? LIMIT 1")
  }

  func data(for target: Target) throws(LocalStoreError) -> TargetData? {
    try find.bind(target.canonicalID, at: 1).first { row throws(LocalStoreError) in
      try Self.check(row)
      guard try Self.decode(row.blob(1)) == target else { throw Self.misnamed }
      return TargetData(
        id: try Self.id(row.integer(0)), target: target,
        sequenceNumber: row.integer(2),
        snapshotVersion: try row.version(3), lastLimboFreeSnapshotVersion: try row.version(4),
        resumeToken: ResumeToken(row.blob(5)))
    }
  }

  static let columns =
    "id, target, sequence_number, snapshot_version, limbo_free_version, resume_token, checksum"

  /// - Parameter row: `columns`.
  /// - Throws: `corrupt` if they are not as they were stored.
  static func check(_ row: Statement) throws(LocalStoreError) {
    let isIntact = RowChecksum.holds(
      row.optionalInteger(6), for: row.blobBytes(1), row.blobBytes(5),
      numbers: (row.optionalInteger(3) ?? .min, row.optionalInteger(4) ?? .min))
    guard isIntact else { throw LocalStoreError(.corrupt, "The cache is damaged: a target has changed on disk.") }
  }

  static var misnamed: LocalStoreError {
    LocalStoreError(.corrupt, "The cache is damaged: a target is stored under another one's name.")
  }

  static func id(_ number: Int64) throws(LocalStoreError) -> TargetID {
    guard let id = Int32(exactly: number), id > 0 else { throw StoredNumbers.damage("a target's id", number) }
    return TargetID(id)
  }

  static func decode(_ bytes: [UInt8]) throws(LocalStoreError) -> Target {
    do throws(ModelError) {
      return try Target(decoding: bytes)
    } catch {
      throw LocalStoreError(.corrupt, "The cache is damaged: a target cannot be read (\(error.message)).")
    }
  }

  func set(_ data: TargetData) throws(LocalStoreError) {
    let (target, token) = (data.target.encoded(), data.resumeToken?.bytes)
    let (version, limboFree) = (data.snapshotVersion?.microseconds, data.lastLimboFreeSnapshotVersion?.microseconds)
    let checksum = RowChecksum.of(target, token ?? [], numbers: (version ?? .min, limboFree ?? .min))
    store.bind(Int64(data.id.rawValue), at: 1).bind(data.target.canonicalID, at: 2).bind(target, at: 3)
    store.bind(data.sequenceNumber, at: 4).bind(version, at: 5).bind(limboFree, at: 6)
    try store.bind(token, at: 7).bind(checksum, at: 8).run()
  }

  /// Removes a target and its membership.
  func remove(_ id: TargetID) throws(LocalStoreError) {
    try delete.bind(Int64(id.rawValue), at: 1).run()
    try removeMembers(of: id)
  }

  func sequenceNumbers() throws(LocalStoreError) -> [Int64] {
    var numbers: [Int64] = []
    try allSequenceNumbers.forEachRow { numbers.append($0.integer(0)) }
    return numbers
  }

  // MARK: Membership

  /// - Parameter documents: best ascending; neighbours share pages.
  func add(_ documents: some Sequence<DocumentTable.Number>, to id: TargetID) throws(LocalStoreError) {
    try change(documents, of: id, by: addDocument)
  }

  func remove(_ documents: some Sequence<DocumentTable.Number>, from id: TargetID) throws(LocalStoreError) {
    try change(documents, of: id, by: removeDocument)
  }

  private func change(
    _ documents: some Sequence<DocumentTable.Number>, of id: TargetID, by statement: Statement
  ) throws(LocalStoreError) {
    var digest = MemberDigest()
    for document in documents {
      try statement.bind(Int64(id.rawValue), at: 1).bind(document, at: 2).run()
      if connection.rowsChangedLast > 0 { digest.toggle(document) }
    }
    guard digest != MemberDigest() else { return }
    try toggleDigest.bind(digest.value, at: 1).bind(Int64(id.rawValue), at: 2).run()
  }

  func removeMembers(of id: TargetID) throws(LocalStoreError) {
    try removeAll.bind(Int64(id.rawValue), at: 1).run()
    try emptyDigest.bind(Int64(id.rawValue), at: 1).run()
  }

  /// Ascending.
  /// - Throws: `corrupt` if they are others than those that were stored.
  func members(of id: TargetID) throws(LocalStoreError) -> [DocumentTable.Number] {
    var numbers: [DocumentTable.Number] = []
    var digest = MemberDigest()
    try members.bind(Int64(id.rawValue), at: 1).forEachRow { row in
      numbers.append(row.integer(0))
      digest.toggle(row.integer(0))
    }
    try check(digest, of: id)
    return numbers
  }

  func anyContains(_ document: DocumentTable.Number) throws(LocalStoreError) -> Bool {
    try contains.bind(document, at: 1).first { _ in true } ?? false
  }
}
