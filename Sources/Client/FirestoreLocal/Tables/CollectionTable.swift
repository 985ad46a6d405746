// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreSQLite

/// The collections in the cache, and their numbers in the tables of documents, batches and overlays. Collections are
/// never removed: there are few of them, and an unused one costs nothing.
final class CollectionTable {
  /// The maximum number of collections that are cached in memory. All collections are in the database.
  private static let remembered = 4096

  private let connection: Connection
  private var numbers: [ResourcePath: CollectionNumber] = [:]
  private var paths: [CollectionNumber: ResourcePath] = [:]
  /// The collection of the last lookup. It is cached because consecutive changes are mostly in one collection.
  private var last: (path: ResourcePath, number: CollectionNumber)?

  init(_ connection: Connection) { self.connection = connection }

  /// - Returns: `nil` for a collection that is not in the cache.
  func number(of path: ResourcePath) throws(StoreError) -> CollectionNumber? {
    if let number = numbers[path] {
      last = (path, number)
      return number
    }
    let found = try connection.integer("SELECT id FROM collection_parents WHERE path = ?", path.text)
    guard let number = found.map(CollectionNumber.init) else { return nil }
    try remember(number, path)
    return number
  }

  /// The number of a document's collection; `nil` if the collection is not in the cache.
  func number(of key: DocumentKey) throws(StoreError) -> CollectionNumber? {
    if let last, last.path.isParent(of: key.path) { return last.number }
    return try number(of: key.collection)
  }

  /// The number of a document's collection. If the collection is not in the cache, adds it.
  func numberAdding(_ key: DocumentKey) throws(StoreError) -> CollectionNumber {
    if let last, last.path.isParent(of: key.path) { return last.number }
    return try numberAdding(key.collection)
  }

  func numberAdding(_ path: ResourcePath) throws(StoreError) -> CollectionNumber {
    if let number = try number(of: path) { return number }
    let given = try connection.integer(
      "INSERT INTO collection_parents (path, parent, collection_id) VALUES (?, ?, ?) RETURNING id", path.text,
      path.parent.text, path.last)
    guard let number = given.map(CollectionNumber.init) else {
      throw StoreError(.sqlite, "SQLite returned no number for a new collection.")
    }
    try remember(number, path)
    return number
  }

  func path(of number: CollectionNumber) throws(StoreError) -> ResourcePath {
    if let path = paths[number] { return path }
    let text = try connection.first("SELECT path FROM collection_parents WHERE id = ?", number) { $0.text(0) }
    guard let text else { throw .damaged("collection \(number.rawValue) has no path") }
    let path = ResourcePath(text)
    try remember(number, path)
    return path
  }

  func key(_ number: CollectionNumber, _ name: String) throws(StoreError) -> DocumentKey {
    DocumentKey(unchecked: try path(of: number).appending(name))
  }

  /// The collections with this id at any depth below `ancestor`, in ascending order.
  func group(_ id: String, below ancestor: ResourcePath) throws(StoreError) -> [CollectionNumber] {
    var found: [CollectionNumber] = []
    try connection.forEachRow("SELECT id, path FROM collection_parents WHERE collection_id = ? ORDER BY id", id) {
      row throws(StoreError) in
      let number: CollectionNumber = row.number(0)
      try Self.check(number)
      if ancestor.isPrefix(of: ResourcePath(row.text(1))) { found.append(number) }
    }
    return found
  }

  /// The ids of the collections that contain documents or pending writes at any depth. Omits collections that were
  /// queried but contain no documents.
  func ids(below parent: ResourcePath) throws(StoreError) -> [String] {
    // The range contains the paths below a collection: '0' follows '/' in the order of UTF-8. The states are the states
    // of existing documents (`DocumentTable.State`).
    try connection.all(
      """
      SELECT DISTINCT collection_id FROM collection_parents AS listed WHERE parent = ? AND EXISTS (
        SELECT 1 FROM collection_parents AS held
        WHERE (held.id = listed.id OR held.path > listed.path || '/' AND held.path < listed.path || '0') AND (
          EXISTS (SELECT 1 FROM pending_documents WHERE collection = held.id)
          OR EXISTS (SELECT 1 FROM documents WHERE collection = held.id AND state IN (1, 3, 5, 7))
        )
      ) ORDER BY collection_id
      """, parent.text
    ) { $0.text(0) }
  }

  /// Discards the collections in memory, because the transaction that numbered them may have been rolled back.
  func forget() {
    numbers = [:]
    paths = [:]
    last = nil
  }

  private static func check(_ number: CollectionNumber) throws(StoreError) {
    guard StoredNumbers.collections.contains(number.rawValue) else {
      throw StoredNumbers.damage("a collection's number", number.rawValue)
    }
  }

  private func remember(_ number: CollectionNumber, _ path: ResourcePath) throws(StoreError) {
    try Self.check(number)
    if numbers.count >= Self.remembered { forget() }
    numbers[path] = number
    paths[number] = path
    last = (path, number)
  }
}
