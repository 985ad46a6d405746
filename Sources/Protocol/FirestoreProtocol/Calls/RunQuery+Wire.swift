// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
package import FirestoreQuery

/// A `RunQueryRequest`, or a `Target.QueryTarget`, which begins alike.
package struct RunQueryMessage: Sendable {
  package var parent = ""
  package var query: QueryMessage?
  package var consistency = ConsistencySelector.latest
  /// Whether a query that is to be explained is also to be run; `nil` if it is not to be explained.
  package var explain: Bool?
}

extension WireWriter {
  /// The content of a `google.firestore.v1.RunQueryRequest` for the newest documents, or of a `Target.QueryTarget`.
  /// - Precondition: the target is no document target.
  package mutating func runQueryRequest(_ target: Target, in database: DatabaseID) {
    parent(1, of: target, in: database)
    field(2) { $0.structuredQuery(of: target) }
  }

  /// The content of a `google.firestore.v1.RunQueryRequest`.
  /// - Parameter offset: the number of documents to leave out before the limit.
  /// - Precondition: the target is no document target.
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

  /// The content of a `google.firestore.v1.RunQueryRequest` that asks for an explanation.
  /// - Parameter isRun: whether the query is also to be run, which is billed.
  /// - Precondition: the target is no document target.
  package mutating func explainRequest(_ target: Target, isRun: Bool, _ view: ReadView, in database: DatabaseID) {
    runQueryRequest(target, view, in: database)
    field(10) { options in if isRun { options.field(1, boolean: true) } }
  }

  /// The content of a `google.firestore.v1.RunQueryRequest` that names no collection.
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

  /// A field with the fields that a query returns of its documents.
  private mutating func selection(_ projection: FieldMask) {
    field(1) { select in
      for path in projection.wireTexts { select.field(2) { $0.field(2, string: path) } }
    }
  }

  /// A field with the name of the document that a query starts from, or of the root.
  mutating func parent(_ number: Int, of target: Target, in database: DatabaseID) {
    field(number, string: database.name(of: target.collectionGroup == nil ? target.path.parent : target.path))
  }

  /// The content of the `google.firestore.v1.StructuredQuery` that a backend is asked, in which the limit is an
  /// `int32`.
  mutating func structuredQuery(of target: Target) {
    var query = target.query
    query.limit = query.limit.map { Int(Int32(clamping: $0)) }
    structuredQuery(query)
  }

  /// The content of a `google.firestore.v1.RunQueryResponse`.
  /// - Parameter mask: the fields to send; all for `nil`.
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

  /// The content of a `google.firestore.v1.RunQueryResponse` that explains the query.
  package mutating func runQueryResponse(explaining metrics: ExplainMetrics) { explainMetrics(11, metrics) }
}

extension WireReader {
  /// The content of a `google.firestore.v1.RunQueryRequest`, or of a `Target.QueryTarget`.
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

  /// The explanation in a `google.firestore.v1.RunQueryResponse`, without looking at its document; `nil` if there is none.
  package mutating func explainResponse() throws(WireError) -> ExplainMetrics? {
    var metrics: ExplainMetrics?
    while let tag = try tag() {
      if tag.field == 11, tag.type == .lengthDelimited { metrics = try explainMetrics() } else { try skip(tag.type) }
    }
    return metrics
  }

  /// The content of a `google.firestore.v1.RunQueryResponse`.
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
  /// The paths in their order. A mask without any would mean all fields, so the document's name stands for none.
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
  /// The content of a `google.firestore.v1.PartitionQueryRequest`.
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
  /// The content of a `google.firestore.v1.PartitionQueryResponse`.
  /// - Parameter points: the documents that partitions begin with.
  package mutating func partitionQueryResponse(
    _ points: some Sequence<DocumentKey>, in database: DatabaseID, nextPageToken: String
  ) {
    for key in points { field(1) { $0.cursor([.reference(database, key)], before: true) } }
    if !nextPageToken.isEmpty { field(2, string: nextPageToken) }
  }
}
