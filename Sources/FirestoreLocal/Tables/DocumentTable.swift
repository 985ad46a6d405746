// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreProtocol
import FirestoreSQLite

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
  private let rowFilter: RowFilter

  init(_ connection: Connection, _ collections: CollectionTable, _ indexes: IndexTable) throws(LocalStoreError) {
    self.connection = connection
    self.collections = collections
    self.indexes = indexes
    rowFilter = try RowFilter(connection)
  }

  // MARK: Reading

  func header(_ collection: CollectionTable.Number, _ name: String) throws(LocalStoreError) -> Header? {
    try connection.first("SELECT id, version, state FROM documents WHERE collection = ? AND name = ?", collection, name)
    {
      row throws(StoreError) in
      Header(number: row.integer(0), version: row.optionalInteger(1), state: try State(stored: row.integer(2)))
    }
  }

  /// - Returns: `nil` when the cache holds nothing about the document.
  func document(_ key: DocumentKey) throws(LocalStoreError) -> Document? {
    guard let collection = try collections.number(of: key.collection) else { return nil }
    return try document(key, in: collection)
  }

  func document(_ key: DocumentKey, in collection: CollectionTable.Number) throws(LocalStoreError) -> Document? {
    try connection.first(
      """
      SELECT id, collection, name, version, create_time, state, fields, checksum FROM documents
      WHERE collection = ? AND name = ?
      """, collection, key.documentID
    ) { row throws(StoreError) in try DocumentRow(row).document(key) } ?? nil
  }

  /// Calls `body` with one row, if it is there.
  func read(_ number: Number, _ body: (DocumentRow) throws(LocalStoreError) -> Void) throws(LocalStoreError) {
    try connection.forEachRow(
      "SELECT id, collection, name, version, create_time, state, fields, checksum FROM documents WHERE id = ?", number
    ) { row throws(StoreError) in try body(DocumentRow(row)) }
  }

  func name(_ number: Number) throws(LocalStoreError) -> String? {
    try connection.first("SELECT name FROM documents WHERE id = ?", number) { $0.text(0) }
  }

  /// Calls `body` for the rows of a collection in the order in which they were first stored, placeholders included.
  /// - Parameter admits: from their fields, whether rows may be wanted; `nil` for all rows.
  func scan(
    _ collection: CollectionTable.Number, where admits: RowFilter.Admits?,
    _ body: (DocumentRow) throws(LocalStoreError) -> Void
  ) throws(LocalStoreError) {
    guard let admits else {
      return try scan(collection, from: Self.first(collection)) { row throws(StoreError) in
        try body(row)
        return true
      }
    }
    try rowFilter.with(admits) { () throws(LocalStoreError) in
      try connection.forEachRow(
        """
        SELECT id, collection, name, version, create_time, state, fields, checksum FROM documents
        WHERE id BETWEEN ? AND ? AND admits(fields)
        """, Self.first(collection), Self.last(collection)
      ) { row throws(StoreError) in try body(DocumentRow(row)) }
    }
  }

  /// Calls `body` for the rows of a collection from a number on, ascending, until it returns false.
  func scan(
    _ collection: CollectionTable.Number, from number: Number, _ body: (DocumentRow) throws(LocalStoreError) -> Bool
  ) throws(LocalStoreError) {
    try connection.scan(
      """
      SELECT id, collection, name, version, create_time, state, fields, checksum FROM documents WHERE id BETWEEN ? AND ?
      """, max(number, Self.first(collection)), Self.last(collection)
    ) { row throws(StoreError) in try body(DocumentRow(row)) }
  }

  /// Calls `body` for the rows of a collection that were stored with a later read time.
  func scan(
    _ collection: CollectionTable.Number, changedSince time: SnapshotVersion,
    _ body: (DocumentRow) throws(LocalStoreError) -> Void
  ) throws(LocalStoreError) {
    try connection.forEachRow(
      """
      SELECT id, collection, name, version, create_time, state, fields, checksum FROM documents
      WHERE collection = ? AND read_time > ?
      """, collection, time.microseconds
    ) { row throws(StoreError) in try body(DocumentRow(row)) }
  }

  /// Calls `body` for the documents that belong to a target, ascending.
  func scan(target: TargetID, _ body: (DocumentRow) throws(LocalStoreError) -> Void) throws(LocalStoreError) {
    try connection.forEachRow(
      """
      SELECT id, collection, name, version, create_time, state, fields, checksum
      FROM target_documents JOIN documents ON id = document WHERE target = ? ORDER BY document
      """, target
    ) { row throws(StoreError) in try body(DocumentRow(row)) }
  }

  /// Reads every row. O(size).
  /// - Throws: `corrupt` for one that is not as it was stored.
  func verify() throws(LocalStoreError) {
    try connection.forEachRow(
      "SELECT id, collection, name, version, create_time, state, fields, checksum FROM documents"
    ) { row throws(StoreError) in
      let row = DocumentRow(row)
      try row.check()
      if row.isFound, row.intactFields == nil { throw StoredFields.changedOnDisk }
    }
  }

  /// How many numbers a collection has given out and may still use: the number of its documents or somewhat more.
  func extent(of collection: CollectionTable.Number) throws(LocalStoreError) -> Int {
    guard let last = try lastNumber(in: collection) else { return 0 }
    return Int(last - Self.first(collection)) + 1
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
    let encoded = document.data?.encoded
    let number = if let header { header.number } else { try takeNumber(collection) }
    let columns = Columns(
      document, document.key.documentID, encoded?.bytes, as: number, in: collection, readTime: readTime,
      sequenceNumber: sequenceNumber)
    if header == nil { try insert(columns) } else { try update(columns) }
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
    let isInserted = try insertIfAbsent(
      Columns(
        document, name, encoded?.bytes, as: number, in: collection, readTime: readTime, sequenceNumber: sequenceNumber))
    guard isInserted else {
      nextNumbers[collection] = number
      return nil
    }
    note(number, document, encoded)
    try indexes.append(number, encoded)
    return number
  }

  /// Gives a key a number without knowing anything about its document.
  func storePlaceholder(
    _ collection: CollectionTable.Number, _ name: String, sequenceNumber: Int64
  ) throws(LocalStoreError) -> Number {
    let number = try takeNumber(collection)
    try insert(Columns(placeholder: number, collection, name, sequenceNumber))
    return number
  }

  /// Forgets the content of a document that a target still names.
  func clear(_ number: Number, sequenceNumber: Int64) throws(LocalStoreError) {
    try updateEntries(of: number, to: nil)
    try update(Columns(placeholder: number, number >> 32, "", sequenceNumber))
    note(number, nil, nil)
  }

  private func insert(_ row: Columns) throws(LocalStoreError) {
    guard try insertIfAbsent(row) else { throw .damaged("document \(row.number) is there and is not found") }
  }

  private func insertIfAbsent(_ row: Columns) throws(LocalStoreError) -> Bool {
    try connection.run(
      """
      INSERT INTO documents
        (version, create_time, read_time, sequence_number, state, fields, checksum, id, collection, name)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (collection, name) DO NOTHING
      """, row.version, row.createTime, row.readTime, row.sequenceNumber, row.state.rawValue, row.fields, row.checksum,
      row.number, row.collection, row.name)
    return connection.rowsChangedLast == 1
  }

  private func update(_ row: Columns) throws(LocalStoreError) {
    try connection.run(
      """
      UPDATE documents SET
        version = ?, create_time = ?, read_time = ?, sequence_number = ?, state = ?, fields = ?, checksum = ?
      WHERE id = ?
      """, row.version, row.createTime, row.readTime, row.sequenceNumber, row.state.rawValue, row.fields, row.checksum,
      row.number)
  }

  func touch(_ number: Number, sequenceNumber: Int64) throws(LocalStoreError) {
    try connection.run("UPDATE documents SET sequence_number = ? WHERE id = ?", sequenceNumber, number)
  }

  /// Lists the document among the changed ones: it left a result that it may belong to all the same.
  func renew(_ number: Number, readTime: SnapshotVersion, sequenceNumber: Int64) throws(LocalStoreError) {
    try connection.run(
      "UPDATE documents SET sequence_number = ?, read_time = max(read_time, ?) WHERE id = ?", sequenceNumber,
      readTime.microseconds, number)
  }

  /// - Precondition: no target names the document.
  func remove(_ number: Number) throws(LocalStoreError) {
    try updateEntries(of: number, to: nil)
    try connection.run("DELETE FROM documents WHERE id = ?", number)
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

  private func lastNumber(in collection: CollectionTable.Number) throws(LocalStoreError) -> Number? {
    try connection.integer(
      "SELECT max(id) FROM documents WHERE id BETWEEN ? AND ?", Self.first(collection), Self.last(collection))
  }

  private func takeNumber(_ collection: CollectionTable.Number) throws(LocalStoreError) -> Number {
    var number = nextNumbers[collection]
    if number == nil { number = try lastNumber(in: collection).map { $0 + 1 } ?? Self.first(collection) }
    guard let number, number < Self.last(collection) else {
      throw LocalStoreError(.sqlite, "A collection of the cache has more documents than can be numbered.")
    }
    nextNumbers[collection] = number + 1
    return number
  }
}
