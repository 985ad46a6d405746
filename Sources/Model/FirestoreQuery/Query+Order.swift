// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

extension Query {
  /// The explicit orderings, then every inequality field not among them in field order, then `__name__`; implied
  /// orderings take the direction of the last explicit one (PROTOCOL §3.7).
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

  /// The target with which the backend is asked for this query.
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

  /// Compares two documents in the query's total order: its orderings, ending with the key.
  package func compare(_ left: Document, _ right: Document) -> Ordering { orderBy.compare(left, right) }
}

extension Target {
  package func compare(_ left: Document, _ right: Document) -> Ordering { orderBy.compare(left, right) }

  /// The query whose target this is, for reading it from the cache or running it at the backend.
  package var query: Query {
    Query(
      path: path, collectionGroup: collectionGroup, filters: filters, explicitOrderBy: orderBy, limit: limit,
      start: start, end: end)
  }

  /// Whether every document of the collection or group matches, limit aside.
  package var matchesWholeCollection: Bool {
    filters.isEmpty && start == nil && end == nil && orderBy.allSatisfy(\.path.isDocumentID)
  }
}

extension [OrderBy] {
  /// Compares two documents that have all ordering fields; a missing field sorts first.
  package func compare(_ left: Document, _ right: Document) -> Ordering {
    for order in self {
      let ordering: Ordering
      if order.path.isDocumentID {
        ordering = left.key.path.compare(right.key.path)
      } else {
        ordering = Self.compare(left[order.path], right[order.path])
      }
      if ordering != .equal { return order.direction == .descending ? ordering.reversed : ordering }
    }
    return .equal
  }

  static func compare(_ left: Value?, _ right: Value?) -> Ordering {
    switch (left, right) {
    case (let left?, let right?): left.compare(right)
    case (nil, nil): .equal
    case (nil, _): .ascending
    case (_, nil): .descending
    }
  }
}
