// SPDX-License-Identifier: Apache-2.0
import FirestoreBackend
import FirestoreModel
import FirestoreQuery

/// What a query that asks to be explained is told (`ExplainMetrics`): the plan and, if it was run, what that took.
struct ExplainMetrics {
  private let query: ServedQuery
  private let aggregations: [Aggregation]
  private var results: (count: Int, skipped: Int, duration: Duration)?

  /// The plan alone.
  init(planOf query: ServedQuery, _ aggregations: [Aggregation] = []) {
    self.query = query
    self.aggregations = aggregations
  }

  /// - Parameters:
  ///   - results: how many documents or aggregates were returned.
  ///   - skipped: how many were left out by an offset.
  init(
    _ query: ServedQuery, _ aggregations: [Aggregation] = [], results: Int, skipped: Int = 0, duration: Duration
  ) {
    self.init(planOf: query, aggregations)
    self.results = (results, skipped, duration)
  }

  func write(_ number: Int, to writer: inout WireWriter) {
    writer.field(number) { writer in
      writer.field(1) { writer in
        writer.field(1) { writer in
          let isCollection = query.scope == .target && query.target.collectionGroup == nil
          writer.entry("query_scope", isCollection ? "Collection" : "Collection group")
          writer.entry("properties", query.indexProperties(aggregations))
        }
      }
      guard let results else { return }
      writer.field(2) { writer in
        writer.field(1, integer: Int64(results.count))
        writer.field(3) { writer in
          let (seconds, attoseconds) = results.duration.components
          if seconds != 0 { writer.field(1, integer: seconds) }
          writer.field(2, integer: attoseconds / 1_000_000_000)
        }
        // Cloud Firestore bills a query without results as one read.
        writer.field(4, integer: Int64(max(results.count, 1)))
        // As Cloud Firestore counts with that index: an entry for each document, also for those that are skipped, and
        // the documents themselves unless they are only aggregated.
        let documents = aggregations.isEmpty ? results.count : 0
        writer.field(5) { writer in
          writer.entry("documents_scanned", "\(documents)")
          writer.entry("index_entries_scanned", "\(results.count + results.skipped)")
          writer.entry("billing_details") { writer in
            writer.entry("documents_billable", "\(documents)")
            writer.entry("index_entries_billable", "\(results.count + results.skipped - documents)")
            writer.entry("min_query_cost", results.count == 0 ? "1" : "0")
            writer.entry("small_ops", "0")
          }
        }
      }
    }
  }
}

extension ServedQuery {
  /// The index that Cloud Firestore answers the query with: the fields of equalities, then those of the order, then
  /// those that are aggregated, the name, and the vector.
  fileprivate func indexProperties(_ aggregations: [Aggregation]) -> String {
    var names: [String] = []
    var seen: Set<FieldPath> = [.documentID]
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
    let isDescending = target.orderBy.last?.direction == .descending
    names.append("__name__ \(isDescending ? "DESC" : "ASC")")
    if let nearest { names.append("\(nearest.path.canonicalText) VECTOR<\(nearest.vector.count)>") }
    return "(\(names.joined(separator: ", ")))"
  }
}

extension WireWriter {
  /// A field of a `google.protobuf.Struct` that holds another.
  fileprivate mutating func entry(_ name: String, _ content: (inout WireWriter) -> Void) {
    field(1) { writer in
      writer.field(1, string: name)
      writer.field(2) { $0.field(5, content) }
    }
  }

  /// A field of a `google.protobuf.Struct` that holds text.
  fileprivate mutating func entry(_ name: String, _ text: String) {
    field(1) { writer in
      writer.field(1, string: name)
      writer.field(2) { $0.field(3, string: text) }
    }
  }
}

extension RequestField {
  /// An `ExplainOptions`.
  /// - Returns: whether the query is to be run too.
  mutating func explainOptions() throws(RPCStatus) -> Bool? {
    try message { inner throws(RPCStatus) in
      var isRun = false
      try inner.fields { number, field throws(RPCStatus) in
        if number == 1 { isRun = try field.boolean() ?? isRun }
      }
      return isRun
    }
  }
}
