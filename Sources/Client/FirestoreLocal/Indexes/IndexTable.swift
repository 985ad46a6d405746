// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreModel
import FirestoreSQLite

/// The index definitions, and the index entries of remote documents. Only changes of remote documents change the
/// entries. Documents with pending writes have no separate entries; queries add these documents to the result, as a
/// scan does.
///
/// As soon as an index is defined, every change of a document changes its entries in the same transaction. The backfill
/// adds the entries of older documents. Writing the entries of a collection's newest documents is deferred
/// (`IndexTails`), but readers of the table also find these documents.
final class IndexTable {
  /// The reason why an index exists.
  enum Origin: Int64 {
    case configured = 0
    case automatic = 1
    /// A dropped index that still has entries to remove.
    case dropped = 2
  }

  struct Index {
    let number: IndexNumber
    let definition: FieldIndex
    var origin: Origin
    /// The first document that the backfill has not indexed yet; `nil` when the backfill is complete.
    var position: DocumentNumber?

    var isReady: Bool { position == nil }
  }

  static let schema = """
    CREATE TABLE index_configuration (
      id INTEGER PRIMARY KEY,
      definition BLOB NOT NULL,   -- FieldIndex
      checksum INTEGER NOT NULL,  -- of `definition`
      origin INTEGER NOT NULL,    -- IndexTable.Origin
      position INTEGER            -- next document of the backfill; NULL when it is done
    ) STRICT;

    CREATE TABLE index_entries (
      index_id INTEGER NOT NULL,
      collection INTEGER NOT NULL,
      value BLOB NOT NULL,        -- FieldIndex.keys
      document INTEGER NOT NULL,  -- the lower half of documents.id
      PRIMARY KEY (index_id, collection, value, document)
    ) STRICT, WITHOUT ROWID;
    """

  let collections: CollectionTable
  let tails: IndexTails
  private var loaded: [Index] = []
  private var loadedDropped: [IndexNumber] = []
  private var ofCollection: [CollectionNumber: [Index]] = [:]
  private var isLoaded = false
  private var code = OrderedCode()

  private let connection: Connection

  init(_ connection: Connection, _ collections: CollectionTable) throws(StoreError) {
    self.connection = connection
    self.collections = collections
    tails = IndexTails(connection)
    try load()
  }

  // MARK: Definitions

  private func load() throws(StoreError) {
    var indexes: [Index] = []
    var dropped: [IndexNumber] = []
    try connection.forEachRow("SELECT id, definition, checksum, origin, position FROM index_configuration ORDER BY id")
    {
      row in
      let number: IndexNumber = row.number(0)
      let bytes = row.blob(1)
      let isIntact = bytes.withUnsafeBytes(StoredFields.checksum) == row.integer(2)
      if isIntact, let definition = FieldIndex(encoded: bytes), let origin = Origin(rawValue: row.integer(3)),
        origin != .dropped
      {
        indexes.append(
          Index(
            number: number, definition: definition, origin: origin,
            position: row.optionalInteger(4).map(DocumentNumber.init)))
      } else {
        dropped.append(number)
      }
    }
    (loaded, loadedDropped, ofCollection, isLoaded) = (indexes, dropped, [:], true)
    tails.forgetKeys()
  }

  /// Discards the definitions in memory, because the transaction that changed them may have been rolled back.
  func forget() {
    isLoaded = false
    tails.forget()
  }

  private func ensureLoaded() throws(StoreError) {
    if !isLoaded { try load() }
  }

  /// All indexes, in the order of their creation.
  var indexes: [Index] {
    get throws(StoreError) {
      try ensureLoaded()
      return loaded
    }
  }

  /// The indexes whose entries must be removed: dropped indexes, and indexes with an unreadable definition.
  var dropped: [IndexNumber] {
    get throws(StoreError) {
      try ensureLoaded()
      return loadedDropped
    }
  }

  /// The indexes that have entries for a collection's documents.
  func indexes(of collection: CollectionNumber) throws(StoreError) -> [Index] {
    try ensureLoaded()
    if loaded.isEmpty { return [] }
    if let known = ofCollection[collection] { return known }
    let id = try collections.path(of: collection).last
    let found = loaded.filter { $0.definition.collectionGroup.equalsUTF8(id) }
    ofCollection[collection] = found
    return found
  }

