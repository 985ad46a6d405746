// SPDX-License-Identifier: Apache-2.0
import FirestoreModel

/// The remote documents: what the backend last said, without local writes.
///
/// A row in state `placeholder` only gives a key its number, for a target that names a document without content here.
final class DocumentTable {
  /// `collection << 32 | n`.
  typealias Number = Int64

  /// What deciding about a change needs to know of a stored document.
  struct Header {
    var number: Number
    var version: Int64?
    var state: State
  }

  let connection: Connection
  private let collections: CollectionTable
  private let indexes: IndexTable
  /// The next free number of a collection, once asked for.
  private var nextNumbers: [CollectionTable.Number: Number] = [:]
  /// Of collections that have been scanned; for a database in memory only.
  private var mirrors: [CollectionTable.Number: CollectionMirror] = [:]
  private let findHeader: Statement
  private let findByName: Statement
  private let findByNumber: Statement
  private let findName: Statement
  private let findLast: Statement
  private let insert: Statement
  private let insertAbsent: Statement
  private let update: Statement
  private let touch: Statement
  private let renew: Statement
  private let delete: Statement
  private let inCollection: Statement
  private let inCollectionFiltered: Statement
  private let rowFilter: RowFilter
  private let changedSince: Statement
  private let inTarget: Statement

  static let columns = "id, collection, name, version, create_time, state, fields, checksum"

  init(_ connection: Connection, _ collections: CollectionTable, _ indexes: IndexTable) throws(LocalStoreError) {
    self.connection = connection
    self.collections = collections
    self.indexes = indexes
    let columns = Self.columns
    findHeader = try connection.prepare("SELECT id, version, state FROM documents WHERE collection = ? AND name = ?")
    findByName = try connection.prepare("SELECT \(columns) FROM documents WHERE collection = ? AND name = ?")
    findByNumber = try connection.prepare("SELECT \(columns) FROM documents WHERE id = ?")
    findName = try connection.prepare("SELECT name FROM documents WHERE id = ?")
    findLast = try connection.prepare("SELECT max(id) FROM documents WHERE id BETWEEN ? AND ?")
    let insertion = """
      INSERT INTO documents
        (version, create_time, read_time, sequence_number, state, fields, checksum, id, collection, name)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      """
    insert = try connection.prepare(insertion)
    insertAbsent = try connection.prepare(insertion + " ON CONFLICT (collection, name) DO NOTHING")
    update = try connection.prepare(
      """
      UPDATE documents SET
        version = ?, create_time = ?, read_time = ?, sequence_number = ?, state = ?, fields = ?, checksum = ?
      WHERE id = ?
      """)
    touch = try connection.prepare("UPDATE documents SET sequence_number = ? WHERE id = ?")
    renew = try connection.prepare(
      "UPDATE documents SET sequence_number = ?, read_time = max(read_time, ?) WHERE id = ?")
    delete = try connection.prepare("DELETE FROM documents WHERE id = ?")
    inCollection = try connection.prepare("SELECT \(columns) FROM documents WHERE id BETWEEN ? AND ?")
    inCollectionFiltered = try connection.prepare(
      "SELECT \(columns) FROM documents WHERE id BETWEEN ? AND ? AND admits(fields)")
    rowFilter = connection.rowFilter
    changedSince = try connection.prepare(
      "SELECT \(columns) FROM documents WHERE collection = ? AND read_time > ?")
    inTarget = try connection.prepare(
      """
      SELECT \(columns)
      FROM target_documents JOIN documents ON id = document WHERE target = ? ORDER BY document
      """)
  }

  // MARK: Reading

  func header(_ collection: CollectionTable.Number, _ name: String) throws(LocalStoreError) -> Header? {
    try findHeader.bind(collection, at: 1).bind(name, at: 2).first { row throws(LocalStoreError) in
      Header(number: row.integer(0), version: row.optionalInteger(1), state: try Self.state(row.integer(2)))
    }
  }

  /// - Returns: `nil` when the cache holds nothing about the document.
  func document(_ key: DocumentKey) throws(LocalStoreError) -> Document? {
    guard let collection = try collections.number(of: key.collection) else { return nil }
    return try document(key, in: collection)
  }

  func document(_ key: DocumentKey, in collection: CollectionTable.Number) throws(LocalStoreError) -> Document? {
    try findByName.bind(collection, at: 1).bind(key.documentID, at: 2).first { row throws(LocalStoreError) in
      try Row(row).document(key)
    } ?? nil
  }

  func document(_ number: Number) throws(LocalStoreError) -> Document? {
    try findByNumber.bind(number, at: 1).first { row throws(LocalStoreError) in
      let row = Row(row)
      return try row.document(try collections.key(row.collection, row.name))
    } ?? nil
  }

  /// Calls `body` with one row, if it is there.
  func read(_ number: Number, _ body: (Row) throws(LocalStoreError) -> Void) throws(LocalStoreError) {
    try findByNumber.bind(number, at: 1).forEachRow { row throws(LocalStoreError) in try body(Row(row)) }
  }

