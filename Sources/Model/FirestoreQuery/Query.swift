// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

/// A query as the user built it. The backend is asked for its `target`.
package struct Query: Codable, Hashable, Sendable {
  package enum LimitType: Codable, Hashable, Sendable { case first, last }

  /// The collection, or the one document of a document listener, or the ancestor of a collection group.
  package var path: ResourcePath
  /// The collection id matched at any depth below `path`; `nil` for a plain collection or document.
  package var collectionGroup: String?
  /// The filters, combined with AND.
  package var filters: [Filter]
  /// The orderings that the user gave; `orderBy` adds the implied ones.
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

  /// Whether the query names one document.
  package var isDocumentQuery: Bool { collectionGroup == nil && path.isDocument && filters.isEmpty }

  /// Whether every document of the collection or group matches: no filter, limit, bound or ordering beyond `__name__`.
  package var matchesAllDocuments: Bool {
    filters.isEmpty && limit == nil && start == nil && end == nil
      && (explicitOrderBy.isEmpty || (explicitOrderBy.count == 1 && explicitOrderBy[0].path.isDocumentID))
  }
}

extension Query {
  /// Compares the queries' meaning: implied orderings count as if they were written out.
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

/// The form of a query for the backend: all orderings explicit, and limit-to-last turned into a plain limit with
/// orderings and bounds reversed. Two queries may share a target ("mirror queries").
package struct Target: Codable, Hashable, Sendable {
  package var path: ResourcePath
  package var collectionGroup: String?
  package var filters: [Filter]
  /// All orderings, the last one by `__name__`.
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

package struct OrderBy: Codable, Hashable, Sendable {
  package enum Direction: Codable, Hashable, Sendable {
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

/// A cursor: a position in the query's order, given by the leading ordering values.
package struct Bound: Codable, Hashable, Sendable {
  /// The values, one per leading `OrderBy`; a `reference` for `__name__`.
  package var values: [Value]
  /// Whether the position itself is included: `true` for `startAt` and `endAt`, `false` for `startAfter` and
  /// `endBefore`.
  package var isInclusive: Bool

  package init(values: [Value], isInclusive: Bool) {
    self.values = values
    self.isInclusive = isInclusive
  }
}
