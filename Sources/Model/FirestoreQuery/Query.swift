// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

/// A query as the user wrote it. The client sends its `target` to the backend.
package struct Query: Hashable, Sendable {
  package enum LimitType: Hashable, Sendable { case first, last }

  /// The path of the collection or of the single document. For a collection group, the path of its ancestor.
  package var path: ResourcePath
  /// The collection id to match at any depth below `path`; `nil` for a single collection or document.
  package var collectionGroup: String?
  /// The filters, combined with AND.
  package var filters: [Filter]
  /// The orderings that the user specified. `orderBy` adds the implied orderings.
  package var explicitOrderBy: [OrderBy]
  package var limit: Int?
  package var limitType: LimitType
  package var start: Bound?
  package var end: Bound?

  package init(
    path: ResourcePath, collectionGroup: String? = nil, filters: [Filter] = [], explicitOrderBy: [OrderBy] = [],
    limit: Int? = nil, limitType: LimitType = .first, start: Bound? = nil, end: Bound? = nil
  ) {
    self.path = path
    self.collectionGroup = collectionGroup
    self.filters = filters
    self.explicitOrderBy = explicitOrderBy
    self.limit = limit
    self.limitType = limitType
    self.start = start
    self.end = end
  }

  /// Whether the query is for one document.
  package var isDocumentQuery: Bool { collectionGroup == nil && path.isDocument && filters.isEmpty }

  /// Whether the query has no filter, no limit, no cursor and no ordering except by `__name__`, so that every document
  /// in the collection or group matches.
  package var matchesAllDocuments: Bool {
    filters.isEmpty && limit == nil && start == nil && end == nil
      && (explicitOrderBy.isEmpty || (explicitOrderBy.count == 1 && explicitOrderBy[0].path.isDocumentID))
  }
}

extension Query {
  /// Whether two queries have the same meaning. Implied orderings are treated like explicit ones.
  package static func == (left: Query, right: Query) -> Bool {
    left.limitType == right.limitType && left.target == right.target
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(path)
    hasher.combine(limitType)
    hasher.combine(limit)
    hasher.combine(filters)
  }
}

/// The form in which a query is sent to the backend. All orderings are explicit. Limit-to-last becomes a plain limit
/// with reversed orderings and bounds. Two queries can have the same target ("mirror queries").
package struct Target: Hashable, Sendable {
  package var path: ResourcePath
  package var collectionGroup: String?
  package var filters: [Filter]
  /// All orderings. The last ordering is by `__name__`.
  package var orderBy: [OrderBy]
  package var limit: Int?
  package var start: Bound?
  package var end: Bound?

  package init(
    path: ResourcePath, collectionGroup: String? = nil, filters: [Filter], orderBy: [OrderBy], limit: Int?,
    start: Bound?, end: Bound?
  ) {
    self.path = path
    self.collectionGroup = collectionGroup
    self.filters = filters
    self.orderBy = orderBy
    self.limit = limit
    self.start = start
    self.end = end
  }

  package var isDocumentTarget: Bool { collectionGroup == nil && path.isDocument && filters.isEmpty }
}

package struct OrderBy: Hashable, Sendable {
  package enum Direction: String, Hashable, Sendable {
    case ascending, descending
    package var reversed: Direction { self == .ascending ? .descending : .ascending }
  }

  package var path: FieldPath
  package var direction: Direction

  package init(_ path: FieldPath, _ direction: Direction = .ascending) {
    self.path = path
    self.direction = direction
  }
}

/// A cursor: a position in the query's order, defined by values for the leading orderings.
package struct Bound: Hashable, Sendable {
  /// The values, one for each of the leading orderings. The value for `__name__` is a `reference`.
  package var values: [Value]
  /// Whether the cursor includes documents at the position itself. This is `true` for `startAt` and `endAt`, and
  /// `false` for `startAfter` and `endBefore`.
  package var isInclusive: Bool

  package init(values: [Value], isInclusive: Bool) {
    self.values = values
    self.isInclusive = isInclusive
  }
}

extension Query {
  /// All orderings: first the explicit ones, then the remaining inequality fields in the order of their names, then
  /// `__name__`. Implied orderings have the direction of the last explicit ordering (PROTOCOL §3.7).
  package var orderBy: [OrderBy] {
    var result = explicitOrderBy
    let direction = explicitOrderBy.last?.direction ?? .ascending
    var ordered = Set(explicitOrderBy.map(\.path))
    let inequalities = Set(filters.flatMap(\.fieldFilters).filter(\.op.isInequality).map(\.path))
    for path in inequalities.sorted() where !path.isDocumentID && ordered.insert(path).inserted {
      result.append(OrderBy(path, direction))
    }
    if !ordered.contains(.documentID) { result.append(OrderBy(.documentID, direction)) }
    return result
  }

  /// The target to send to the backend for this query.
  package var target: Target {
    switch limitType {
    case .first:
      Target(
        path: path, collectionGroup: collectionGroup, filters: filters, orderBy: orderBy, limit: limit, start: start,
        end: end)
    case .last:
      Target(
        path: path, collectionGroup: collectionGroup, filters: filters,
        orderBy: orderBy.map { OrderBy($0.path, $0.direction.reversed) }, limit: limit, start: end, end: start)
    }
  }

