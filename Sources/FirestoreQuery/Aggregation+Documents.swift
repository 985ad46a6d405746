// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

/// How to work out figures from the documents of a query, by the backend's rules (PROTOCOL §3.9): a document counts if
/// it has every field that is summed or averaged; these fields order the query before its limit applies, unless cursors
/// speak about its own orderings.
package struct DocumentAggregation: Sendable {
  /// The query whose documents to give to `values`; it may differ from the one that was asked.
  package let query: Query
  private let aggregations: [Aggregation]
  private let paths: [FieldPath]
  private let limit: Int?

  package init(_ query: Query, _ aggregations: [Aggregation]) {
    self.aggregations = aggregations
    paths = aggregations.compactMap(\.path)
    var query = query
    if paths.isEmpty || query.limit == nil {
      limit = nil
    } else if query.start == nil, query.end == nil {
      // Ordering by a field leaves out the documents without it.
      query.implyOrder(by: paths)
      limit = nil
    } else {
      // The limit applies to what is left when documents without the fields are gone.
      limit = query.limit
      query.limit = nil
    }
    self.query = query
  }

  /// The documents that count, of those of the query in its order.
  package func counted(of documents: [Document]) -> ArraySlice<Document> {
    let counted = paths.isEmpty ? documents : documents.filter { document in paths.allSatisfy { document[$0] != nil } }
    guard let limit else { return counted[...] }
    return query.limitType == .first ? counted.prefix(limit) : counted.suffix(limit)
  }

  /// The figures by alias.
  package func values(of counted: ArraySlice<Document>) -> [String: Value] {
    Aggregation.evaluate(aggregations, over: counted)
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
