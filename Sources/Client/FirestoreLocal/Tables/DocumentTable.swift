// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreProtocol
import FirestoreSQLite

/// The remote documents: the backend's latest versions, without local writes.
///
/// A row in the state `placeholder` only assigns a number to a key. Such rows are for documents that belong to a target
/// but are not in the cache.
final class DocumentTable {
  /// The properties of a stored document that determine whether and how an update changes the row.
  struct Header {
    var number: DocumentNumber
    var version: Int64?
    var state: State
  }

  let connection: Connection
  private let collections: CollectionTable
  private let indexes: IndexTable
  /// The next free document number in each collection for which it was already looked up.
  private var nextNumbers: [CollectionNumber: DocumentNumber] = [:]
  /// The mirrors of scanned collections; only for a database in memory.
  private var mirrors: [CollectionNumber: CollectionMirror] = [:]
  /// The collections that were scanned without a mirror.
  private var scanned: Set<CollectionNumber> = []
  private let rowFilter: RowFilter

  init(_ connection: Connection, _ collections: CollectionTable, _ indexes: IndexTable) throws(StoreError) {
    self.connection = connection
    self.collections = collections
    self.indexes = indexes
    rowFilter = try RowFilter(connection)
  }

  // MARK: Reading

  func header(_ collection: CollectionNumber, _ name: String) throws(StoreError) -> Header? {
    try connection.first("SELECT id, version, state FROM documents WHERE collection = ? AND name = ?", collection, name)
    {
      row throws(StoreError) in
      Header(number: row.number(0), version: row.optionalInteger(1), state: try State(stored: row.integer(2)))
    }
  }

  /// - Returns: `nil` for a document that is not in the cache.
  func document(_ key: DocumentKey) throws(StoreError) -> Document? {
    guard let collection = try collections.number(of: key) else { return nil }
    return try document(key, in: collection)
  }

  func document(_ key: DocumentKey, in collection: CollectionNumber) throws(StoreError) -> Document? {
    try connection.first(
      """
      SELECT id, collection, name, version, create_time, state, fields, checksum FROM documents
      WHERE collection = ? AND name = ?
      """, collection, key.documentID
    ) { row throws(StoreError) in try DocumentRow(row).document(key) } ?? nil
  }

  /// The header of a document's row, and the document unless the row is a placeholder. `nil` if there is no row.
  func stored(
    _ key: DocumentKey, named name: String, in collection: CollectionNumber
  ) throws(StoreError) -> (header: Header, document: Document?)? {
    try connection.first(
      """
      SELECT id, collection, name, version, create_time, state, fields, checksum FROM documents
      WHERE collection = ? AND name = ?
      """, collection, name
    ) { row throws(StoreError) in
      let header = Header(
        number: row.number(0), version: row.optionalInteger(3), state: try State(stored: row.integer(5)))
      return (header, try DocumentRow(row).document(key))
    }
  }

  /// Calls `body` with one row, if it exists.
  func read(_ number: DocumentNumber, _ body: (DocumentRow) throws(StoreError) -> Void) throws(StoreError) {
    _ = try connection.first(
      "SELECT id, collection, name, version, create_time, state, fields, checksum FROM documents WHERE id = ?", number
    ) { row throws(StoreError) in try body(DocumentRow(row)) }
  }

  func name(_ number: DocumentNumber) throws(StoreError) -> String? {
    try connection.first("SELECT name FROM documents WHERE id = ?", number) { $0.text(0) }
  }

  /// Calls `body` for the rows of a collection in the order of their insertion, including placeholders.
  /// - Parameter admits: decides from a row's fields whether the row may match; `nil` for all rows.
  func scan(
    _ collection: CollectionNumber, where admits: RowFilter.Admits?,
    _ body: (DocumentRow) throws(StoreError) -> Void
  ) throws(StoreError) {
    guard let admits else {
      return try scan(collection, from: collection.documents.lowerBound) { row throws(StoreError) in
        try body(row)
        return true
      }
    }
    try rowFilter.with(admits) { () throws(StoreError) in
      try connection.forEachRow(
        """
        SELECT id, collection, name, version, create_time, state, fields, checksum FROM documents
        WHERE id BETWEEN ? AND ? AND admits(fields)
        """, collection.documents.lowerBound, collection.documents.upperBound
      ) { row throws(StoreError) in try body(DocumentRow(row)) }
    }
  }

