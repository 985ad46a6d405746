// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreQuery

extension DocumentReader {
  /// Figures over a target's documents (PROTOCOL §3.9). A document counts only if it has every field that is summed or
  /// averaged, which order the query ascending before its limit applies.
  func aggregate(_ target: Target, _ aggregations: [Aggregation]) throws(BackendError) -> [String: Value] {
    try Self.check(aggregations)
    if aggregations.allSatisfy({ $0.path == nil }) {
      let count = Value.integer(Int64(min(try countMatches(of: target), target.limit ?? .max)))
      return Dictionary(uniqueKeysWithValues: aggregations.map { ($0.alias, count) })
    }
    var figures = AggregationFigures(aggregations)
    if target.limit == nil, !target.isDocumentTarget {
      // Without a limit the order does not matter and nothing has to be held.
      _ = try scanMatches(of: target, after: nil, rows: .max) { figures.add($0) }
    } else {
      // A cursor speaks about the given orderings: then the order stays, and only presence of the fields is required.
      let isBounded = target.start != nil || target.end != nil
      let ordered = isBounded ? target : target.implyingOrder(of: aggregations)
      let documents = try run(ordered, limit: isBounded ? nil : target.limit)
      let fields = aggregations.compactMap(\.path)
      let counted = documents.lazy.filter { document in fields.allSatisfy { document[$0] != nil } }
      for document in counted.prefix(target.limit ?? .max) { figures.add(document) }
    }
    return figures.values
  }

  private static func check(_ aggregations: [Aggregation]) throws(BackendError) {
    if aggregations.isEmpty { throw .refused(.invalidArgument, "Aggregations can not be empty.") }
    if aggregations.count > Aggregation.maximumCount {
      throw .refused(
        .invalidArgument,
        "The maximum number of aggregations allowed in an aggregation query is \(Aggregation.maximumCount).")
    }
    var aliases: Set<String> = []
    for aggregation in aggregations {
      guard aliases.insert(aggregation.alias).inserted else {
        throw .refused(.invalidArgument, "Aggregation aliases contain duplicate alias: \(aggregation.alias).")
      }
      if aggregation.path?.isDocumentID == true {
        throw .refused(.invalidArgument, "Aggregations are not supported for the property: __key__")
      }
    }
  }

  /// How many documents match, limit aside. A whole collection's count is on record and reads no document.
  func countMatches(of target: Target) throws(BackendError) -> Int {
    if target.isDocumentTarget { return try document(DocumentKey(unchecked: target.path)).exists ? 1 : 0 }
    if target.matchesWholeCollections, past == nil {
      return try collections(of: target).reduce(0) { $0 + $1.count }
    }
    var count = 0
    _ = try scanMatches(of: target, after: nil, rows: .max) { _ in count += 1 }
    return count
  }
}

extension Target {
  /// Whether every document of the collections matches: nothing restricts them and no ordering asks for a field.
  var matchesWholeCollections: Bool {
    filters.isEmpty && start == nil && end == nil && orderBy.allSatisfy { $0.path.isDocumentID }
  }
}
