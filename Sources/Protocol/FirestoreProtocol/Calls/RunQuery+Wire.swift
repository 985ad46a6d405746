// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
package import FirestoreQuery

/// The content of a `RunQueryRequest`, or of a `Target.QueryTarget`, whose first fields are the same.
package struct RunQueryMessage: Sendable {
  package var parent = ""
  package var query: QueryMessage?
  package var consistency = ConsistencySelector.latest
  /// Whether the query to be explained is also run; `nil` if the request asks for no explanation.
  package var explain: Bool?
}

extension WireWriter {
  /// Writes the content of a `google.firestore.v1.RunQueryRequest` that reads the newest documents, or of a
  /// `Target.QueryTarget`.
  /// - Precondition: the target is not a document target.
  package mutating func runQueryRequest(_ target: Target, in database: DatabaseID) {
    parent(1, of: target, in: database)
    field(2) { $0.structuredQuery(of: target) }
  }

  /// Writes the content of a `google.firestore.v1.RunQueryRequest`.
  /// - Parameter offset: the number of documents to skip before the limit applies.
  /// - Precondition: the target is not a document target.
  package mutating func runQueryRequest(
    _ target: Target, _ view: ReadView, passing offset: Int = 0, in database: DatabaseID
  ) {
    parent(1, of: target, in: database)
    field(2) { query in
      if let projection = view.projection { query.selection(projection) }
      query.structuredQuery(of: target)
      if offset > 0 { query.field(6, integer: Int64(Int32(clamping: offset))) }
    }
    if let time = view.time { field(7, timestamp: time.timestamp) }
  }

  /// Writes the content of a `google.firestore.v1.RunQueryRequest` that requests an explanation.
  /// - Parameter isRun: whether the server also runs the query, which is billed.
  /// - Precondition: the target is not a document target.
  package mutating func explainRequest(_ target: Target, isRun: Bool, _ view: ReadView, in database: DatabaseID) {
    runQueryRequest(target, view, in: database)
    field(10) { options in if isRun { options.field(1, boolean: true) } }
  }

  /// Writes the content of a `google.firestore.v1.RunQueryRequest` over all collections.
  package mutating func runQueryRequest(_ request: DescendantsRequest, in database: DatabaseID) {
    let target = request.target(in: database)
    field(1, string: database.name(of: target.path))
    field(2) { query in
      if let projection = request.view.projection { query.selection(projection) }
      query.field(2) { $0.field(3, boolean: true) }
      query.structuredQuery(of: target)
    }
    if let time = request.view.time { field(7, timestamp: time.timestamp) }
  }

  /// Writes the field that selects which document fields a query returns.
  private mutating func selection(_ projection: FieldMask) {
    field(1) { select in
      for path in projection.wireTexts { select.field(2) { $0.field(2, string: path) } }
    }
  }

  /// Writes a field that contains the name of the query's parent document, or of the root.
  mutating func parent(_ number: Int, of target: Target, in database: DatabaseID) {
    field(number, string: database.name(of: target.collectionGroup == nil ? target.path.parent : target.path))
  }

  /// Writes the content of the `google.firestore.v1.StructuredQuery` for a target. The limit is an `int32`.
  mutating func structuredQuery(of target: Target) {
    var query = target.query
    query.limit = query.limit.map { Int(Int32(clamping: $0)) }
    structuredQuery(query)
  }

  /// Writes the content of a `google.firestore.v1.RunQueryResponse`.
  /// - Parameter mask: the fields to send; `nil` to send all fields.
  package mutating func runQueryResponse(
    _ response: ReadResponse, _ names: DocumentNames, mask: FieldMask? = nil, explaining metrics: ExplainMetrics? = nil
  ) {
    if let document = response.document { field(1) { $0.document(document, names, mask: mask) } }
    if !response.transaction.isEmpty { field(2, bytes: response.transaction) }
    if let readTime = response.readTime { field(3, timestamp: readTime.timestamp) }
    if response.skipped > 0 { field(4, integer: Int64(response.skipped)) }
    if response.isDone { field(6, boolean: true) }
    if let metrics { explainMetrics(11, metrics) }
  }

  /// Writes the content of a `google.firestore.v1.RunQueryResponse` that explains the query.
  package mutating func runQueryResponse(explaining metrics: ExplainMetrics) { explainMetrics(11, metrics) }
}

extension WireReader {
  /// Reads the content of a `google.firestore.v1.RunQueryRequest`, or of a `Target.QueryTarget`.
  package mutating func runQueryRequest() throws(WireError) -> RunQueryMessage {
    var request = RunQueryMessage()
    while let tag = try tag() {
      switch (tag.field, tag.type) {
      case (1, .lengthDelimited): request.parent = try string()
      case (2, .lengthDelimited): request.query = try queryMessage()
      case (5, .lengthDelimited): request.consistency = .transaction(try byteArray())
      case (6, .lengthDelimited): request.consistency = .newTransaction(try transactionOptions())
      case (7, .lengthDelimited): request.consistency = .readTime(try timestamp())
      case (10, .lengthDelimited): request.explain = try explainOptions()
      default: try skip(tag.type)
      }
    }
    return request
  }

  /// Reads the explanation in a `google.firestore.v1.RunQueryResponse`, but not the document; `nil` if there is no
  /// explanation.
  package mutating func explainResponse() throws(WireError) -> ExplainMetrics? {
    var metrics: ExplainMetrics?
    while let tag = try tag() {
      if tag.field == 11, tag.type == .lengthDelimited { metrics = try explainMetrics() } else { try skip(tag.type) }
    }
    return metrics
  }