  func name(_ number: Number) throws(LocalStoreError) -> String? {
    try findName.bind(number, at: 1).first { $0.text(0) }
  }

  /// Calls `body` for the rows of a collection in the order in which they were first stored, placeholders included.
  /// - Parameter admits: from their fields, whether rows may be wanted; `nil` for all rows.
  func scan(
    _ collection: CollectionTable.Number, where admits: RowFilter.Admits?,
    _ body: (Row) throws(LocalStoreError) -> Void
  ) throws(LocalStoreError) {
    let statement = admits == nil ? inCollection : inCollectionFiltered
    statement.bind(Self.first(collection), at: 1).bind(Self.last(collection), at: 2)
    try rowFilter.with(admits ?? { _ in true }) { () throws(LocalStoreError) in
      try statement.forEachRow { row throws(LocalStoreError) in try body(Row(row)) }
    }
  }

  /// What a scan reads instead of the rows; `nil` for a database on disk.
  func mirror(of collection: CollectionTable.Number) throws(LocalStoreError) -> CollectionMirror? {
    guard connection.isInMemory else { return nil }
    if let known = mirrors[collection] { return known }
    let mirror = CollectionMirror()
    let path = try collections.path(of: collection)
    try scan(collection, where: nil) { row throws(LocalStoreError) in
      if row.isFound { mirror.set(Self.index(row.number), try row.document(row.key(in: path))) }
    }
    mirrors[collection] = mirror
    return mirror
  }

  /// Keeps what scans read in step with the table.
  /// - Parameter encoded: the document's fields, if it has any.
  private func note(_ number: Number, _ document: Document?, _ encoded: EncodedFields?) {
    if mirrors.isEmpty { return }
    var stored = document
    if let encoded {
      stored?.state = .found(DocumentData(encoded: encoded))
      stored?.pending = document?.hasCommittedMutations == true ? .committed : .none
    } else {
      stored = nil
    }
    mirrors[number >> 32]?.set(Self.index(number), stored)
  }

  private static func index(_ number: Number) -> Int { Int(number & 0xffff_ffff) }

  /// Calls `body` for the rows of a collection from a number on, ascending, until it returns false.
  func scan(
    _ collection: CollectionTable.Number, from number: Number, _ body: (Row) throws(LocalStoreError) -> Bool
  ) throws(LocalStoreError) {
    inCollection.bind(max(number, Self.first(collection)), at: 1).bind(Self.last(collection), at: 2)
    defer { inCollection.reset() }
    while try inCollection.step() {
      guard try body(Row(inCollection)) else { return }
    }
  }

  /// How many numbers a collection has given out and may still use: the number of its documents or somewhat more.
  func extent(of collection: CollectionTable.Number) throws(LocalStoreError) -> Int {
    findLast.bind(Self.first(collection), at: 1).bind(Self.last(collection), at: 2)
    guard let last = try findLast.first({ $0.optionalInteger(0) }) ?? nil else { return 0 }
    return Int(last - Self.first(collection)) + 1
  }

  /// Calls `body` for the rows of a collection that were stored with a later read time.
  func scan(
    _ collection: CollectionTable.Number, changedSince time: SnapshotVersion,
    _ body: (Row) throws(LocalStoreError) -> Void
  ) throws(LocalStoreError) {
    try changedSince.bind(collection, at: 1).bind(time.microseconds, at: 2)
      .forEachRow { row throws(LocalStoreError) in try body(Row(row)) }
  }

  /// Calls `body` for the documents that belong to a target.
  func scan(target: Int64, _ body: (Row) throws(LocalStoreError) -> Void) throws(LocalStoreError) {
    try inTarget.bind(target, at: 1).forEachRow { row throws(LocalStoreError) in try body(Row(row)) }
  }

  // MARK: Writing

  /// Stores a document over `header`, or as a new row.
  @discardableResult
  func store(
    _ document: Document, over header: Header?, in collection: CollectionTable.Number, readTime: SnapshotVersion?,
    sequenceNumber: Int64
  ) throws(LocalStoreError) -> Number {
    let isIndexed = try !indexes.indexes(of: collection).isEmpty
    if isIndexed, let header, header.state.isFound {
      try updateEntries(of: header.number, to: document.data?.encoded)
    }
    let statement = header == nil ? insert : update
    let encoded = document.data?.encoded
    let number = if let header { header.number } else { try takeNumber(collection) }
    let name = document.key.documentID
    bind(document, name, encoded?.bytes, as: number, in: collection, readTime, sequenceNumber, to: statement)
    if header == nil { statement.bind(collection, at: 9).bind(name, at: 10) }
    try statement.run()
    note(number, document, encoded)
    if header == nil {
      try indexes.append(number, encoded)
    } else if isIndexed, header?.state.isFound != true {
      try indexes.update(number, from: nil, to: encoded)
    }
    return number
  }

