// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
package import FirestoreQuery

package struct AggregationQueryMessage: Sendable {
  /// An `Aggregation`; its function is `nil`, and its alias empty, if the request leaves them out.
  package struct Aggregation: Sendable {
    package enum Function: Sendable {
      case count(upTo: Int64?)
      case sum(path: String)
      case average(path: String)
    }

    package var alias = ""
    package var function: Function?
  }

  package var parent = ""
  /// The query to aggregate; `nil` if the request has none.
  package var query: QueryMessage?
  package var aggregations: [Aggregation] = []
  package var consistency = ConsistencySelector.latest
  /// Whether a query that is to be explained is also to be run; `nil` if it is not to be explained.
  package var explain: Bool?
}

extension WireWriter {
  /// The content of a `google.firestore.v1.RunAggregationQueryRequest`.
  /// - Parameter time: the read time; `nil` for the newest documents.
  package mutating func aggregationRequest(
    _ target: Target, _ aggregations: [Aggregation], at time: SnapshotVersion? = nil, in database: DatabaseID
  ) {
    parent(1, of: target, in: database)
    field(2) { writer in
      writer.field(1) { $0.structuredQuery(of: target) }
      for aggregation in aggregations { writer.field(3) { $0.aggregation(aggregation) } }
    }
    if let time { field(6, timestamp: time.timestamp) }
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
  /// - Parameter figures: the figures by alias.
  package mutating func aggregationResponse(
    _ figures: Fields, readTime: SnapshotVersion, explaining metrics: ExplainMetrics? = nil
  ) {
    field(1) { $0.entries(2, figures) }
    field(3, timestamp: readTime.timestamp)
    if let metrics { explainMetrics(10, metrics) }
  }

  /// The content of a `google.firestore.v1.RunAggregationQueryResponse` that names a new transaction.
  package mutating func aggregationResponse(transaction: [UInt8]) { field(2, bytes: transaction) }

  /// The content of a `google.firestore.v1.RunAggregationQueryResponse` that explains the query.
  package mutating func aggregationResponse(explaining metrics: ExplainMetrics) { explainMetrics(10, metrics) }
}

extension WireReader {
  /// The content of a `google.firestore.v1.RunAggregationQueryRequest`.
  package mutating func aggregationRequest() throws(WireError) -> AggregationQueryMessage {
    var request = AggregationQueryMessage()
    while let tag = try tag() {
      switch (tag.field, tag.type) {
      case (1, .lengthDelimited): request.parent = try string()
      case (2, .lengthDelimited): (request.query, request.aggregations) = try structuredAggregationQuery()
      case (4, .lengthDelimited): request.consistency = .transaction(try byteArray())
      case (5, .lengthDelimited): request.consistency = .newTransaction(try transactionOptions())
      case (6, .lengthDelimited): request.consistency = .readTime(try timestamp())
      case (8, .lengthDelimited): request.explain = try explainOptions()
      default: try skip(tag.type)
      }
    }
    return request
  }

  private mutating func structuredAggregationQuery() throws(WireError) -> (
    QueryMessage, [AggregationQueryMessage.Aggregation]
  ) {
    var (query, aggregations) = (QueryMessage(), [AggregationQueryMessage.Aggregation]())
    var reader = try message()
    while let tag = try reader.tag() {
      switch (tag.field, tag.type) {
      case (1, .lengthDelimited): query = try reader.queryMessage()
      case (3, .lengthDelimited): aggregations.append(try reader.aggregation())
      default: try reader.skip(tag.type)
      }
    }
    return (query, aggregations)
  }

  private mutating func aggregation() throws(WireError) -> AggregationQueryMessage.Aggregation {
    var (aggregation, reader) = (AggregationQueryMessage.Aggregation(), try message())
    while let tag = try reader.tag() {
      switch (tag.field, tag.type) {
      case (1, .lengthDelimited): aggregation.function = .count(upTo: try reader.wrappedLimit())
      case (2, .lengthDelimited): aggregation.function = .sum(path: try reader.wrappedPath())
      case (3, .lengthDelimited): aggregation.function = .average(path: try reader.wrappedPath())
      case (7, .lengthDelimited): aggregation.alias = try reader.string()
      default: try reader.skip(tag.type)
      }
    }
    return aggregation
  }

  /// A field that holds an `Aggregation.Count`.
  private mutating func wrappedLimit() throws(WireError) -> Int64? {
    var limit: Int64?
    try message(with: 1, .lengthDelimited) { reader throws(WireError) in limit = try reader.wrappedInteger() }
    return limit
  }

  /// A field that holds an `Aggregation.Sum` or `Aggregation.Avg`.
  private mutating func wrappedPath() throws(WireError) -> String {
    var path = ""
    try message(with: 1, .lengthDelimited) { reader throws(WireError) in path = try reader.fieldReference() }
    return path
  }

  /// The content of a `google.firestore.v1.RunAggregationQueryResponse`.
  /// - Returns: the figures by alias; `nil` for a message without a result, such as one that names a new transaction.
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