  /// - Precondition: inside a transaction, as for all functions that change the table.
  func add(_ definition: FieldIndex, _ origin: Origin) throws(StoreError) {
    let bytes = definition.encoded
    // A group without documents needs no backfill.
    let group = try collections.group(definition.collectionGroup, below: .root)
    let isEmpty = group.isEmpty
    // Removes the tails of the group. They may exceed their bound, because they grow without limit while a group has no
    // index.
    if try !indexes.contains(where: { $0.definition.collectionGroup.equalsUTF8(definition.collectionGroup) }) {
      for collection in group { try tails.remove(of: collection) }
    }
    try connection.run(
      "INSERT INTO index_configuration (definition, checksum, origin, position) VALUES (?, ?, ?, ?)", bytes,
      bytes.withUnsafeBytes(StoredFields.checksum), origin.rawValue, isEmpty ? nil : 0)
    try load()
  }

  func set(_ origin: Origin, of index: Index) throws(StoreError) {
    try connection.run("UPDATE index_configuration SET origin = ? WHERE id = ?", origin.rawValue, index.number)
    try load()
  }

  func set(position: DocumentNumber?, of index: Index) throws(StoreError) {
    try connection.run("UPDATE index_configuration SET position = ? WHERE id = ?", position, index.number)
    try load()
  }

  /// Removes at most `count` entries of a dropped index. Also removes the index when no entries remain.
  func removeEntries(of number: IndexNumber, atMost count: Int) throws(StoreError) {
    let last = try connection.first(
      """
      SELECT collection, value, document FROM index_entries WHERE index_id = ?
      ORDER BY collection, value, document LIMIT 1 OFFSET ?
      """, number, count - 1
    ) { row in (row.integer(0), row.blob(1), row.integer(2)) }
    if let last {
      try connection.run(
        "DELETE FROM index_entries WHERE index_id = ? AND (collection, value, document) <= (?, ?, ?)", number, last.0,
        last.1, last.2)
    } else {
      try connection.run("DELETE FROM index_entries WHERE index_id = ?", number)
      try connection.run("DELETE FROM index_configuration WHERE id = ?", number)
      try load()
    }
  }

  /// Removes the entries of all indexes. The backfill restores them.
  func removeAllEntries() throws(StoreError) {
    try connection.run("DELETE FROM index_entries")
    for index in try indexes { try set(position: DocumentNumber(rawValue: 0), of: index) }
  }

  // MARK: Entries

  /// Updates a document's entries to its new fields.
  /// - Parameters:
  ///   - old: the document's previous stored fields; `nil` if the document had none.
  ///   - new: the document's new fields; `nil` if the document no longer has any.
  func update(
    _ document: DocumentNumber, from old: EncodedFields?, to new: EncodedFields?
  ) throws(StoreError) {
    let collection = document.collection
    if try tails.contains(document) { return tails.note(document, new, try indexes(of: collection)) }
    for index in try indexes(of: collection) {
      let oldKeys = old.map { keys(index, $0) } ?? []
      let newKeys = new.map { keys(index, $0) } ?? []
      if oldKeys == newKeys { continue }
      for key in oldKeys where !newKeys.contains(key) {
        try connection.run(
          "DELETE FROM index_entries WHERE index_id = ? AND collection = ? AND value = ? AND document = ?",
          index.number,
          collection, key, document.ordinal)
      }
      for key in newKeys where !oldKeys.contains(key) { try insert(key, document, index) }
    }
  }

  /// Indexes a document that was just stored under the highest number in its collection.
  /// - Parameter fields: the document's fields; `nil` if it has none.
  func append(_ document: DocumentNumber, _ fields: EncodedFields?) throws(StoreError) {
    let collection = document.collection
    if try indexes(of: collection).isEmpty { return }
    if try tails.start(of: collection) == nil { try tails.begin(at: document) }
    try update(document, from: nil, to: fields)
    if try tails.isFull(with: document) { try writeTail(endingWith: document) }
  }

  /// Writes the entries of all documents in a collection's tail (`IndexTails`).
  private func writeTail(endingWith last: DocumentNumber) throws(StoreError) {
    let collection = last.collection
    let all = try indexes(of: collection)
    for index in all {
      for entry in try tails.entries(of: index.number, in: collection, all) {
        try insert(entry.key, entry.document, index)
      }
    }
    try tails.begin(at: last.next)
  }

