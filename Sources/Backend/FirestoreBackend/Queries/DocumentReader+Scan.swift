// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreQuery
import FirestoreSQLite

/// A collection that holds documents a target could match.
struct CollectionEntry {
  var id: Int64
  var path: ResourcePath
  /// The number of documents that the collection holds.
  var count: Int
}

extension Target {
  /// Whether an existing document matches, limit aside, as the backend compares: 1 and 1.0 are the same to every
  /// operator (PROTOCOL §3.7).
  func holds(_ document: Document) -> Bool {
    if isDocumentTarget { return document.exists && document.key.path == path }
    return matches(document, equality: .numeric)
  }
}

extension DocumentReader {
  /// The smallest number of documents of a collection to be read: one that is empty now may have held some in the past.
  var leastCount: Int64 { past == nil ? 1 : 0 }

  /// The collections of a query target, by id; empty ones are left out.
  func collections(of target: Target) throws(StoreError) -> [CollectionEntry] {
    var entries: [CollectionEntry] = []
    func add(_ row: Row) {
      let entry = CollectionEntry(id: row.integer(0), path: ResourcePath(row.text(1)), count: Int(row.integer(2)))
      if target.path.isPrefix(of: entry.path) { entries.append(entry) }
    }
    if let group = target.collectionGroup {
      try connection.forEachRow(
        "SELECT id, path, count FROM collections WHERE database = ? AND name = ? AND count >= ? ORDER BY id",
        state.id, Array(group.utf8), leastCount, do: add)
    } else {
      try connection.forEachRow(
        "SELECT id, path, count FROM collections WHERE database = ? AND path = ? AND count >= ?",
        state.id, Array(target.path.text.utf8), leastCount, do: add)
    }
    return entries
  }

  /// Visits the documents of one collection in key order until `visit` returns false.
  func scan(
    _ collection: CollectionEntry, from first: DocumentName, through last: DocumentName,
    _ direction: OrderBy.Direction = .ascending,
    _ visit: (DocumentName, Document) throws(StoreError) -> Bool
  ) throws(StoreError) {
    let prefix = collection.path.text + "/"
    func take(_ row: Row) throws(StoreError) -> Bool {
      let name = DocumentName(stored: row.blob(0))
      let stored = StoredDocument(
        key: DocumentKey(unchecked: ResourcePath(prefix + name.id)), version: row.integer(1), created: row.integer(2),
        fields: EncodedFields(trusted: row.blob(3)))
      return try visit(name, stored.document)
    }
    if let past {
      try DocumentHistory(connection).scan(
        collection.id, from: first, through: last, at: past, isDescending: direction == .descending, visit: take)
    } else if direction == .ascending {
      try connection.scan(
        """
        SELECT name, version, created, fields FROM documents WHERE collection = ? AND name >= ? AND name <= ?
        ORDER BY name
        """, collection.id, first.bytes, last.bytes, visit: take)
    } else {
      try connection.scan(
        """
        SELECT name, version, created, fields FROM documents WHERE collection = ? AND name >= ? AND name <= ?
        ORDER BY name DESC
        """, collection.id, first.bytes, last.bytes, visit: take)
    }
  }

  /// The bytes that count as one row in a slice; larger rows count as several.
  private static let rowBytes = 2_048

  /// Visits the documents of several collections, ordered by id, in storage order: at most `rows` of them after a
  /// position, fewer if they are large, or until `visit` returns false.
  /// - Returns: the position from which to go on; `nil` when all documents have been visited.
  func scan(
    _ collections: [CollectionEntry], _ range: KeyRange, after position: DocumentPosition?, rows: Int,
    _ visit: (Document) -> Bool
  ) throws(StoreError) -> DocumentPosition? {
    var remaining = rows
    var reached = position
    var isEnough = false
    for collection in collections {
      if let position, collection.id < position.collection { continue }
      guard let names = range.names(in: collection.path) else { continue }
      let resumes = position.map { $0.collection == collection.id } ?? false
      let first = resumes ? max(names.first, position?.name.successor ?? names.first) : names.first
      if first > names.last { continue }
      try scan(collection, from: first, through: names.last) { name, document throws(StoreError) in
        reached = DocumentPosition(collection: collection.id, name: name)
        remaining -= 1 + (document.data?.encoded.bytes.count ?? 0) / Self.rowBytes
        isEnough = !visit(document)
        return remaining > 0 && !isEnough
      }
      if isEnough || remaining <= 0 { return reached }
    }
    return nil
  }
}

extension DocumentReader {
  /// The number of documents that match, limit aside.
  func countMatches(of query: ServedQuery) throws(StoreError) -> Int {
    if let count = try recordedCount(of: query) { return count }
    var count = 0
    _ = try scanMatches(of: query, after: nil, rows: .max) { _ in
      count += 1
      return true
    }
    return count
  }

  /// The number of documents that match, limit aside, if it is on record, as for whole collections in the present; else
  /// `nil`.
  func recordedCount(of query: ServedQuery) throws(StoreError) -> Int? {
    let target = query.target
    guard query.scope == .target, query.offset == 0, past == nil, !target.isDocumentTarget,
      target.matchesWholeCollection
    else { return nil }
    return try collections(of: target).reduce(0) { $0 + $1.count }
  }
}
