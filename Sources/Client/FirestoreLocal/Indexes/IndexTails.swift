// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreSQLite

/// The newest documents of each collection, whose index entries are not written yet.
///
/// An entry's position in an index depends on its value, so writing entries one by one changes a different page each
/// time. Therefore the entries of new documents are written later, in sorted batches. These documents form the
/// collection's tail: all documents from a certain number on. The keys of documents in the tail are computed when a
/// query needs them, and then remain in memory.
final class IndexTails {
  typealias Entry = (key: [UInt8], document: DocumentNumber)

  static let schema = """
    CREATE TABLE index_tails (
      collection INTEGER PRIMARY KEY,
      start INTEGER NOT NULL      -- documents.id from which on documents have no index entries
    ) STRICT;
    """

  /// The maximum length of a tail, as a count of document numbers. With a larger tail, each page write would store more
  /// entries, but a query compares every key in the tail. An index of 100 000 entries has about 800 pages.
  var maximumCount: Int64 = 4096
  private var starts: [CollectionNumber: DocumentNumber?] = [:]
  private var keys: [CollectionNumber: [IndexNumber: Keys]] = [:]
  private var code = OrderedCode()

  /// The keys of the tail's documents in one index.
  private struct Keys {
    var byDocument: [DocumentNumber: [[UInt8]]] = [:]
    /// The entries in the index's order; `nil` until a query needs them.
    var sorted: [Entry]?
  }

  private let connection: Connection

  init(_ connection: Connection) { self.connection = connection }

  /// Discards the tails in memory, because the transaction that changed them may have been rolled back.
  func forget() {
    starts = [:]
    keys = [:]
  }

  /// Discards the keys in memory, because the indexes have changed.
  func forgetKeys() { keys = [:] }

  // MARK: Where tails start

  /// - Returns: the first document of the tail; `nil` for a collection without a tail, in which all documents have
  ///   entries.
  func start(of collection: CollectionNumber) throws(StoreError) -> DocumentNumber? {
    if let known = starts[collection] { return known }
    let start = try connection.integer("SELECT start FROM index_tails WHERE collection = ?", collection)
      .map(DocumentNumber.init)
    starts[collection] = .some(start)
    return start
  }

  func contains(_ document: DocumentNumber) throws(StoreError) -> Bool {
    guard let start = try start(of: document.collection) else { return false }
    return document >= start
  }

  /// Whether the tail that ends with this document is full, so that its entries must be written.
  func isFull(with document: DocumentNumber) throws(StoreError) -> Bool {
    guard let start = try start(of: document.collection) else { return false }
    return document.ordinal - start.ordinal + 1 >= maximumCount
  }

  /// - Precondition: all earlier documents of the collection have their index entries.
  func begin(at document: DocumentNumber) throws(StoreError) {
    try connection.run(
      "INSERT INTO index_tails (collection, start) VALUES (?, ?) ON CONFLICT DO UPDATE SET start = excluded.start",
      document.collection, document)
    starts[document.collection] = .some(document)
    keys[document.collection] = nil
  }

  func remove(of collection: CollectionNumber) throws(StoreError) {
    try connection.run("DELETE FROM index_tails WHERE collection = ?", collection)
    starts[collection] = .some(nil)
    keys[collection] = nil
  }

  // MARK: Keys

  /// Updates the keys in memory after a change of a document in the tail.
  func note(_ document: DocumentNumber, _ fields: EncodedFields?, _ indexes: [IndexTable.Index]) {
    guard keys[document.collection] != nil else { return }
    for index in indexes {
      let new = fields?.withView { index.definition.keys(of: $0, &code) }
      keys[document.collection]?[index.number, default: Keys()].byDocument[document] = new
      keys[document.collection]?[index.number]?.sorted = nil
    }
  }

  /// The entries of a tail's documents in one index, in the order of the index.
  /// - Parameter indexes: all indexes of the collection.
  func entries(
    of index: IndexNumber, in collection: CollectionNumber, _ indexes: [IndexTable.Index]
  ) throws(StoreError) -> [Entry] {
    guard let start = try start(of: collection) else { return [] }
    if keys[collection] == nil { keys[collection] = try readKeys(collection, from: start, indexes) }
    if let sorted = keys[collection]?[index]?.sorted { return sorted }
    let entries = keys[collection]?[index]?.byDocument.flatMap { document, keys in keys.map { ($0, document) } } ?? []
    let sorted = entries.sorted(by: IndexTable.isOrdered)
    keys[collection]?[index]?.sorted = sorted
    return sorted
  }

  private func readKeys(
    _ collection: CollectionNumber, from start: DocumentNumber, _ indexes: [IndexTable.Index]
  ) throws(StoreError) -> [IndexNumber: Keys] {
    var keys: [IndexNumber: Keys] = [:]
    try connection.forEachRow(
      "SELECT id, state, fields, checksum FROM documents WHERE id BETWEEN ? AND ?", start,
      collection.documents.upperBound
    ) { row throws(StoreError) in
      let bytes = row.blobBytes(2)
      // Skips a damaged document. Only reading the document reports the damage.
      guard try DocumentTable.State(stored: row.integer(1)).isFound, StoredFields.holds(row.integer(3), for: bytes)
      else {
        return
      }
      for index in indexes {
        let new = index.definition.keys(of: EncodedFieldsView(bytes), &code)
        keys[index.number, default: Keys()].byDocument[row.number(0)] = new
      }
    }
    return keys
  }
}

extension IndexTable {
  /// Whether two entries are already in the order of the index.
  static func isOrdered(_ left: IndexTails.Entry, _ right: IndexTails.Entry) -> Bool {
    switch compare(left.key, right.key) {
    case .ascending: true
    case .equal: left.document < right.document
    case .descending: false
    }
  }

  static func compare(_ left: [UInt8], _ right: [UInt8]) -> Ordering {
    left.withUnsafeBufferPointer { left in right.withUnsafeBufferPointer { Ordering.lexicographic(left, $0) } }
  }
}

/// Reads the entries of a tail in either direction, so that they can be merged with the entries of the index.
struct TailReader {
  private let entries: ArraySlice<IndexTails.Entry>
  private let isReversed: Bool
  private var taken = 0

  /// - Parameter entries: in the order of the index.
  init(_ entries: ArraySlice<IndexTails.Entry>, isReversed: Bool) {
    self.entries = entries
    self.isReversed = isReversed
  }

  var next: IndexTails.Entry? {
    if taken == entries.count { return nil }
    return isReversed ? entries[entries.endIndex - 1 - taken] : entries[entries.startIndex + taken]
  }

  mutating func removeNext() { taken += 1 }

  /// Whether the tail's next entry comes before this entry of the index.
  func comes(before key: UnsafeRawBufferPointer, _ document: DocumentNumber) -> Bool {
    guard let next else { return false }
    let ordering = next.key.withUnsafeBufferPointer { own in
      Ordering.lexicographic(own, key.assumingMemoryBound(to: UInt8.self))
    }
    let isBefore = ordering == .equal ? next.document < document : ordering == .ascending
    return isBefore != isReversed
  }
}