  /// Stores a document unless there is something under its key.
  /// - Returns: `nil` if there is.
  func insertIfAbsent(
    _ document: Document, _ name: String, in collection: CollectionTable.Number, readTime: SnapshotVersion?,
    sequenceNumber: Int64
  ) throws(LocalStoreError) -> Number? {
    let number = try takeNumber(collection)
    let encoded = document.data?.encoded
    bind(document, name, encoded?.bytes, as: number, in: collection, readTime, sequenceNumber, to: insertAbsent)
    try insertAbsent.bind(collection, at: 9).bind(name, at: 10).run()
    guard connection.rowsChangedLast == 1 else {
      nextNumbers[collection] = number
      return nil
    }
    note(number, document, encoded)
    try indexes.append(number, encoded)
    return number
  }

  private func bind(
    _ document: Document, _ name: String, _ fields: [UInt8]?, as number: Number,
    in collection: CollectionTable.Number, _ readTime: SnapshotVersion?, _ sequenceNumber: Int64,
    to statement: Statement
  ) {
    let header = DocumentChecksum.Header(
      number: number, collection: collection, version: document.version?.microseconds,
      createTime: document.createTime?.microseconds, state: State(of: document).rawValue)
    statement.bind(header.version, at: 1).bind(header.createTime, at: 2)
      .bind(readTime?.microseconds ?? 0, at: 3).bind(sequenceNumber, at: 4).bind(header.state, at: 5)
    statement.bind(fields, at: 6).bind(DocumentChecksum.of(fields, header, named: name), at: 7).bind(number, at: 8)
  }

  /// Gives a key a number without knowing anything about its document.
  func storePlaceholder(
    _ collection: CollectionTable.Number, _ name: String, sequenceNumber: Int64
  ) throws(LocalStoreError) -> Number {
    let number = try takeNumber(collection)
    bindPlaceholder(insert, number, sequenceNumber)
    try insert.bind(collection, at: 9).bind(name, at: 10).run()
    return number
  }

  /// Forgets the content of a document that a target still names.
  func clear(_ number: Number, sequenceNumber: Int64) throws(LocalStoreError) {
    try updateEntries(of: number, to: nil)
    bindPlaceholder(update, number, sequenceNumber)
    try update.run()
    note(number, nil, nil)
  }

  private func bindPlaceholder(_ statement: Statement, _ number: Number, _ sequenceNumber: Int64) {
    let none: Int64? = nil
    statement.bind(none, at: 1).bind(none, at: 2).bind(0, at: 3).bind(sequenceNumber, at: 4)
      .bind(State.placeholder.rawValue, at: 5).bind(none, at: 6).bind(none, at: 7).bind(number, at: 8)
  }

  func touch(_ number: Number, sequenceNumber: Int64) throws(LocalStoreError) {
    try touch.bind(sequenceNumber, at: 1).bind(number, at: 2).run()
  }

  /// Lists the document among the changed ones: it left a result that it may belong to all the same.
  func renew(_ number: Number, readTime: SnapshotVersion, sequenceNumber: Int64) throws(LocalStoreError) {
    try renew.bind(sequenceNumber, at: 1).bind(readTime.microseconds, at: 2).bind(number, at: 3).run()
  }

  /// - Precondition: no target names the document.
  func remove(_ number: Number) throws(LocalStoreError) {
    try updateEntries(of: number, to: nil)
    try delete.bind(number, at: 1).run()
    note(number, nil, nil)
  }

  /// Brings the index entries of a stored document in line with the fields it is about to have.
  private func updateEntries(of number: Number, to fields: EncodedFields?) throws(LocalStoreError) {
    if try indexes.indexes(of: number >> 32).isEmpty { return }
    var old: EncodedFields?
    var isDamaged = false
    try read(number) { row in
      guard row.isFound else { return }
      old = row.intactFields
      isDamaged = old == nil
    }
    // What the entries were made of is not known any more.
    if isDamaged { try indexes.removeAll(of: number) }
    try indexes.update(number, from: old, to: fields)
  }

  /// Drops what is remembered, because the transaction that changed it may have been undone.
  func forget() {
    nextNumbers = [:]
    mirrors = [:]
  }

  // MARK: Numbers

  private static func first(_ collection: CollectionTable.Number) -> Number { collection << 32 }
  private static func last(_ collection: CollectionTable.Number) -> Number { collection << 32 | 0xffff_ffff }

  private func takeNumber(_ collection: CollectionTable.Number) throws(LocalStoreError) -> Number {
    var number = nextNumbers[collection]
    if number == nil {
      findLast.bind(Self.first(collection), at: 1).bind(Self.last(collection), at: 2)
      number = try findLast.first { $0.optionalInteger(0) }.flatMap { $0 }.map { $0 + 1 } ?? Self.first(collection)
    }
    guard let number, number < Self.last(collection) else {
      throw LocalStoreError(.sqlite, "A collection of the cache has more documents than can be numbered.")
    }
    nextNumbers[collection] = number + 1
    return number
  }
}