  /// Reads the content of a `google.firestore.v1.RunQueryResponse`.
  package mutating func runQueryResponse(_ names: DocumentNames) throws(WireError) -> ReadResponse {
    var response = ReadResponse()
    while let tag = try tag() {
      switch (tag.field, tag.type) {
      case (1, .lengthDelimited): response.document = try document(names)
      case (2, .lengthDelimited): response.transaction = try byteArray()
      case (3, .lengthDelimited): response.readTime = SnapshotVersion(try timestamp())
      case (4, .varint): response.skipped = Int(Int32(truncatingIfNeeded: try varint()))
      case (6, .varint): response.isDone = try boolean()
      default: try skip(tag.type)
      }
    }
    return response
  }
}

extension FieldMask {
  /// The sorted paths. An empty mask is sent as the path `__name__`, because sending no paths would select all fields.
  var wireTexts: [String] { paths.isEmpty ? ["__name__"] : paths.sorted().map(\.canonicalText) }
}

package struct PartitionQueryMessage: Sendable {
  package var parent = ""
  package var query: QueryMessage?
  package var partitionCount: Int64 = 0
  package var pageToken = ""
  package var pageSize: Int64 = 0
  package var consistency = ConsistencySelector.latest
}

extension WireReader {
  /// Reads the content of a `google.firestore.v1.PartitionQueryRequest`.
  package mutating func partitionQueryRequest() throws(WireError) -> PartitionQueryMessage {
    var request = PartitionQueryMessage()
    while let tag = try tag() {
      switch (tag.field, tag.type) {
      case (1, .lengthDelimited): request.parent = try string()
      case (2, .lengthDelimited): request.query = try queryMessage()
      case (3, .varint): request.partitionCount = try integer()
      case (4, .lengthDelimited): request.pageToken = try string()
      case (5, .varint): request.pageSize = try integer()
      case (6, .lengthDelimited): request.consistency = .readTime(try timestamp())
      default: try skip(tag.type)
      }
    }
    return request
  }
}

extension WireWriter {
  /// Writes the content of a `google.firestore.v1.PartitionQueryResponse`.
  /// - Parameter points: the documents at which the partitions begin.
  package mutating func partitionQueryResponse(
    _ points: some Sequence<DocumentKey>, in database: DatabaseID, nextPageToken: String
  ) {
    for key in points { field(1) { $0.cursor([.reference(database, key)], before: true) } }
    if !nextPageToken.isEmpty { field(2, string: nextPageToken) }
  }
}

package struct AggregationQueryMessage: Sendable {
  /// The content of an `Aggregation`. If the request omits the function, it is `nil`. If the request omits the alias,
  /// it is empty.
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
  /// The query to aggregate; `nil` if the request contains none.
  package var query: QueryMessage?
  package var aggregations: [Aggregation] = []
  package var consistency = ConsistencySelector.latest
  /// Whether the query to be explained is also run; `nil` if the request asks for no explanation.
  package var explain: Bool?
}

extension Target {
  /// A copy of the target without the last ordering, if the other orderings imply it and no cursor has a value for it.
  fileprivate var withoutImpliedName: Target {
    let implied = orderBy.dropLast().last?.direction ?? .ascending
    guard orderBy.last == OrderBy(.documentID, implied),
      max(start?.values.count ?? 0, end?.values.count ?? 0) < orderBy.count
    else { return self }
    var target = self
    target.orderBy.removeLast()
    return target
  }
}

extension WireWriter {
  /// Writes the content of a `google.firestore.v1.RunAggregationQueryRequest`. Omits the implied ordering by name,
  /// because the server must append the name after the aggregated field (PROTOCOL §3.9).
  /// - Parameter time: the read time; `nil` for the newest documents.
  package mutating func aggregationRequest(
    _ target: Target, _ aggregations: [Aggregation], at time: SnapshotVersion? = nil, in database: DatabaseID
  ) {
    parent(1, of: target, in: database)
    field(2) { writer in
      writer.field(1) { $0.structuredQuery(of: target.withoutImpliedName) }
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

  /// Writes the content of a `google.firestore.v1.RunAggregationQueryResponse`.
  /// - Parameter figures: the results by alias.
  package mutating func aggregationResponse(
    _ figures: Fields, readTime: SnapshotVersion, explaining metrics: ExplainMetrics? = nil
  ) {
    field(1) { $0.entries(2, figures) }
    field(3, timestamp: readTime.timestamp)
    if let metrics { explainMetrics(10, metrics) }
  }

  /// Writes the content of a `google.firestore.v1.RunAggregationQueryResponse` that contains only the id of a new
  /// transaction.
  package mutating func aggregationResponse(transaction: [UInt8]) { field(2, bytes: transaction) }

  /// Writes the content of a `google.firestore.v1.RunAggregationQueryResponse` that explains the query.
  package mutating func aggregationResponse(explaining metrics: ExplainMetrics) { explainMetrics(10, metrics) }
}

extension WireReader {
  /// Reads the content of a `google.firestore.v1.RunAggregationQueryRequest`.
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

  /// Reads a field that contains an `Aggregation.Count`.
  private mutating func wrappedLimit() throws(WireError) -> Int64? {
    var limit: Int64?
    try message(with: 1, .lengthDelimited) { reader throws(WireError) in limit = try reader.wrappedInteger() }
    return limit
  }

  /// Reads a field that contains an `Aggregation.Sum` or `Aggregation.Avg`.
  private mutating func wrappedPath() throws(WireError) -> String {
    var path = ""
    try message(with: 1, .lengthDelimited) { reader throws(WireError) in path = try reader.fieldReference() }
    return path
  }

  /// Reads the content of a `google.firestore.v1.RunAggregationQueryResponse`.
  /// - Returns: the results by alias; `nil` if the message contains no result, for example only the id of a new
  ///   transaction.
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
