// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
package import FirestoreQuery

extension WireWriter {
  /// The content of a `google.firestore.v1.RunAggregationQueryRequest` over the newest documents.
  package mutating func aggregationRequest(_ target: Target, _ aggregations: [Aggregation], in database: DatabaseID) {
    parent(1, of: target, in: database)
    field(2) { writer in
      writer.field(1) { $0.structuredQuery(of: target) }
      for aggregation in aggregations { writer.field(3) { $0.aggregation(aggregation) } }
    }
  }

  private mutating func aggregation(_ aggregation: Aggregation) {
    switch aggregation.function {
    case .count: field(1) { _ in }
    case .sum(let path): field(2) { $0.fieldReference(1, path) }
    case .average(let path): field(3) { $0.fieldReference(1, path) }
    }
    if !aggregation.alias.isEmpty { field(7, string: aggregation.alias) }
  }

  /// The content of a `google.firestore.v1.RunAggregationQueryResponse`.
  /// - Parameter figures: by alias.
  package mutating func aggregationResponse(_ figures: Fields, readTime: SnapshotVersion) {
    field(1) { $0.entries(2, figures) }
    field(3, timestamp: readTime.timestamp)
  }
}

extension WireReader {
  /// The content of a `google.firestore.v1.RunAggregationQueryResponse`.
  /// - Returns: the figures by alias; `nil` for a message without a result, as the one that names a new transaction is.
  package mutating func aggregationResponse() throws(WireError) -> Fields? {
    var figures: Fields?
    while let tag = try tag() {
      switch (tag.field, tag.type) {
      case (1, .lengthDelimited):
        var result = try message()
        figures = try result.fields(2)
      default: try skip(tag.type)
      }
    }
    return figures
  }
}