  /// Calls `body` for the rows of a collection, in ascending order from a number, until `body` returns false.
  func scan(
    _ collection: CollectionNumber, from number: DocumentNumber, _ body: (DocumentRow) throws(StoreError) -> Bool
  ) throws(StoreError) {
    try connection.scan(
      """
      SELECT id, collection, name, version, create_time, state, fields, checksum FROM documents WHERE id BETWEEN ? AND ?
      """, max(number, collection.documents.lowerBound), collection.documents.upperBound
    ) { row throws(StoreError) in try body(DocumentRow(row)) }
  }

  /// Calls `body` for those rows of a collection whose read time is later than the given time.
  func scan(
    _ collection: CollectionNumber, changedSince time: SnapshotVersion,
    _ body: (DocumentRow) throws(StoreError) -> Void
  ) throws(StoreError) {
    try connection.forEachRow(
      """
      SELECT id, collection, name, version, create_time, state, fields, checksum FROM documents
      WHERE collection = ? AND read_time > ?
      """, collection, time.microseconds
    ) { row throws(StoreError) in try body(DocumentRow(row)) }
  }

  /// Calls `body` for the documents that belong to a target, in ascending order.
  func scan(target: TargetID, _ body: (DocumentRow) throws(StoreError) -> Void) throws(StoreError) {
    try connection.forEachRow(
      """
      SELECT id, collection, name, version, create_time, state, fields, checksum
      FROM target_documents JOIN documents ON id = document WHERE target = ? ORDER BY document
      """, target
    ) { row throws(StoreError) in try body(DocumentRow(row)) }
  }

  /// Reads every row. Takes O(size) time.
  /// - Throws: `corrupt` if a row was altered on disk.
  func verify() throws(StoreError) {
    try connection.forEachRow(
      "SELECT id, collection, name, version, create_time, state, fields, checksum FROM documents"
    ) { row throws(StoreError) in
      let row = DocumentRow(row)
      try row.check()
      if row.isFound, row.intactFields == nil { throw StoredFields.changedOnDisk }
    }
  }

  /// The size of a collection's range of document numbers, up to the highest number in use. It is an upper bound for
  /// the collection's document count.
  func extent(of collection: CollectionNumber) throws(StoreError) -> Int {
    guard let last = try lastNumber(in: collection) else { return 0 }
    return Int(last.ordinal) + 1
  }

  /// The mirror that a scan reads instead of the rows. `nil` for a database on disk, and for the first scan of a
  /// collection if that scan reads only few documents. Such a scan is faster than creating a mirror, which is
  /// worthwhile only if a second scan follows.
  /// - Parameter wantsAll: whether the scan reads every document.
  func mirror(of collection: CollectionNumber, wantsAll: Bool) throws(StoreError) -> CollectionMirror? {
    guard connection.isInMemory else { return nil }
    if let known = mirrors[collection] { return known }
    if !wantsAll, scanned.insert(collection).inserted { return nil }
    let mirror = CollectionMirror(expecting: try extent(of: collection))
    let path = try collections.path(of: collection)
    try scan(collection, where: nil) { row throws(StoreError) in
      if row.isFound { mirror.set(Int(row.number.ordinal), try row.document(row.key(in: path))) }
    }
    mirrors[collection] = mirror
    return mirror
  }

  /// Updates the mirror with a change of the table.
  /// - Parameter encoded: the document's fields; `nil` if it has none.
  private func note(_ number: DocumentNumber, _ document: Document?, _ encoded: EncodedFields?) {
    if mirrors.isEmpty { return }
    var stored = document
    if let encoded {
      stored?.state = .found(DocumentData(encoded: encoded))
      stored?.pending = document?.hasCommittedMutations == true ? .committed : .none
    } else {
      stored = nil
    }
    mirrors[number.collection]?.set(Int(number.ordinal), stored)
  }

  // MARK: Writing

