// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreProtocol

/// The batches that wait to be sent, per user. Numbers grow across users and restarts and are never used twice (S4).
struct MutationQueue {
  typealias User = Int64

  private let collections: CollectionTable
  private let numbers: BatchNumbers
  private let findUser: Statement
  private let insertUser: Statement
  private let insert: Statement
  private let insertDocument: Statement
  private let find: Statement
  private let delete: Statement
  private let deleteDocument: Statement
  private let next: Statement
  private let all: Statement
  private let highest: Statement
  private let counted: Statement
  private let affecting: Statement
  private let firstAffecting: Statement
  private let isAffectedByAnyone: Statement
  private let documents: Statement

  init(_ connection: Connection, _ collections: CollectionTable, _ numbers: BatchNumbers) throws(LocalStoreError) {
    self.collections = collections
    self.numbers = numbers
    findUser = try connection.prepare("SELECT id FROM users WHERE name IS ?")
    insertUser = try connection.prepare("INSERT INTO users (name) VALUES (?) RETURNING id")
    insert = try connection.prepare(
      "INSERT INTO mutation_batches (id, user, batch, checksum) VALUES (?, ?, ?, ?)")
    insertDocument = try connection.prepare(
      "INSERT OR IGNORE INTO pending_documents (collection, name, user, batch) VALUES (?, ?, ?, ?)")
    find = try connection.prepare(
      "SELECT batch, id, checksum, user FROM mutation_batches WHERE id = ? AND user = ?")
    delete = try connection.prepare("DELETE FROM mutation_batches WHERE id = ?")
    deleteDocument = try connection.prepare(
      "DELETE FROM pending_documents WHERE collection = ? AND name = ? AND user = ? AND batch = ?")
    next = try connection.prepare(
      "SELECT batch, id, checksum, user FROM mutation_batches WHERE user = ? AND id > ? ORDER BY id LIMIT 1")
    all = try connection.prepare(
      "SELECT batch, id, checksum, user FROM mutation_batches WHERE user = ? ORDER BY id")
    highest = try connection.prepare(
      "SELECT id FROM mutation_batches WHERE user = ? ORDER BY id DESC LIMIT 1")
    counted = try connection.prepare("SELECT count(*) FROM mutation_batches WHERE user = ?")
    affecting = try connection.prepare(
      """
      SELECT mutation_batches.batch, mutation_batches.id, checksum, mutation_batches.user FROM batch_documents
      JOIN mutation_batches ON mutation_batches.id = batch_documents.batch
      WHERE batch_documents.collection = ? AND batch_documents.name = ? AND batch_documents.user = ?
      ORDER BY batch_documents.batch
      """)
    firstAffecting = try connection.prepare(
      "SELECT batch FROM batch_documents WHERE collection = ? AND name = ? AND user = ? ORDER BY batch LIMIT 1")
    isAffectedByAnyone = try connection.prepare(
      "SELECT 1 FROM batch_documents WHERE collection = ? AND name = ? LIMIT 1")
    documents = try connection.prepare("SELECT DISTINCT collection, name FROM batch_documents WHERE user = ?")
  }

  /// The number of a user, given on first use; `nil` is the signed-out user.
  func number(ofUser name: String?) throws(LocalStoreError) -> User {
    if let number = try findUser.bind(name, at: 1).first({ $0.integer(0) }) { return number }
    guard let number = try insertUser.bind(name, at: 1).first({ $0.integer(0) }) else {
      throw LocalStoreError(.sqlite, "The cache did not number a new user.")
    }
    return number
  }

  /// - Returns: the batch under its new number.
  func add(
    _ mutations: [Mutation], base: [Mutation], in generation: Int64, at localWriteTime: Timestamp, for user: User
  ) throws(LocalStoreError) -> MutationBatch {
    let number = try numbers.next()
    let batch = MutationBatch(
      id: BatchID(number), generation: generation, localWriteTime: localWriteTime, baseMutations: base,
      mutations: mutations)
    let bytes = batch.encoded()
    insert.bind(number, at: 1).bind(user, at: 2).bind(bytes, at: 3)
    try insert.bind(RowChecksum.of(bytes, numbers: (number, user)), at: 4).run()
    for mutation in mutations {
      let collection = try collections.numberAdding(mutation.key.collection)
      insertDocument.bind(collection, at: 1).bind(mutation.key.documentID, at: 2)
      try insertDocument.bind(user, at: 3).bind(number, at: 4).run()
    }
    return batch
  }

