// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
package import FirestoreProtocol
package import FirestoreQuery
import FirestoreSQLite

/// A query as received by a server: a target, and the parts that listeners do not support (PROTOCOL §3.7).
package struct ServedQuery: Sendable {
  package enum Scope: Hashable, Sendable {
    /// The target's own collection or collection group.
    case target
    /// Every collection directly below the target's path.
    case children
    /// Every collection at any depth below the target's path.
    case descendants
  }

  /// The target of the query. Its path is the parent if the scope is not `target`.
  package var target: Target
  package var scope: Scope
  /// The number of results to skip, after the cursors and before the limit.
  package var offset: Int
  /// The fields to return; `nil` for all, empty for none.
  package var projection: FieldMask?
  package var nearest: NearestNeighbors?

  package init(
    _ target: Target, scope: Scope = .target, offset: Int = 0, projection: FieldMask? = nil,
    nearest: NearestNeighbors? = nil
  ) {
    self.target = target
    self.scope = scope
    self.offset = offset
    self.projection = projection
    self.nearest = nearest
  }

  /// The largest number of documents to find: offset and limit together.
  var needed: Int? {
    guard let limit = target.limit else { return nil }
    let (sum, isTooLarge) = limit.addingReportingOverflow(offset)
    return isTooLarge ? .max : sum
  }

  func covers(_ collection: ResourcePath) -> Bool {
    switch scope {
    case .target: target.couldMatch(documentsIn: collection)
    case .children: target.path.isParent(of: collection)
    case .descendants: target.path.isPrefix(of: collection)
    }
  }

  /// Whether an existing document matches, ignoring offset and limit.
  func holds(_ document: Document) -> Bool {
    if scope == .target { return target.holds(document) }
    return covers(document.key.collection) && target.matchesContent(document, by: .backend)
  }
}

extension DocumentReader {
  func collections(of query: ServedQuery) throws(StoreError) -> [CollectionEntry] {
    if query.scope == .target { return try collections(of: query.target) }
    let prefix = query.target.path.isRoot ? [] : Array(query.target.path.text.utf8) + [UInt8(ascii: "/")]
    var entries: [CollectionEntry] = []
    try connection.scan(
      "SELECT id, path, count FROM collections WHERE database = ? AND path >= ? AND count >= ?",
      state.id, prefix, leastCount
    ) { row in
      let entry = CollectionEntry(id: row.integer(0), path: ResourcePath(row.text(1)), count: Int(row.integer(2)))
      // Other paths sort after the prefix, so the scan may end at the first path outside it.
      guard query.target.path.isPrefix(of: entry.path) else { return false }
      if query.covers(entry.path) { entries.append(entry) }
      return true
    }
    return entries.sorted { $0.id < $1.id }
  }

  /// Visits one slice of a query's matches in storage order, like `scan`.
  /// - Parameter known: the query's collections. If there can be as many collections as documents, the first slice
  ///   looks the collections up for all slices, which read the same version.
  func scanMatches(
    of query: ServedQuery, after position: DocumentPosition?, rows: Int, in known: inout [CollectionEntry]?,
    _ visit: (Document) -> Bool
  ) throws(StoreError) -> DocumentPosition? {
    if query.scope != .target, known == nil { known = try collections(of: query) }
    return try scanMatches(of: query, after: position, rows: rows, in: known, visit)
  }

  /// Visits a slice of a query's matches without caching the collections for further slices.
  func scanMatches(
    of query: ServedQuery, after position: DocumentPosition?, rows: Int, _ visit: (Document) -> Bool
  ) throws(StoreError) -> DocumentPosition? {
    try scanMatches(of: query, after: position, rows: rows, in: nil, visit)
  }

  private func scanMatches(
    of query: ServedQuery, after position: DocumentPosition?, rows: Int, in known: [CollectionEntry]?,
    _ visit: (Document) -> Bool
  ) throws(StoreError) -> DocumentPosition? {
    let range = KeyRange(query.target)
    if query.scope == .target, query.target.isDocumentTarget {
      let document = try document(DocumentKey(unchecked: query.target.path))
      if document.exists { _ = visit(document) }
      return nil
    }
    if let keys = range.keys {
      for key in keys {
        let document = try document(key)
        if query.holds(document), !visit(document) { return nil }
      }
      return nil
    }
    let collections: [CollectionEntry]
    if let known { collections = known } else { collections = try self.collections(of: query) }
    return try scan(collections, range, after: position, rows: rows) { document in
      let isMatch =
        query.scope == .target
        ? query.target.holds(document) : query.target.matchesContent(document, by: .backend)
      return isMatch ? visit(document) : true
    }
  }
}