  /// Compares two documents by all orderings of the query, and finally by key.
  package func compare(_ left: Document, _ right: Document) -> Ordering { orderBy.compare(left, right) }
}

extension Target {
  package func compare(_ left: Document, _ right: Document, by rules: ComparisonRules = .client) -> Ordering {
    orderBy.compare(left, right, by: rules)
  }

  /// A query that has this target. It can be run on the cache or on the backend.
  package var query: Query {
    Query(
      path: path, collectionGroup: collectionGroup, filters: filters, explicitOrderBy: orderBy, limit: limit,
      start: start, end: end)
  }

  /// Whether every document of the collection or group matches, ignoring the limit.
  package var matchesWholeCollection: Bool {
    filters.isEmpty && start == nil && end == nil && orderBy.allSatisfy(\.path.isDocumentID)
  }
}

extension [OrderBy] {
  /// Compares two documents that should have all ordering fields. A missing field sorts first.
  package func compare(_ left: Document, _ right: Document, by rules: ComparisonRules = .client) -> Ordering {
    for order in self {
      let ordering: Ordering
      if order.path.isDocumentID {
        ordering = left.key.path.compare(right.key.path)
      } else {
        ordering = Self.compare(left[order.path], right[order.path], rules.numericIDs)
      }
      if ordering != .equal { return order.direction == .descending ? ordering.reversed : ordering }
    }
    return .equal
  }

  static func compare(_ left: Value?, _ right: Value?, _ numericIDs: NumericIDOrder = .asText) -> Ordering {
    switch (left, right) {
    case (let left?, let right?): left.compare(right, numericIDs)
    case (nil, nil): .equal
    case (nil, _): .ascending
    case (_, nil): .descending
    }
  }
}

extension Bound {
  /// Whether a query that starts at this bound includes the document.
  func admitsFollowing(
    _ fields: StoredFields, of key: DocumentKey, _ orderBy: [OrderBy], _ rules: ComparisonRules
  ) -> Bool {
    let ordering = compare(fields, of: key, orderBy, rules)
    return isInclusive ? ordering != .descending : ordering == .ascending
  }

  /// Whether a query that ends at this bound includes the document.
  func admitsPreceding(
    _ fields: StoredFields, of key: DocumentKey, _ orderBy: [OrderBy], _ rules: ComparisonRules
  ) -> Bool {
    let ordering = compare(fields, of: key, orderBy, rules)
    return isInclusive ? ordering != .ascending : ordering == .descending
  }

  /// Compares the bound with the document, using only the orderings for which the bound has values.
  private func compare(
    _ fields: StoredFields, of key: DocumentKey, _ orderBy: [OrderBy], _ rules: ComparisonRules
  ) -> Ordering {
    for (value, order) in zip(values, orderBy) {
      var ordering = Ordering.equal
      if order.path.isDocumentID {
        if let bound = value.referencedKey { ordering = bound.path.compare(key.path) }
      } else if let stored = fields.find(order.path)?.compare(value, rules.numericIDs) {
        ordering = stored.reversed
      }
      if order.direction == .descending { ordering = ordering.reversed }
      if ordering != .equal { return ordering }
    }
    return .equal
  }
}

extension Query {
  /// A text that is the same for equal queries. It determines the order of events and is used in the names of caches.
  package var canonicalID: String { target.canonicalID + (limitType == .last ? "|last" : "") }
}

extension Target {
  /// A text that identifies the target and never changes. Caches use it as the target's key.
  package var canonicalID: String {
    var text = Self.escaped(path.text)
    if let collectionGroup { text += "|group:" + Self.escaped(collectionGroup) }
    if !filters.isEmpty { text += "|where:" + filters.map(\.canonicalText).joined(separator: ",") }
    text += "|order:"
    text += orderBy.map { order in
      order.path.canonicalText + (order.direction == .ascending ? " asc" : " desc")
    }
    .joined(separator: ",")
    if let limit { text += "|limit:\(limit)" }
    if let start { text += "|start\(start.isInclusive ? "At" : "After"):" + start.values.canonicalText }
    if let end { text += "|end\(end.isInclusive ? "At" : "Before"):" + end.values.canonicalText }
    return text
  }
}

extension Target {
  /// Escapes vertical bars. They separate the parts of the text, but ids may also contain them.
  private static func escaped(_ text: String) -> String {
    if !text.utf8.contains(where: { $0 == UInt8(ascii: "|") || $0 == UInt8(ascii: "\\") }) { return text }
    var escaped = ""
    for scalar in text.unicodeScalars {
      if scalar == "|" || scalar == "\\" { escaped += "\\" }
      escaped.unicodeScalars.append(scalar)
    }
    return escaped
  }
}

extension Filter {
  fileprivate var canonicalText: String {
    switch self {
    case .field(let filter): filter.path.canonicalText + " \(filter.op.rawValue) " + [filter.value].canonicalText
    case .and(let filters): "and(" + filters.map(\.canonicalText).joined(separator: ",") + ")"
    case .or(let filters): "or(" + filters.map(\.canonicalText).joined(separator: ",") + ")"
    }
  }
}

extension [Value] {
  /// The wire bytes in hexadecimal. They represent values of every type exactly.
  fileprivate var canonicalText: String {
    Hexadecimal.text(WireWriter.message { writer in for value in self { writer.field(1) { $0.value(value) } } })
  }
}