  func batch(_ id: BatchID, of user: User) throws(LocalStoreError) -> MutationBatch? {
    try find.bind(id.rawValue, at: 1).bind(user, at: 2).first { row throws(LocalStoreError) in try Self.decode(row) }
  }

  func remove(_ batch: MutationBatch, of user: User) throws(LocalStoreError) {
    let number = batch.id.rawValue
    try numbers.settled(number)
    try delete.bind(number, at: 1).run()
    for key in batch.keys {
      let collection = try collections.numberAdding(key.collection)
      deleteDocument.bind(collection, at: 1).bind(key.documentID, at: 2)
      try deleteDocument.bind(user, at: 3).bind(number, at: 4).run()
    }
  }

  func next(after id: BatchID?, of user: User) throws(LocalStoreError) -> MutationBatch? {
    try next.bind(user, at: 1).bind(id?.rawValue ?? 0, at: 2).first { row throws(LocalStoreError) in
      try Self.decode(row)
    }
  }

  func batches(of user: User) throws(LocalStoreError) -> [MutationBatch] {
    var batches: [MutationBatch] = []
    try all.bind(user, at: 1).forEachRow { row throws(LocalStoreError) in batches.append(try Self.decode(row)) }
    return batches
  }

  func highestID(of user: User) throws(LocalStoreError) -> BatchID? {
    try highest.bind(user, at: 1).first { BatchID($0.integer(0)) }
  }

  func count(of user: User) throws(LocalStoreError) -> Int {
    try counted.bind(user, at: 1).first { Int($0.integer(0)) } ?? 0
  }

  /// A user's batches that change one document, in order.
  func batches(
    affecting collection: CollectionTable.Number, _ name: String, of user: User
  ) throws(LocalStoreError) -> [MutationBatch] {
    var batches: [MutationBatch] = []
    try affecting.bind(collection, at: 1).bind(name, at: 2).bind(user, at: 3)
      .forEachRow { row throws(LocalStoreError) in batches.append(try Self.decode(row)) }
    return batches
  }

  /// The first of a user's batches that change one document.
  func firstBatch(
    affecting collection: CollectionTable.Number, _ name: String, of user: User
  ) throws(LocalStoreError) -> MutationBatch? {
    try affecting.bind(collection, at: 1).bind(name, at: 2).bind(user, at: 3)
      .first { row throws(LocalStoreError) in try Self.decode(row) }
  }

  /// Whether a batch waits that changes the document.
  /// - Parameter user: `nil` for anyone's.
  func affects(
    _ collection: CollectionTable.Number, _ name: String, of user: User?
  ) throws(LocalStoreError) -> Bool {
    guard let user else {
      return try isAffectedByAnyone.bind(collection, at: 1).bind(name, at: 2).first { _ in true } ?? false
    }
    return try firstID(affecting: collection, name, of: user) != nil
  }

  /// The id of the first of a user's batches that change one document.
  func firstID(
    affecting collection: CollectionTable.Number, _ name: String, of user: User
  ) throws(LocalStoreError) -> BatchID? {
    try firstAffecting.bind(collection, at: 1).bind(name, at: 2).bind(user, at: 3).first { BatchID($0.integer(0)) }
  }

  /// Whether any user's batch waits.
  func hasAny() throws(LocalStoreError) -> Bool { try numbers.hasAny() }

  /// The documents that a user's batches change.
  func keys(of user: User) throws(LocalStoreError) -> [DocumentKey] {
    var keys: [DocumentKey] = []
    try documents.bind(user, at: 1).forEachRow { row throws(LocalStoreError) in
      keys.append(try collections.key(row.integer(0), row.text(1)))
    }
    return keys
  }

  /// - Parameter row: the encoded batch, the number under which it is stored, the checksum, and whose batch it is.
  static func decode(_ row: Statement) throws(LocalStoreError) -> MutationBatch {
    let isIntact = RowChecksum.holds(
      row.optionalInteger(2), for: row.blobBytes(0), numbers: (row.integer(1), row.integer(3)))
    guard isIntact else {
      throw LocalStoreError(.corrupt, "The cache is damaged: a pending write has changed on disk; it was not sent.")
    }
    let batch: MutationBatch
    do throws(ModelError) {
      batch = try MutationBatch(decoding: row.blob(0))
    } catch {
      throw LocalStoreError(.corrupt, "The cache is damaged: a pending write cannot be read (\(error.message)).")
    }
    guard batch.id.rawValue == row.integer(1) else { throw StoredNumbers.damage("a batch's number", row.integer(1)) }
    return batch
  }
}
