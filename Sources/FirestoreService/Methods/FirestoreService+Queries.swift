// SPDX-License-Identifier: Apache-2.0
import FirestoreBackend
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery

extension FirestoreService {
  func runQuery(_ bytes: [UInt8], to send: Send) async throws {
    var (parent, query, isRun) = ("", RequestedQuery?.none, Bool?.none)
    var consistency = RequestedConsistency.latest
    try RequestReader.read(bytes) { reader throws(RPCStatus) in
      try reader.fields { number, field throws(RPCStatus) in
        switch number {
        case 1: parent = try field.string() ?? parent
        case 2: query = try field.structuredQuery() ?? query
        case 5: if let id = try field.bytes() { consistency = .transaction(id) }
        case 6: if let options = try field.transactionOptions() { consistency = .newTransaction(options) }
        case 7: if let time = try field.timestamp() { consistency = .readTime(time) }
        case 10: isRun = try field.explainOptions() ?? isRun
        default: break
        }
      }
    }
    let (database, path) = try ResourceName.parent(parent)
    guard let query else { throw RPCStatus(.invalidArgument, "only structured queries are supported") }
    let served = try query.served(below: path, in: database)
    if isRun == false { return try await send([message { ExplainMetrics(planOf: served).write(11, to: &$0) }]) }
    let start = ContinuousClock.now
    let (read, new) = try await begin(consistency, in: database)
    if let new { try await send([message { $0.field(2, bytes: new) }]) }
    let cursor = try await backend.open(served, read, in: database)
    let (count, skipped) = try await sendResult(at: cursor, of: served, in: database, to: send)
    if isRun != nil {
      let metrics = ExplainMetrics(served, results: count, skipped: skipped, duration: start.duration(to: .now))
      try await send([message { metrics.write(11, to: &$0) }])
    }
  }

  /// Sends a result piece by piece: the next one is read when the client has room for it.
  /// - Returns: how many documents there were, and how many the offset left out.
  private func sendResult(
    at cursor: QueryCursor, of query: ServedQuery, in database: DatabaseID, to send: Send
  ) async throws -> (count: Int, skipped: Int) {
    let mask = query.projection.map { projection in
      // The distance is part of the result whatever is selected.
      FieldMask(projection.paths.union(query.nearest?.resultField.map { [$0] } ?? []))
    }
    let readTime = cursor.readTime.timestamp
    var (count, skipped, next) = (0, 0, QueryCursor?.some(cursor))
    while let cursor = next {
      let (piece, rest) = try await backend.read(cursor)
      skipped += piece.skipped
      let (before, left) = (count, skipped)
      let responses = piece.documents.enumerated().lazy.map { index, document in
        message { writer in
          writer.field(1) { $0.document(document, in: database, mask: mask) }
          writer.field(3, timestamp: readTime)
          if before + index == 0, left > 0 { writer.field(4, integer: Int64(left)) }
          if rest == nil, index == piece.documents.count - 1 { writer.field(6, boolean: true) }
        }
      }
      for batch in responses.inBatches { try await send(batch) }
      count += piece.documents.count
      next = rest
    }
    if count == 0 {
      let end = message { writer in
        writer.field(3, timestamp: readTime)
        if skipped > 0 { writer.field(4, integer: Int64(skipped)) }
        writer.field(6, boolean: true)
      }
      try await send([end])
    }
    return (count, skipped)
  }

