// SPDX-License-Identifier: Apache-2.0
import FirestoreBackend
import FirestoreModel
import FirestorePipelines
import FirestoreProtocol
import FirestoreQuery

extension FirestoreService {
  func runQuery(_ bytes: [UInt8], to send: Send) async throws {
    let request = try RequestReader.read(bytes) { reader throws(WireError) in try reader.runQueryRequest() }
    let (database, path) = try ResourceName.parent(request.parent)
    let query = try ServedQuery(request: request.query, below: path, in: database)
    try await access?.list(query, request.query?.explicitOrderings ?? [], in: database, on: backend)
    try indexes?.check(query, in: database)
    let metrics = ExplainMetrics(of: query)
    if request.explain == false {
      return try await send([WireWriter.message { $0.runQueryResponse(explaining: metrics) }])
    }
    let names = DocumentNames(database)
    let (read, new) = try await begin(request.consistency, in: database, on: backend)
    if let new { try await send([WireWriter.message { $0.runQueryResponse(ReadResponse(transaction: new), names) }]) }
    let cursor = try await backend.open(ReadRequest(query, read, in: database))
    try await sendResult(at: cursor, of: query, names, explaining: request.explain == nil ? nil : metrics, to: send)
  }

  /// Sends a result piece by piece. The next piece is read when the client accepts more data. The last message marks
  /// the result as complete and has the explanation, because clients read no further message.
  private func sendResult(
    at cursor: QueryCursor, of query: ServedQuery, _ names: DocumentNames, explaining plan: ExplainMetrics?,
    to send: Send
  ) async throws {
    let start = ContinuousClock.now
    func explanation(of count: Int, skipped: Int) -> ExplainMetrics? {
      var metrics = plan
      metrics?.execution = ExplainMetrics.Execution(
        results: count, duration: start.duration(to: .now), documents: count, indexEntries: count + skipped)
      return metrics
    }
    let mask = query.projection.map { projection in
      // The distance is returned even if the query does not select its field.
      FieldMask(projection.paths.union(query.nearest?.resultField.map { [$0] } ?? []))
    }
    let readTime = cursor.readTime
    var (count, skipped, next) = (0, 0, QueryCursor?.some(cursor))
    while let cursor = next {
      let (piece, rest) = try await backend.read(cursor)
      hold?(piece.size)
      skipped += piece.skipped
      let (before, left, last) = (count, skipped, rest == nil ? piece.documents.count - 1 : -1)
      let responses = piece.documents.enumerated().lazy.map { index, document in
        let response = ReadResponse(
          document: document, readTime: readTime, skipped: before + index == 0 ? left : 0, isDone: index == last)
        let metrics = index == last ? explanation(of: before + last + 1, skipped: left) : nil
        return WireWriter.message { $0.runQueryResponse(response, names, mask: mask, explaining: metrics) }
      }
      for batch in responses.inBatches { try await send(batch) }
      count += piece.documents.count
      next = rest
    }
    if count == 0 {
      let end = ReadResponse(readTime: readTime, skipped: skipped, isDone: true)
      let metrics = explanation(of: 0, skipped: skipped)
      try await send([WireWriter.message { $0.runQueryResponse(end, names, explaining: metrics) }])
    }
  }