  /// Stores a document in the row that `header` describes, or in a new row if `header` is `nil`.
  @discardableResult
  func store(
    _ document: Document, over header: Header?, in collection: CollectionNumber, readTime: SnapshotVersion?,
    sequenceNumber: Int64
  ) throws(StoreError) -> DocumentNumber {
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

  /// Stores a document, unless its key already has a row.
  /// - Returns: `nil` if there is already a row.
  func insertIfAbsent(
    _ document: Document, _ name: String, in collection: CollectionNumber, readTime: SnapshotVersion?,
    sequenceNumber: Int64
  ) throws(StoreError) -> DocumentNumber? {
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

  /// Assigns a number to the key of a document that is not in the cache.
  func storePlaceholder(
    _ collection: CollectionNumber, _ name: String, sequenceNumber: Int64
  ) throws(StoreError) -> DocumentNumber {
    let number = try takeNumber(collection)
    try insert(Columns(placeholder: number, collection, name, sequenceNumber))
    return number
  }

  /// Turns a document's row into a placeholder. Used if a target still contains the document.
  func clear(_ number: DocumentNumber, sequenceNumber: Int64) throws(StoreError) {
    try updateEntries(of: number, to: nil)
    try update(Columns(placeholder: number, number.collection, "", sequenceNumber))
    note(number, nil, nil)
  }

  private func insert(_ row: Columns) throws(StoreError) {
    guard try insertIfAbsent(row) else { throw .damaged("document \(row.number.rawValue) exists but is not found") }
  }

  private func insertIfAbsent(_ row: Columns) throws(StoreError) -> Bool {
    try connection.run(
      """
      INSERT INTO documents
        (version, create_time, read_time, sequence_number, state, fields, checksum, id, collection, name)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (collection, name) DO NOTHING
      """, row.version, row.createTime, row.readTime, row.sequenceNumber, row.state.rawValue, row.fields, row.checksum,
      row.number, row.collection, row.name)
    return connection.rowsChangedLast == 1
  }

  private func update(_ row: Columns) throws(StoreError) {
    try connection.run(
      """
      UPDATE documents SET
        version = ?, create_time = ?, read_time = ?, sequence_number = ?, state = ?, fields = ?, checksum = ?
      WHERE id = ?
      """, row.version, row.createTime, row.readTime, row.sequenceNumber, row.state.rawValue, row.fields, row.checksum,
      row.number)
  }

  func touch(_ number: DocumentNumber, sequenceNumber: Int64) throws(StoreError) {
    try connection.run("UPDATE documents SET sequence_number = ? WHERE id = ?", sequenceNumber, number)
  }

  /// Marks the document as changed at this time. Used if the document left a result that it may still match.
  func renew(_ number: DocumentNumber, readTime: SnapshotVersion, sequenceNumber: Int64) throws(StoreError) {
    try connection.run(
      "UPDATE documents SET sequence_number = ?, read_time = max(read_time, ?) WHERE id = ?", sequenceNumber,
      readTime.microseconds, number)
  }

  /// - Precondition: no target contains the document.
  func remove(_ number: DocumentNumber) throws(StoreError) {
    try updateEntries(of: number, to: nil)
    try connection.run("DELETE FROM documents WHERE id = ?", number)
    note(number, nil, nil)
  }

  /// Replaces the index entries of a stored document with the entries of its new fields.
  private func updateEntries(of number: DocumentNumber, to fields: EncodedFields?) throws(StoreError) {
    if try indexes.indexes(of: number.collection).isEmpty { return }
    var old: EncodedFields?
    var isDamaged = false
    try read(number) { row in
      guard row.isFound else { return }
      old = row.intactFields
      isDamaged = old == nil
    }
    // The old fields are unreadable, so their entries can only be found by reading all entries.
    if isDamaged { try indexes.removeAll(of: number) }
    try indexes.update(number, from: old, to: fields)
  }

  /// Discards state in memory, because the transaction that changed it may have been rolled back.
  func forget() {
    nextNumbers = [:]
    mirrors = [:]
  }

  // MARK: Numbers

  private func lastNumber(in collection: CollectionNumber) throws(StoreError) -> DocumentNumber? {
    try connection.integer(
      "SELECT max(id) FROM documents WHERE id BETWEEN ? AND ?", collection.documents.lowerBound,
      collection.documents.upperBound
    ).map(DocumentNumber.init)
  }

  private func takeNumber(_ collection: CollectionNumber) throws(StoreError) -> DocumentNumber {
    var number = nextNumbers[collection]
    if number == nil { number = try lastNumber(in: collection)?.next ?? collection.documents.lowerBound }
    guard let number, number < collection.documents.upperBound else {
      throw StoreError(.sqlite, "A collection of the cache has no free document numbers left. Use a new cache.")
    }
    nextNumbers[collection] = number.next
    return number
  }
}