  func runAggregationQuery(_ bytes: [UInt8], to send: Send) async throws {
    var (parent, request, isRun) = ("", RequestedAggregation?.none, Bool?.none)
    var consistency = RequestedConsistency.latest
    try RequestReader.read(bytes) { reader throws(RPCStatus) in
      try reader.fields { number, field throws(RPCStatus) in
        switch number {
        case 1: parent = try field.string() ?? parent
        case 2: request = try field.structuredAggregationQuery() ?? request
        case 4: if let id = try field.bytes() { consistency = .transaction(id) }
        case 5: if let options = try field.transactionOptions() { consistency = .newTransaction(options) }
        case 6: if let time = try field.timestamp() { consistency = .readTime(time) }
        case 8: isRun = try field.explainOptions() ?? isRun
        default: break
        }
      }
    }
    let (database, path) = try ResourceName.parent(parent)
    guard let request else { throw RPCStatus(.invalidArgument, "only structured queries are supported") }
    let served = try (request.query ?? RequestedQuery()).served(below: path, in: database)
    if isRun == false {
      return try await send([message { ExplainMetrics(planOf: served, request.aggregations).write(10, to: &$0) }])
    }
    let start = ContinuousClock.now
    let (read, new) = try await begin(consistency, in: database)
    if let new { try await send([message { $0.field(2, bytes: new) }]) }
    let (values, readTime) = try await backend.aggregate(served, request.aggregations, read, in: database)
    var fields = Fields()
    for (alias, value) in values {
      if case .integer(let count) = value, let cap = request.caps[alias] {
        fields[alias] = .integer(min(count, cap))
      } else {
        fields[alias] = value
      }
    }
    let response = message { writer in
      writer.aggregationResponse(fields, readTime: readTime)
      if isRun != nil {
        ExplainMetrics(served, request.aggregations, results: 1, duration: start.duration(to: .now))
          .write(10, to: &writer)
      }
    }
    try await send([response])
  }

  /// Cursors that split a query's documents into parts of about the same size, none below the real service's 128
  /// documents.
  func partitionQuery(_ bytes: [UInt8]) async throws(RPCStatus) -> [UInt8] {
    var (parent, query) = ("", RequestedQuery?.none)
    var (count, pageSize, token) = (Int64(0), Int64(0), "")
    var consistency = RequestedConsistency.latest
    try RequestReader.read(bytes) { reader throws(RPCStatus) in
      try reader.fields { number, field throws(RPCStatus) in
        switch number {
        case 1: parent = try field.string() ?? parent
        case 2: query = try field.structuredQuery() ?? query
        case 3: count = try field.integer() ?? count
        case 4: token = try field.string() ?? token
        case 5: pageSize = try field.integer() ?? pageSize
        case 6: if let time = try field.timestamp() { consistency = .readTime(time) }
        default: break
        }
      }
    }
    let (database, path) = try ResourceName.parent(parent)
    guard let query else { throw RPCStatus(.invalidArgument, "only structured queries are supported") }
    guard count > 0 else { throw RPCStatus(.invalidArgument, "partition_count must be positive.") }
    guard query.filter == nil, query.limit == nil, query.offset == 0, query.start == nil, query.end == nil,
      query.orderBy.allSatisfy({ $0 == OrderBy(.documentID) })
    else {
      throw RPCStatus(
        .invalidArgument,
        "PartitionQuery needs a collection group query that is ordered by __name__ and has nothing else.")
    }
    let served = try query.served(below: path, in: database)
    let (read, _) = try await begin(consistency, in: database)
    let (documents, _, _) = try await backend.run(served, read, in: database)
    let points = Self.splitPoints(of: documents.map(\.key), partitions: count)
    let first = token.isEmpty ? 0 : Int(token) ?? -1
    guard first >= 0, first <= points.count else { throw RPCStatus(.invalidArgument, "invalid page token") }
    let page = points[first...].prefix(pageSize > 0 ? Int(clamping: pageSize) : .max)
    return message { writer in
      for key in page {
        writer.field(1) { cursor in
          cursor.field(1, value: .reference(database, key))
          cursor.field(2, boolean: true)
        }
      }
      if page.endIndex < points.count { writer.field(2, string: String(page.endIndex)) }
    }
  }

  static func splitPoints(of keys: [DocumentKey], partitions: Int64) -> [DocumentKey] {
    let smallestPart = 128
    let parts = min(Int(clamping: partitions) &+ 1, keys.count / smallestPart)
    guard parts > 1 else { return [] }
    return (1..<parts).map { keys[$0 * keys.count / parts] }
  }
}
