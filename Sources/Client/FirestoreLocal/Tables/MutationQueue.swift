// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreModel
import FirestoreProtocol
import FirestoreSQLite

/// The pending batches of each user. Batch numbers increase across users and restarts, and are never reused (S4).
struct MutationQueue {
  let connection: Connection
  let collections: CollectionTable
  let numbers: BatchNumbers

  /// The number of a user, assigned on first use; `nil` is the signed-out user.
  func number(ofUser name: String?) throws(StoreError) -> UserNumber {
    let known = try connection.integer("SELECT id FROM users WHERE name IS ?", name)
    if let known { return UserNumber(rawValue: known) }
    let given = try connection.integer("INSERT INTO users (name) VALUES (?) RETURNING id", name)
    guard let given else { throw StoreError(.sqlite, "SQLite returned no number for a new user.") }
    return UserNumber(rawValue: given)
  }

  /// Stores a batch, but not the list of the documents that it changes; `OverlayCache.add` stores that list.
  /// - Returns: the batch with its new number.
  func add(
    _ mutations: [Mutation], base: [Mutation], in generation: Int64, at localWriteTime: Timestamp, for user: UserNumber
  ) throws(StoreError) -> MutationBatch {
    let number = try numbers.next()
    let batch = MutationBatch(
      id: BatchID(number), generation: generation, localWriteTime: localWriteTime, baseMutations: base,
      mutations: mutations)
    let bytes = batch.encoded()
    try connection.run(
      "INSERT INTO mutation_batches (id, user, batch, checksum) VALUES (?, ?, ?, ?)", number, user, bytes,
      RowChecksum.of(bytes, numbers: (number, user.rawValue)))
    return batch
  }

  func batch(_ id: BatchID, of user: UserNumber) throws(StoreError) -> MutationBatch? {
    try connection.first(
      "SELECT batch, id, checksum, user FROM mutation_batches WHERE id = ? AND user = ?", id.rawValue, user,
      as: Self.decode)
  }

  /// Removes a batch from the queue, but not from the lists of the documents that it changes; `OverlayCache.remove`
  /// does that.
  /// - Returns: whether the batch was in the queue.
  func remove(_ batch: BatchID, of user: UserNumber) throws(StoreError) -> Bool {
    let number = batch.rawValue
    try numbers.settled(number)
    try connection.run("DELETE FROM mutation_batches WHERE id = ? AND user = ?", number, user)
    return connection.rowsChangedLast > 0
  }

  func batches(of user: UserNumber) throws(StoreError) -> [MutationBatch] {
    try connection.all(
      "SELECT batch, id, checksum, user FROM mutation_batches WHERE user = ? ORDER BY id", user, as: Self.decode)
  }

  /// A user's batches between two numbers, in order.
  func batches(of user: UserNumber, after first: BatchID?, before last: BatchID) throws(StoreError) -> [MutationBatch] {
    try connection.all(
      "SELECT batch, id, checksum, user FROM mutation_batches WHERE id > ? AND id < ? AND user = ? ORDER BY id",
      first?.rawValue ?? 0, last.rawValue, user, as: Self.decode)
  }

  func count(of user: UserNumber) throws(StoreError) -> Int {
    Int(try connection.integer("SELECT count(*) FROM mutation_batches WHERE user = ?", user) ?? 0)
  }

  /// A user's batches that change one document, in order.
  func batches(
    affecting collection: CollectionNumber, _ name: String, of user: UserNumber
  ) throws(StoreError) -> [MutationBatch] {
    try connection.all(
      """
      SELECT mutation_batches.batch, mutation_batches.id, checksum, mutation_batches.user FROM batch_documents
      JOIN mutation_batches ON mutation_batches.id = batch_documents.batch
      WHERE batch_documents.collection = ? AND batch_documents.name = ? AND batch_documents.user = ?
      ORDER BY batch_documents.batch
      """, collection, name, user, as: Self.decode)
  }

  /// Whether any user's pending batch changes the document.
  func affects(_ collection: CollectionNumber, _ name: String) throws(StoreError) -> Bool {
    try connection.exists("SELECT 1 FROM batch_documents WHERE collection = ? AND name = ? LIMIT 1", collection, name)
  }

