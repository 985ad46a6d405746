// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreQuery
import FirestoreSQLite

/// Reads one database at its last commit, or at an earlier version from the history.
struct DocumentReader {
  let connection: Connection
  let database: DatabaseID
  let state: DatabaseState
  let known: CollectionNumbers
  /// The version to read at.
  let version: Int64
  /// The cached document counts of queries; `nil` for a reader in a transaction that may be rolled back.
  var counts: CachedCounts?

  var readTime: SnapshotVersion { SnapshotVersion(microseconds: version) }

  /// The version to read at, if it is older than the last commit.
  var past: Int64? { version < state.committed ? version : nil }

  /// A reader of the same database at an earlier version, which must be in the history.
  func at(_ version: Int64) -> DocumentReader {
    DocumentReader(
      connection: connection, database: database, state: state, known: known, version: version, counts: counts)
  }

  /// The document. If it does not exist, its state is `missing` at the read time.
  func document(_ key: DocumentKey) throws(StoreError) -> Document {
    try stored(key)?.document ?? Document(key: key, version: readTime, state: .missing)
  }

  /// The stored document; `nil` if it does not exist.
  func stored(_ key: DocumentKey) throws(StoreError) -> StoredDocument? {
    let name = CollectionName(database: state.id, path: key.collection)
    guard let collection = try known.number(of: name, connection) else { return nil }
    return try read(key, in: collection)
  }

  private func read(_ key: DocumentKey, in collection: Int64) throws(StoreError) -> StoredDocument? {
    if let past { return try DocumentHistory(connection).read(key, in: collection, at: past) }
    return try Self.read(key, in: collection, connection)
  }

  static func read(
    _ key: DocumentKey, in collection: Int64, _ connection: Connection
  ) throws(StoreError) -> StoredDocument? {
    try connection.first(
      "SELECT version, created, fields FROM documents WHERE collection = ? AND name = ?",
      collection, DocumentName(key.documentID).bytes
    ) { row in
      StoredDocument(
        key: key, version: row.integer(0), created: row.integer(1), fields: EncodedFields(trusted: row.blob(2)))
    }
  }

  /// The ids of the collections directly below a document, or of the root, that have documents at any depth; sorted by
  /// UTF-8. The search skips from id to id, so its cost does not depend on the number of collections below the
  /// documents.
  func collectionIDs(below parent: ResourcePath) throws(StoreError) -> [String] {
    let prefix = parent.isRoot ? [] : Array(parent.text.utf8) + [UInt8(ascii: "/")]
    var found: Set<[UInt8]> = []
    var lower = prefix
    while true {
      let row = try connection.first(
        "SELECT path, id FROM collections WHERE database = ? AND path >= ? AND count >= ? ORDER BY path LIMIT 1",
        state.id, lower, leastCount
      ) { (path: $0.blob(0), id: $0.integer(1)) }
      guard let path = row?.path, path.starts(with: prefix) else { break }
      if let past, let row, try !DocumentHistory(connection).isOccupied(row.id, at: past) {
        lower = path + [0]
        continue
      }
      let id = Array(path.dropFirst(prefix.count).prefix { $0 != UInt8(ascii: "/") })
      found.insert(id)
      let isDirect = path.count == prefix.count + id.count
      // Paths below an id sort from "id/" to before "id0"; other ids may sort between "id" and "id/".
      lower = isDirect ? path + [0] : prefix + id + [UInt8(ascii: "/") + 1]
    }
    return found.sorted { $0.lexicographicallyPrecedes($1) }.map { String(decoding: $0, as: UTF8.self) }
  }
}

extension DocumentReader {
  /// The matching documents in the target's order, up to its limit.
  ///
  /// A target that is ordered by `__name__` is read in key order up to the limit. For any other target, the whole
  /// collection is scanned, and about `limit` documents are held in memory.
  /// - Parameter limit: replaces the target's limit.
  func run(_ target: Target, limit: Int?) throws(StoreError) -> [Document] {
    try ordered(target, limit: limit, holding: .max).documents
  }

  /// The same documents as `run`. If the documents are too large, they contain only the fields that the target sorts
  /// by.
  /// - Parameter bytes: the maximum size in bytes of all whole documents together.
  func ordered(
    _ target: Target, limit: Int?, holding bytes: Int
  ) throws(StoreError) -> (documents: [Document], isThin: Bool) {
    if limit == 0 { return ([], false) }
    let range = KeyRange(target)
    if target.orderBy.count == 1, target.orderBy[0].path.isDocumentID, range.keys == nil, !target.isDocumentTarget {
      return try runInKeyOrder(target, range, limit, holding: bytes)
    }
    var top = TopDocuments(target, limit: limit, holding: bytes)
    _ = try scanMatches(of: ServedQuery(target), after: nil, rows: .max) { document in
      top.add(document)
      return true
    }
    return top.finish()
  }

