// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
package import FirestoreProtocol
package import FirestoreQuery

extension ExplainMetrics {
  /// The index that Cloud Firestore answers the query with: the fields of equalities, then those of the order, then
  /// those that are aggregated, the name, and the vector. It counts an index entry for each document, also for those
  /// that are skipped, and the documents themselves unless they are only aggregated.
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