/// The part of the key order that can contain a target's documents, from its filters and cursors on `__name__`. Bounds
/// are inclusive here; matching against the target excludes the document at an exclusive bound.
struct KeyRange {
  private(set) var lower: DocumentKey?
  private(set) var upper: DocumentKey?
  /// The documents named by `__name__ in`; only these can match.
  private(set) var keys: [DocumentKey]?

  init(_ target: Target) {
    for case .field(let filter) in target.filters where filter.path.isDocumentID { narrow(filter) }
    guard let order = target.orderBy.first, order.path.isDocumentID else { return }
    let (low, high) = order.direction == .ascending ? (target.start, target.end) : (target.end, target.start)
    if case .reference(_, let key)? = low?.values.first { raise(to: key) }
    if case .reference(_, let key)? = high?.values.first { lower(to: key) }
  }

  private mutating func narrow(_ filter: FieldFilter) {
    switch (filter.op, filter.value) {
    case (.equal, .reference(_, let key)):
      raise(to: key)
      lower(to: key)
    case (.greaterThan, .reference(_, let key)), (.greaterThanOrEqual, .reference(_, let key)): raise(to: key)
    case (.lessThan, .reference(_, let key)), (.lessThanOrEqual, .reference(_, let key)): lower(to: key)
    case (.in, .array(let values)):
      let named = values.compactMap { value -> DocumentKey? in
        if case .reference(_, let key) = value { key } else { nil }
      }
      let earlier = keys.map(Set.init)
      keys = Set(named).filter { earlier?.contains($0) ?? true }.sorted()
    default: break
    }
  }

  private mutating func raise(to key: DocumentKey) { lower = lower.map { max($0, key) } ?? key }
  private mutating func lower(to key: DocumentKey) { upper = upper.map { min($0, key) } ?? key }

  /// The range of names inside one collection; `nil` if no document of the collection is in the range.
  func names(in collection: ResourcePath) -> (first: DocumentName, last: DocumentName)? {
    var (first, last) = (DocumentName.first, DocumentName.last)
    if let lower {
      if collection.isPrefix(of: lower.path) {
        first = DocumentName(lower.path.segments[collection.count])
      } else if collection < lower.path {
        return nil
      }
    }
    if let upper {
      if collection.isPrefix(of: upper.path) {
        last = DocumentName(upper.path.segments[collection.count])
      } else if upper.path < collection {
        return nil
      }
    }
    return first <= last ? (first, last) : nil
  }
}

extension ExplainMetrics {
  /// The index that Cloud Firestore uses for the query. Its fields are the fields compared for equality, then the sort
  /// fields, the aggregated fields, the name, and the vector.
  package init(of query: ServedQuery, _ aggregations: [Aggregation] = []) {
    var names: [String] = []
    var seen: Set<FieldPath> = [.documentID]
    let target = query.target
    for filter in target.filters.flatMap(\.fieldFilters)
    where !filter.op.isInequality && seen.insert(filter.path).inserted {
      let isList = filter.op == .arrayContains || filter.op == .arrayContainsAny
      names.append("\(filter.path.canonicalText) \(isList ? "CONTAINS" : "ASC")")
    }
    for order in target.orderBy where seen.insert(order.path).inserted {
      names.append("\(order.path.canonicalText) \(order.direction == .descending ? "DESC" : "ASC")")
    }
    for path in aggregations.compactMap(\.path) where seen.insert(path).inserted {
      names.append("\(path.canonicalText) ASC")
    }
    names.append("__name__ \(target.orderBy.last?.direction == .descending ? "DESC" : "ASC")")
    if let nearest = query.nearest { names.append("\(nearest.path.canonicalText) VECTOR<\(nearest.vector.count)>") }
    let isCollection = query.scope == .target && target.collectionGroup == nil
    self.init([
      Index(scope: isCollection ? "Collection" : "Collection group", properties: "(\(names.joined(separator: ", ")))")
    ])
  }
}
