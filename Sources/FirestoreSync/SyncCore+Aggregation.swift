// SPDX-License-Identifier: Apache-2.0
import FirestoreLocal
package import FirestoreModel
package import FirestoreQuery

/// Figures over what the cache holds.
package struct CachedAggregate: Sendable {
  /// By alias.
  package var values: [String: Value]
  /// Whether some document that counts has local writes.
  package var hasPendingWrites: Bool
}

extension SyncCore {
  /// Works out figures by the backend's rules (PROTOCOL §3.9): a document counts if it has every field that is summed
  /// or averaged; these fields order the query before its limit applies, unless cursors speak about its own orderings.
  mutating func aggregate(
    _ query: Query, _ aggregations: [Aggregation]
  ) throws(LocalStoreError) -> CachedAggregate {
    let paths = aggregations.compactMap(\.path)
    var unlimited = query
    unlimited.limit = nil
    if query.limit != nil, query.start == nil, query.end == nil { unlimited.implyOrder(by: paths) }
    let counted = try cachedDocuments(unlimited).documents.filter { document in
      paths.allSatisfy { document[$0] != nil }
    }
    var documents = counted[...]
    if let limit = query.limit {
      documents = query.limitType == .first ? counted.prefix(limit) : counted.suffix(limit)
    }
    return CachedAggregate(
      values: Aggregation.evaluate(aggregations, over: documents),
      hasPendingWrites: documents.contains(where: \.hasLocalMutations))
  }
}

extension SyncEngine {
  /// Figures over the cached documents, local writes included.
  package func cachedAggregate(
    _ query: Query, _ aggregations: [Aggregation]
  ) async throws(RPCStatus) -> CachedAggregate {
    try read { core throws(LocalStoreError) in try core.aggregate(query, aggregations) }
  }
}

extension Query {
  /// Orders by the paths too, before the id; for the last documents backwards, since the backend orders those so.
  fileprivate mutating func implyOrder(by paths: [FieldPath]) {
    var orderings = orderBy
    for path in paths where !orderings.contains(where: { $0.path == path }) {
      let end = orderings.firstIndex { $0.path.isDocumentID } ?? orderings.count
      orderings.insert(OrderBy(path, limitType == .last ? .descending : .ascending), at: end)
    }
    explicitOrderBy = orderings
  }
}