  /// Removes a document's entries without knowing its fields. Reads all entries of the collection.
  func removeAll(of document: DocumentNumber) throws(StoreError) {
    let collection = document.collection
    if try tails.contains(document) { return tails.note(document, nil, try indexes(of: collection)) }
    for index in try indexes(of: collection) {
      try connection.run(
        "DELETE FROM index_entries WHERE index_id = ? AND collection = ? AND document = ?", index.number, collection,
        document.ordinal)
    }
  }

  /// - Returns: the number of entries that the document now has.
  func add(
    _ document: DocumentNumber, _ fields: EncodedFieldsView, to index: Index
  ) throws(StoreError) -> Int {
    let keys = index.definition.keys(of: fields, &code)
    for key in keys { try insert(key, document, index) }
    return keys.count
  }

  private func insert(
    _ key: [UInt8], _ document: DocumentNumber, _ index: Index
  ) throws(StoreError) {
    try connection.run(
      "INSERT OR IGNORE INTO index_entries (index_id, collection, value, document) VALUES (?, ?, ?, ?)", index.number,
      document.collection, key, document.ordinal)
  }

  private func keys(_ index: Index, _ fields: EncodedFields) -> [[UInt8]] {
    fields.withView { index.definition.keys(of: $0, &code) }
  }

  // MARK: Reading

  /// Calls `body` with the key and the document of each entry in a range, until `body` returns false.
  func read(
    _ range: IndexRange, in collection: CollectionNumber, isReversed: Bool,
    _ body: (UnsafeRawBufferPointer, DocumentNumber) throws(StoreError) -> Bool
  ) throws(StoreError) {
    if range.isEmpty { return }
    var tail = TailReader(try tailEntries(of: range, in: collection), isReversed: isReversed)
    var isEnough = false
    func visit(_ row: Row) throws(StoreError) -> Bool {
      let number = DocumentNumber(collection, row.integer(1))
      while let next = tail.next, tail.comes(before: row.blobBytes(0), number) {
        tail.removeNext()
        if try !Self.call(body, next) { isEnough = true }
        if isEnough { return false }
      }
      isEnough = try !body(row.blobBytes(0), number)
      return !isEnough
    }
    if isReversed {
      try connection.scan(
        """
        SELECT value, document FROM index_entries WHERE index_id = ? AND collection = ? AND value >= ? AND value < ?
        ORDER BY value DESC, document DESC
        """, range.index, collection, range.lower, range.upper, visit: visit)
    } else {
      try connection.scan(
        """
        SELECT value, document FROM index_entries WHERE index_id = ? AND collection = ? AND value >= ? AND value < ?
        ORDER BY value, document
        """, range.index, collection, range.lower, range.upper, visit: visit)
    }
    while !isEnough, let next = tail.next {
      tail.removeNext()
      isEnough = try !Self.call(body, next)
    }
  }

  /// Appends the documents of at most `count` entries of a range, in any order.
  func collect(
    _ range: IndexRange, in collection: CollectionNumber, atMost count: Int,
    into numbers: inout [DocumentNumber]
  ) throws(StoreError) {
    if range.isEmpty { return }
    let tail = try tailEntries(of: range, in: collection).prefix(count)
    numbers += tail.map(\.document)
    if tail.count == count { return }
    try connection.forEachRow(
      """
      SELECT document FROM index_entries WHERE index_id = ? AND collection = ? AND value >= ? AND value < ? LIMIT ?
      """, range.index, collection, range.lower, range.upper, count - tail.count
    ) { row in numbers.append(DocumentNumber(collection, row.integer(0))) }
  }

  private func tailEntries(
    of range: IndexRange, in collection: CollectionNumber
  ) throws(StoreError) -> ArraySlice<IndexTails.Entry> {
    let entries = try tails.entries(of: range.index, in: collection, try indexes(of: collection))
    let lower = entries.indices.partitioningIndex { Self.compare(entries[$0].key, range.lower) != .ascending }
    let upper = entries.indices.partitioningIndex { Self.compare(entries[$0].key, range.upper) != .ascending }
    return entries[lower..<max(lower, upper)]
  }

  private static func call(
    _ body: (UnsafeRawBufferPointer, DocumentNumber) throws(StoreError) -> Bool, _ entry: IndexTails.Entry
  ) throws(StoreError) -> Bool {
    let key = UnsafeMutableRawBufferPointer.allocate(byteCount: entry.key.count, alignment: 1)
    defer { key.deallocate() }
    key.copyBytes(from: entry.key)
    return try body(UnsafeRawBufferPointer(key), entry.document)
  }
}
