// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreModel
import FirestoreProtocol
import FirestoreSQLite

/// The dead-letter queue: the batches that the backend refused, per user, until they are sent again or dropped.
///
/// It is bounded: beyond `maximumCount` batches or `maximumBytes` of one user the oldest are forgotten, but never the
/// one that was refused last.
struct RejectedWriteTable {
  static let maximumCount: Int64 = 1_000
  /// The bound of bytes, which is that of one commit.
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
      checksum INTEGER NOT NULL   -- of `batch`
    ) STRICT;
    CREATE INDEX rejected_writes_by_user ON rejected_writes (user, id, byte_count);
    """

  let connection: Connection

  func add(
    _ batch: MutationBatch, _ rejection: Rejection, of user: UserNumber
  ) throws(StoreError) {
    let bytes = batch.encoded()
    try connection.run(
      """
      INSERT INTO rejected_writes (id, user, byte_count, rejected_at, attempts, code, message, batch, checksum)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
      """, batch.id.rawValue, user, bytes.count, rejection.time.microseconds, rejection.attempts,
      rejection.status.code.rawValue, rejection.status.message, bytes,
      RowChecksum.of(bytes, numbers: (batch.id.rawValue, user.rawValue)))
    try connection.run(
      """
      DELETE FROM rejected_writes WHERE id IN (
        SELECT id FROM (
          SELECT id, row_number() OVER newest AS rank, sum(byte_count) OVER newest AS bytes
          FROM rejected_writes WHERE user = ? WINDOW newest AS (ORDER BY id DESC)
        ) WHERE rank > 1 AND (rank > ? OR bytes > ?))
      """, user, Self.maximumCount, Self.maximumBytes)
  }

  /// - Returns: whether the write was there.
  func remove(_ id: BatchID, of user: UserNumber) throws(StoreError) -> Bool {
    try connection.run("DELETE FROM rejected_writes WHERE id = ? AND user = ?", id.rawValue, user)
    return connection.rowsChangedLast > 0
  }

  /// - Returns: the number of writes that were removed.
  func removeAll(of user: UserNumber) throws(StoreError) -> Int {
    try connection.run("DELETE FROM rejected_writes WHERE user = ?", user)
    return connection.rowsChangedLast
  }

  /// The refused writes of a user, in the order in which they were written.
  func writes(of user: UserNumber) throws(StoreError) -> [RejectedWrite] {
    try connection.all(
      """
      SELECT id, rejected_at, attempts, code, message, batch, checksum, user FROM rejected_writes
      WHERE user = ? ORDER BY id
      """, user, as: Self.decode)
  }

  /// Reads every write. O(size).
  func verify() throws(StoreError) {
    try connection.forEachRow(
      "SELECT id, rejected_at, attempts, code, message, batch, checksum, user FROM rejected_writes"
    ) { row throws(StoreError) in _ = try Self.decode(row) }
  }

  private static func decode(_ row: Row) throws(StoreError) -> RejectedWrite {
    let bytes = row.blob(5)
    let isIntact = RowChecksum.holds(
      row.optionalInteger(6), for: row.blobBytes(5), numbers: (row.integer(0), row.integer(7)))
    guard isIntact else { throw .damaged("a rejected write has changed on disk") }
    do throws(ModelError) {
      let batch = try MutationBatch(decoding: bytes)
      let status = RPCStatus(StatusCode(rawValue: Int(row.integer(3))) ?? .unknown, row.text(4))
      let rejection = Rejection(
        status: status, time: Timestamp(microseconds: row.integer(1)), attempts: Int(row.integer(2)))
      return RejectedWrite(
        id: BatchID(row.integer(0)), mutations: batch.mutations, localWriteTime: batch.localWriteTime,
        rejection: rejection, byteCount: bytes.count)
    } catch {
      throw .damaged("a rejected write cannot be read (\(error.message))")
    }
  }
}