  func runAggregationQuery(_ bytes: [UInt8], to send: Send) async throws {
    let request = try RequestReader.read(bytes) { reader throws(WireError) in try reader.aggregationRequest() }
    let (database, path) = try ResourceName.parent(request.parent)
    let query = try ServedQuery(request: request.query, below: path, in: database)
    let (aggregations, caps) = try request.checked()
    try query.check(aggregations, ordered: request.query?.explicitOrderings ?? [])
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

  /// Returns cursors that split a query's documents into parts of similar size. As in the real service, a part has at
  /// least 128 documents.
  func partitionQuery(_ bytes: [UInt8]) async throws(RPCStatus) -> [UInt8] {
    let request = try RequestReader.read(bytes) { reader throws(WireError) in try reader.partitionQueryRequest() }
    let (database, path) = try ResourceName.parent(request.parent)
    let query = try ServedQuery(request: request.query, below: path, in: database)
    try access?.checkIsAdmin("Query partitions", in: database)
    guard request.partitionCount > 0 else { throw .invalid("partition_count must be positive.") }
    let target = query.target
    guard target.filters.isEmpty, target.limit == nil, query.offset == 0, target.start == nil, target.end == nil,
      target.orderBy == [OrderBy(.documentID)]
    else {
      throw .invalid("PartitionQuery needs a collection group query with only an order by __name__.")
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

extension FirestoreService {
  /// The size of the results in one message, in bytes. Further results are computed when the client accepts more data.
  private static let messageBytes = 64 << 10

  /// Executes a pipeline on a different thread. The caller may be on the connections' thread, and evaluating an
  /// expression can take long even for one document.
  func executePipeline(_ bytes: [UInt8], to send: Send) async throws {
    try await withTaskExecutorPreference(globalConcurrentExecutor) { try await pipeline(bytes, to: send) }
  }

  private func pipeline(_ bytes: [UInt8], to send: Send) async throws {
    let request = try RequestReader.read(bytes) { reader throws(WireError) in try reader.executePipelineRequest() }
    let database = try ResourceName.database(request.database)
    guard let message = request.pipeline else { throw RPCStatus.invalid("A structured_pipeline is required.") }
    let pipeline = try Pipeline(message, in: database)
    let mode = try request.explainMode
    let names = DocumentNames(database)
    if mode == .explain {
      let response = PipelineResponse(explanation: message.plan)
      return try await send([WireWriter.message { $0.executePipelineResponse(response, names) }])
    }
    let start = ContinuousClock.now
    let (read, new) = try await begin(request.consistency, in: database, on: backend)
    if let new {
      try await send([WireWriter.message { $0.executePipelineResponse(PipelineResponse(transaction: new), names) }])
    }
    var executed = try await backend.execute(
      pipeline, read, in: database, check: access?.pipelines(in: database), commitCheck: access?.commits)
    var count = 0
    // The last message with results must contain the statistics, so one message is held back.
    var last: PipelineResponse?
    while let slice = try await executed.results.next() {
      count += slice.count
      hold?(slice.reduce(0) { $0 + $1.data.encoded.bytes.count })
      for results in slice.pieces(of: Self.messageBytes) {
        if let last { try await send([WireWriter.message { $0.executePipelineResponse(last, names) }]) }
        last = PipelineResponse(results: Array(results), executionTime: executed.time)
      }
    }
    if case .transaction(let id) = read, request.commitsTransaction {
      _ = try await backend.commit([], in: database, transaction: id)
    }
    var end = last ?? PipelineResponse(executionTime: executed.time)
    if mode == .analyze { end.explanation = message.plan + Self.execution(results: count, start.duration(to: .now)) }
    try await send([WireWriter.message { $0.executePipelineResponse(end, names) }])
  }

  private static func execution(results: Int, _ duration: Duration) -> String {
    let (seconds, attoseconds) = duration.components
    let microseconds = seconds * 1_000_000 + attoseconds / 1_000_000_000_000
    return "Execution:\n  results returned: \(results)\n  duration: \(microseconds) us\n"
  }
}

extension [PipelineResult] {
  /// Splits the results into parts of about this size in bytes, each with at least one result.
  fileprivate func pieces(of bytes: Int) -> [ArraySlice<PipelineResult>] {
    var (pieces, start, size) = ([ArraySlice<PipelineResult>](), startIndex, 0)
    for index in indices {
      size += self[index].data.encoded.bytes.count + 64
      if size >= bytes || index == endIndex - 1 {
        pieces.append(self[start...index])
        (start, size) = (index + 1, 0)
      }
    }
    return pieces
  }
}

private enum ExplainMode: String {
  case explain, analyze, execute
}

extension ExecutePipelineMessage {
  /// The mode in the option `explain_options`; `nil` without it.
  fileprivate var explainMode: ExplainMode? {
    get throws(RPCStatus) {
      guard let option = options["explain_options"] else { return nil }
      guard case .constant(.map(let fields)) = option else {
        throw .invalid("The option 'explain_options' must be a map with a 'mode'.")
      }
      guard let mode = fields["mode"] else { return .execute }
      guard case .string(let name) = mode, let known = ExplainMode(rawValue: name) else {
        throw .invalid("The mode of 'explain_options' must be \"explain\", \"analyze\" or \"execute\".")
      }
      return known
    }
  }
}

extension PipelineMessage {
  /// The names of the stages, one per line.
  fileprivate var plan: String { "Plan:\n" + stages.map { "  \($0.name)\n" }.joined() }
}
