// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreModel
import FirestoreProtocol

/// The dead-letter queue: the batches that the backend refused, per user, until they are sent again or dropped.
///
/// It is bounded: beyond `maximumCount` batches or `maximumBytes` of one user the oldest are forgotten, but never the
/// one that was refused last.
struct RejectedWriteTable {
  static let maximumCount: Int64 = 1_000
  /// As much as one commit may have.
  static let maximumBytes: Int64 = 10_485_760

  static let schema = """
    CREATE TABLE rejected_writes (
      id INTEGER PRIMARY KEY,     -- the batch's number
      user INTEGER NOT NULL,
      byte_count INTEGER NOT NULL,
      rejected_at INTEGER NOT NULL,
      attempts INTEGER NOT NULL,
      code INTEGER NOT NULL,
      message TEXT NOT NULL,
      batch BLOB NOT NULL,
      checksum INTEGER            -- of `batch`; NULL: stored before there were any
    ) STRICT;
    CREATE INDEX rejected_writes_by_user ON rejected_writes (user, id, byte_count);
    """

  private let insert: Statement
  private let excess: Statement
  private let delete: Statement
  private let deleteAll: Statement
  private let all: Statement

  init(_ connection: Connection) throws(LocalStoreError) {
    insert = try connection.prepare(
      """
      INSERT INTO rejected_writes (id, user, byte_count, rejected_at, attempts, code, message, batch, checksum)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
      """)
    excess = try connection.prepare(
      """
      SELECT id FROM (
        SELECT id, row_number() OVER newest AS rank, sum(byte_count) OVER newest AS bytes
        FROM rejected_writes WHERE user = ? WINDOW newest AS (ORDER BY id DESC)
      ) WHERE rank > 1 AND (rank > ? OR bytes > ?)
      """)
    delete = try connection.prepare("DELETE FROM rejected_writes WHERE id = ? AND user = ? RETURNING id")
    deleteAll = try connection.prepare("DELETE FROM rejected_writes WHERE user = ? RETURNING id")
    all = try connection.prepare(
      """
      SELECT \(Self.columns) FROM rejected_writes WHERE user = ? ORDER BY id
      """)
  }

  func add(
    _ batch: MutationBatch, _ rejection: Rejection, of user: MutationQueue.User
  ) throws(LocalStoreError) {
    let bytes = batch.encoded()
    insert.bind(batch.id.rawValue, at: 1).bind(user, at: 2).bind(Int64(bytes.count), at: 3)
    insert.bind(rejection.time.microseconds, at: 4).bind(Int64(rejection.attempts), at: 5)
    insert.bind(Int64(rejection.status.code.rawValue), at: 6).bind(rejection.status.message, at: 7)
    try insert.bind(bytes, at: 8).bind(RowChecksum.of(bytes, numbers: (batch.id.rawValue, user)), at: 9).run()
    var forgotten: [BatchID] = []
    try excess.bind(user, at: 1).bind(Self.maximumCount, at: 2).bind(Self.maximumBytes, at: 3)
      .forEachRow { forgotten.append(BatchID($0.integer(0))) }
    for id in forgotten { _ = try remove(id, of: user) }
  }

  /// - Returns: whether it was there.
  func remove(_ id: BatchID, of user: MutationQueue.User) throws(LocalStoreError) -> Bool {
    try delete.bind(id.rawValue, at: 1).bind(user, at: 2).count() > 0
  }

  /// - Returns: how many there were.
  func removeAll(of user: MutationQueue.User) throws(LocalStoreError) -> Int {
    try deleteAll.bind(user, at: 1).count()
  }

  /// In the order in which they were written.
  func writes(of user: MutationQueue.User) throws(LocalStoreError) -> [RejectedWrite] {
    var writes: [RejectedWrite] = []
    try all.bind(user, at: 1).forEachRow { row throws(LocalStoreError) in writes.append(try Self.decode(row)) }
    return writes
  }

  static let columns = "id, rejected_at, attempts, code, message, batch, checksum, user"

  static func decode(_ row: Statement) throws(LocalStoreError) -> RejectedWrite {
    let bytes = row.blob(5)
    let isIntact = RowChecksum.holds(
      row.optionalInteger(6), for: row.blobBytes(5), numbers: (row.integer(0), row.integer(7)))
    guard isIntact else {
      throw LocalStoreError(.corrupt, "The cache is damaged: a rejected write has changed on disk.")
    }
    do throws(ModelError) {
      let batch = try MutationBatch(decoding: bytes)
      let status = RPCStatus(StatusCode(rawValue: Int(row.integer(3))) ?? .unknown, row.text(4))
      let rejection = Rejection(
        status: status, time: Timestamp(microseconds: row.integer(1)), attempts: Int(row.integer(2)))
      return RejectedWrite(
        id: BatchID(row.integer(0)), mutations: batch.mutations, localWriteTime: batch.localWriteTime,
        rejection: rejection, byteCount: bytes.count)
    } catch {
      throw LocalStoreError(.corrupt, "The cache is damaged: a rejected write cannot be read (\(error.message)).")
    }
  }
}

extension Statement {
  /// Runs to the end.
  /// - Returns: the number of rows.
  fileprivate func count() throws(LocalStoreError) -> Int {
    var count = 0
    try forEachRow { _ in count += 1 }
    return count
  }
}