  private func runInKeyOrder(
    _ target: Target, _ range: KeyRange, _ limit: Int?, holding bytes: Int
  ) throws(StoreError) -> (documents: [Document], isThin: Bool) {
    let direction = target.orderBy[0].direction
    var (found, size) = ([Document](), 0)
    func isFull() -> Bool { limit.map { found.count >= $0 } ?? false }
    func take(_ document: Document) {
      if size <= bytes {
        size += document.storedSize
        if size > bytes { found = found.map { $0.thinned(for: target) } }
      }
      found.append(size > bytes ? document.thinned(for: target) : document)
    }
    for cluster in clusters(try collections(of: target), direction) where !isFull() {
      let isNested = cluster.count > 1
      let start = found.count
      for collection in cluster {
        guard let (first, last) = range.names(in: collection.path) else { continue }
        try scan(collection, from: first, through: last, direction) { _, document throws(StoreError) in
          if target.holds(document) { take(document) }
          return isNested || !isFull()
        }
      }
      if isNested {
        found[start...].sort { target.compare($0, $1, by: .backend) == .ascending }
        if let limit, found.count > limit { found.removeLast(found.count - limit) }
      }
    }
    return (found, size > bytes)
  }

  /// Groups collections so that each group's documents are adjacent in key order, and orders the groups. Two
  /// collections interleave only if one is below a document of the other (`comments/c/comments`).
  private func clusters(_ collections: [CollectionEntry], _ direction: OrderBy.Direction) -> [[CollectionEntry]] {
    var clusters: [[CollectionEntry]] = []
    for collection in collections.sorted(by: { $0.path < $1.path }) {
      if let root = clusters.last?.first, root.path.isPrefix(of: collection.path) {
        clusters[clusters.count - 1].append(collection)
      } else {
        clusters.append([collection])
      }
    }
    return direction == .ascending ? clusters : clusters.reversed()
  }
}

/// Selects the first documents in a target's order. If whole documents are too large, retains only the fields that the
/// target sorts by.
struct TopDocuments {
  private let target: Target
  private let limit: Int?
  private let maximumBytes: Int
  private var documents: [Document] = []
  private var bytes = 0
  private var isThin = false
  /// The document at position `limit` among the documents added so far; documents after it can be dropped.
  private var threshold: Document?

  /// - Parameter maximumBytes: the maximum size in bytes of all whole documents together.
  init(_ target: Target, limit: Int?, holding maximumBytes: Int = .max) {
    self.target = target
    self.limit = limit
    self.maximumBytes = maximumBytes
  }

  mutating func add(_ document: Document) {
    if let threshold, target.compare(document, threshold, by: .backend) != .ascending { return }
    documents.append(isThin ? document.thinned(for: target) : document)
    if !isThin { bytes += document.storedSize }
    if let limit, documents.count / 2 - 32 >= limit { compact(limit) }
    if !isThin, bytes > maximumBytes {
      isThin = true
      documents = documents.map { $0.thinned(for: target) }
    }
  }

  mutating func finish() -> (documents: [Document], isThin: Bool) {
    compact(limit ?? documents.count)
    return (documents, isThin)
  }

  private mutating func compact(_ limit: Int) {
    documents.sort { target.compare($0, $1, by: .backend) == .ascending }
    guard documents.count > limit else { return }
    documents.removeLast(documents.count - limit)
    threshold = documents.last
    if !isThin { bytes = documents.reduce(0) { $0 + $1.storedSize } }
  }
}

/// A collection with documents that a target could match.
struct CollectionEntry {
  var id: Int64
  var path: ResourcePath
  /// The document count of the collection.
  var count: Int
}

extension Target {
  /// Whether an existing document matches, ignoring the limit. Values are compared as in the backend: 1 and 1.0 are
  /// equal for every operator (PROTOCOL §3.7).
  func holds(_ document: Document) -> Bool {
    if isDocumentTarget { return document.exists && document.key.path == path }
    return matches(document, by: .backend)
  }
}

extension DocumentReader {
  /// The smallest document count for which a collection is read. A read in the past includes collections that are empty
  /// now.
  var leastCount: Int64 { past == nil ? 1 : 0 }

  /// The nonempty collections of a query target, sorted by id.
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

  /// The size in bytes that counts as one row of a slice; larger documents count as several rows.
  private static let rowBytes = 2_048

  /// Visits documents of several collections, sorted by id, in storage order after a position. Stops after `rows`
  /// documents, or earlier if the documents are large or `visit` returns false.
  /// - Returns: the position to continue from; `nil` when all documents have been visited.
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
  /// The number of matching documents, ignoring the limit.
  func countMatches(of query: ServedQuery) throws(StoreError) -> Int {
    if let count = try recordedCount(of: query) { return count }
    var count = 0
    _ = try scanMatches(of: query, after: nil, rows: .max) { _ in
      count += 1
      return true
    }
    return count
  }

  /// The number of matching documents, ignoring the limit, if it is recorded; else `nil`. The number is recorded for
  /// whole collections in the present.
  func recordedCount(of query: ServedQuery) throws(StoreError) -> Int? {
    let target = query.target
    guard query.scope == .target, query.offset == 0, past == nil, !target.isDocumentTarget,
      target.matchesWholeCollection
    else { return nil }
    return try collections(of: target).reduce(0) { $0 + $1.count }
  }
}