  /// The id of a user's first batch that changes the document. Ignores a batch that is leaving the queue.
  func firstID(
    affecting collection: CollectionNumber, _ name: String, of user: UserNumber, without leaving: BatchID
  ) throws(StoreError) -> BatchID? {
    try connection.first(
      """
      SELECT batch FROM batch_documents WHERE collection = ? AND name = ? AND user = ? AND batch <> ?
      ORDER BY batch LIMIT 1
      """, collection, name, user, leaving.rawValue
    ) { BatchID($0.integer(0)) }
  }

  /// The next user, by number, who has batches that change the document. Reads one row, regardless of the number of
  /// batches.
  func user(
    after last: UserNumber?, affecting collection: CollectionNumber, _ name: String
  ) throws(StoreError) -> UserNumber? {
    try connection.first(
      """
      SELECT user FROM pending_documents WHERE collection = ? AND name = ? AND user > ? ORDER BY user LIMIT 1
      """, collection, name, last?.rawValue ?? .min
    ) { UserNumber(rawValue: $0.integer(0)) }
  }

  /// Whether any user has a pending batch.
  func hasAny() throws(StoreError) -> Bool { try connection.exists("SELECT 1 FROM mutation_batches LIMIT 1") }

  /// The documents that a user's batches change.
  func keys(of user: UserNumber) throws(StoreError) -> [DocumentKey] {
    try connection.all("SELECT DISTINCT collection, name FROM batch_documents WHERE user = ?", user) {
      row throws(StoreError) in try collections.key(row.number(0), row.text(1))
    }
  }

  /// Reads the batches of all users. Takes O(size) time.
  func verify() throws(StoreError) {
    try connection.forEachRow("SELECT batch, id, checksum, user FROM mutation_batches") { row throws(StoreError) in
      _ = try Self.decode(row)
    }
  }

  /// - Parameter row: a row with the encoded batch, its number, its checksum and its user.
  private static func decode(_ row: Row) throws(StoreError) -> MutationBatch {
    let isIntact = RowChecksum.holds(
      row.optionalInteger(2), for: row.blobBytes(0), numbers: (row.integer(1), row.integer(3)))
    guard isIntact else { throw .damaged("a pending write has changed on disk and was not sent") }
    let batch: MutationBatch
    do throws(ModelError) {
      batch = try MutationBatch(decoding: row.blob(0))
    } catch {
      throw .damaged("a pending write cannot be read (\(error.message))")
    }
    guard batch.id.rawValue == row.integer(1) else { throw StoredNumbers.damage("a batch's number", row.integer(1)) }
    return batch
  }
}

/// The dead-letter queue: the rejected batches of each user, until they are sent again or dropped.
///
/// If one user has more than `maximumCount` batches, or batches of more than `maximumBytes`, the oldest batches are
/// dropped. The most recently rejected batch is never dropped.
struct RejectedWriteTable {
  static let maximumCount: Int64 = 1_000
  /// The maximum total size in bytes. It equals the size limit of one commit.
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

  /// - Returns: whether the write was in the table.
  func remove(_ id: BatchID, of user: UserNumber) throws(StoreError) -> Bool {
    try connection.run("DELETE FROM rejected_writes WHERE id = ? AND user = ?", id.rawValue, user)
    return connection.rowsChangedLast > 0
  }

  /// - Returns: the number of removed writes.
  func removeAll(of user: UserNumber) throws(StoreError) -> Int {
    try connection.run("DELETE FROM rejected_writes WHERE user = ?", user)
    return connection.rowsChangedLast
  }

  /// The rejected writes of a user, in the order of their creation.
  func writes(of user: UserNumber) throws(StoreError) -> [RejectedWrite] {
    try connection.all(
      """
      SELECT id, rejected_at, attempts, code, message, batch, checksum, user FROM rejected_writes
      WHERE user = ? ORDER BY id
      """, user, as: Self.decode)
  }

  /// Reads every write. Takes O(size) time.
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
