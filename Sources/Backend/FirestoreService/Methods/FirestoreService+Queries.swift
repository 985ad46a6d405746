// SPDX-License-Identifier: Apache-2.0
import FirestoreBackend
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery

extension FirestoreService {
  func runQuery(_ bytes: [UInt8], to send: Send) async throws {
    let request = try RequestReader.read(bytes) { reader throws(WireError) in try reader.runQueryRequest() }
    let (database, path) = try ResourceName.parent(request.parent)
    let query = try ServedQuery(request: request.query, below: path, in: database)
    try await access?.list(query, request.query?.explicitOrderings ?? [], in: database, on: backend)
    try indexes?.check(query, in: database)
    var metrics = ExplainMetrics(of: query)
    if request.explain == false {
      return try await send([WireWriter.message { $0.runQueryResponse(explaining: metrics) }])
    }
    let (start, names) = (ContinuousClock.now, DocumentNames(database))
    let (read, new) = try await begin(request.consistency, in: database, on: backend)
    if let new { try await send([WireWriter.message { $0.runQueryResponse(ReadResponse(transaction: new), names) }]) }
    let cursor = try await backend.open(ReadRequest(query, read, in: database))
    let isExplained = request.explain != nil
    let (count, skipped) = try await sendResult(at: cursor, of: query, names, endsHere: !isExplained, to: send)
    if isExplained {
      metrics.execution = ExplainMetrics.Execution(
        results: count, duration: start.duration(to: .now), documents: count, indexEntries: count + skipped)
      let end = ReadResponse(readTime: cursor.readTime, skipped: count == 0 ? skipped : 0, isDone: true)
      try await send([WireWriter.message { $0.runQueryResponse(end, names, explaining: metrics) }])
    }
  }

  /// Sends a result piece by piece: the next one is read when the client has room for it.
  /// - Parameter endsHere: whether the last message says that the result is complete. Clients read no further message.
  /// - Returns: the number of documents, and the number of documents that the offset left out.
  private func sendResult(
    at cursor: QueryCursor, of query: ServedQuery, _ names: DocumentNames, endsHere: Bool, to send: Send
  ) async throws -> (count: Int, skipped: Int) {
    let mask = query.projection.map { projection in
      // The distance is part of the result whatever is selected.
      FieldMask(projection.paths.union(query.nearest?.resultField.map { [$0] } ?? []))
    }
    let readTime = cursor.readTime
    var (count, skipped, next) = (0, 0, QueryCursor?.some(cursor))
    while let cursor = next {
      let (piece, rest) = try await backend.read(cursor)
      hold?(piece.size)
      skipped += piece.skipped
      let (before, left, last) = (count, skipped, rest == nil && endsHere ? piece.documents.count - 1 : -1)
      let responses = piece.documents.enumerated().lazy.map { index, document in
        let response = ReadResponse(
          document: document, readTime: readTime, skipped: before + index == 0 ? left : 0, isDone: index == last)
        return WireWriter.message { $0.runQueryResponse(response, names, mask: mask) }
      }
      for batch in responses.inBatches { try await send(batch) }
      count += piece.documents.count
      next = rest
    }
    if count == 0, endsHere {
      let end = ReadResponse(readTime: readTime, skipped: skipped, isDone: true)
      try await send([WireWriter.message { $0.runQueryResponse(end, names) }])
    }
    return (count, skipped)
  }

  func runAggregationQuery(_ bytes: [UInt8], to send: Send) async throws {
    let request = try RequestReader.read(bytes) { reader throws(WireError) in try reader.aggregationRequest() }
    let (database, path) = try ResourceName.parent(request.parent)
    let query = try ServedQuery(request: request.query, below: path, in: database)
    let (aggregations, caps) = try request.checked()
    try await access?.list(query, request.query?.explicitOrderings ?? [], in: database, on: backend)
    try indexes?.check(query, aggregations, in: database)
    var metrics = ExplainMetrics(of: query, aggregations)
    if request.explain == false {
      return try await send([WireWriter.message { $0.aggregationResponse(explaining: metrics) }])
    }
    let start = ContinuousClock.now
    let (read, new) = try await begin(request.consistency, in: database, on: backend)
    if let new { try await send([WireWriter.message { $0.aggregationResponse(transaction: new) }]) }
    let (values, readTime) = try await backend.aggregate(ReadRequest(query, read, in: database), aggregations)
    var fields = Fields()
    for (alias, value) in values {
      if case .integer(let count) = value, let cap = caps[alias] {
        fields[alias] = .integer(min(count, cap))
      } else {
        fields[alias] = value
      }
    }
    if request.explain != nil {
      metrics.execution = ExplainMetrics.Execution(
        results: 1, duration: start.duration(to: .now), documents: 0, indexEntries: 1)
    }
    let (figures, explained) = (fields, request.explain == nil ? nil : metrics)
    try await send([
      WireWriter.message { $0.aggregationResponse(figures, readTime: readTime, explaining: explained) }
    ])
  }

  /// Cursors that split a query's documents into parts of about the same size, none below the real service's 128
  /// documents.
  func partitionQuery(_ bytes: [UInt8]) async throws(RPCStatus) -> [UInt8] {
    let request = try RequestReader.read(bytes) { reader throws(WireError) in try reader.partitionQueryRequest() }
    let (database, path) = try ResourceName.parent(request.parent)
    let query = try ServedQuery(request: request.query, below: path, in: database)
    try access?.checkIsAdmin("Partitions of queries", in: database)
    guard request.partitionCount > 0 else { throw .invalid("partition_count must be positive.") }
    let target = query.target
    guard target.filters.isEmpty, target.limit == nil, query.offset == 0, target.start == nil, target.end == nil,
      target.orderBy == [OrderBy(.documentID)]
    else {
      throw .invalid("PartitionQuery needs a collection group query that is ordered by __name__ and has nothing else.")
    }
    let (read, _) = try await begin(request.consistency, in: database, on: backend)
    let keys = try await backend.keys(of: ReadRequest(query, read, in: database))
    let points = Self.splitPoints(of: keys, partitions: request.partitionCount)
    let first = request.pageToken.isEmpty ? 0 : Int(request.pageToken) ?? -1
    guard first >= 0, first <= points.count else { throw .invalid("invalid page token") }
    let page = points[first...].prefix(request.pageSize > 0 ? Int(clamping: request.pageSize) : .max)
    let token = page.endIndex < points.count ? String(page.endIndex) : ""
    return WireWriter.message { $0.partitionQueryResponse(page, in: database, nextPageToken: token) }
  }

  static func splitPoints(of keys: [DocumentKey], partitions: Int64) -> [DocumentKey] {
    let smallestPart = 128
    let parts = min(Int(clamping: partitions) &+ 1, keys.count / smallestPart)
    guard parts > 1 else { return [] }
    return (1..<parts).map { keys[$0 * keys.count / parts] }
  }
}
