// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
import FirestorePipelines
package import FirestoreProtocol
import FirestoreQuery

/// One database of the embedded backend, as seen by a client.
package struct InProcessDatastore: AnsweringDatastore {
  private let backend: LocalBackend
  private let database: DatabaseID
  private let commitCheck: CommitCheck?
  private let pipelineCheck: PipelineCheck?

  /// - Parameters:
  ///   - commitCheck: rejects a commit by throwing.
  ///   - pipelineCheck: rejects a pipeline's read by throwing.
  package init(
    backend: LocalBackend, database: DatabaseID, commitCheck: CommitCheck? = nil, pipelineCheck: PipelineCheck? = nil
  ) {
    self.backend = backend
    self.database = database
    self.commitCheck = commitCheck
    self.pipelineCheck = pipelineCheck
  }

  /// Always false, since client and backend are in one process.
  package var canFallSilent: Bool { false }
  package var answersInProcess: Bool { true }

  package func watch(
    requests: StreamRequests<WatchRequest>, deliver: @Sendable (WatchEvent) async -> Void
  ) async throws(RPCStatus) {
    let (session, signals) = await backend.openWatch(in: database)
    await deliver(.opened)
    let backend = backend
    let failure = await withTaskGroup(of: RPCStatus?.self) { group in
      group.addTask {
        let failure = await Self.forward(requests, to: session, of: backend)
        // This ends the signals, and so the delivery below.
        await backend.closeWatch(session)
        return failure
      }
      let failure = await Self.deliverAll(signals, of: session, backend, to: deliver)
      group.cancelAll()
      let requestFailure = await group.next() ?? nil
      return failure ?? requestFailure
    }
    await backend.closeWatch(session)
    if Task.isCancelled { throw RPCStatus(.cancelled, "The watch stream was cancelled.") }
    throw failure ?? RPCStatus(.unavailable, "The watch stream ended.")
  }

  private static func forward(
    _ requests: StreamRequests<WatchRequest>, to session: WatchSessionID, of backend: LocalBackend
  ) async -> RPCStatus? {
    for await request in requests {
      do throws(RPCStatus) { try await backend.request(request, on: session) } catch { return error }
    }
    return nil
  }

  private static func deliverAll(
    _ signals: AsyncStream<Void>, of session: WatchSessionID, _ backend: LocalBackend,
    to deliver: @Sendable (WatchEvent) async -> Void
  ) async -> RPCStatus? {
    for await _ in signals {
      var hasMore = true
      while hasMore, !Task.isCancelled {
        let delivery: WatchDelivery
        do throws(RPCStatus) { delivery = try await backend.take(from: session) } catch { return error }
        if !delivery.changes.isEmpty { await deliver(.changes(delivery.changes)) }
        hasMore = delivery.hasMore
      }
    }
    return nil
  }

  package func write(
    requests: StreamRequests<WriteRequest>, deliver: @Sendable (WriteEvent) async -> Void
  ) async throws(RPCStatus) {
    // Tokens only count requests, since a stream cannot be resumed and batches are recognized by their ids.
    var position: UInt64 = 0
    func token() -> [UInt8] { withUnsafeBytes(of: position.bigEndian) { [UInt8]($0) } }
    await deliver(.opened(streamToken: token()))
    for await request in requests {
      let response = try await backend.commit(
        request.mutations, in: database, request: request.requestID, check: commitCheck)
      position += 1
      if Task.isCancelled { break }
      await deliver(.committed(streamToken: token(), response))
    }
    if Task.isCancelled { throw RPCStatus(.cancelled, "The write stream was cancelled.") }
  }

  package func commit(_ mutations: [Mutation]) async throws(RPCStatus) -> CommitResponse {
    try await backend.commit(mutations, in: database, check: commitCheck)
  }

  /// - Parameter request: identifies the commit, so that it is applied once even if it is requested again.
  package func commit(
    _ mutations: [Mutation], request: WriteRequestID
  ) async throws(RPCStatus) -> CommitResponse {
    try await backend.commit(mutations, in: database, request: request, check: commitCheck)
  }

  package func followCommits(deliver: @Sendable (CommitUpdate) async -> Void) async throws(RPCStatus) {
    throw await backend.followCommits(in: database) { news async throws(Never) in await deliver(news) }
  }

  package func visitDescendants(
    _ request: DescendantsRequest, deliver: @escaping @Sendable ([Document]) async -> Bool
  ) async throws(RPCStatus) {
    let view = request.view
    let query = ServedQuery(request.target(in: database), scope: .descendants, projection: view.projection)
    var next: QueryCursor? = try await backend.open(ReadRequest(query, ReadConsistency(view.time), in: database))
    while let cursor = next {
      if Task.isCancelled { throw RPCStatus(.cancelled, "The query was cancelled.") }
      let (piece, rest) = try await backend.read(cursor)
      if !piece.documents.isEmpty, !(await deliver(view.shown(piece.documents))) { return }
      next = rest
    }
  }

  package func answer(_ read: LookupRead) async throws(RPCStatus) -> [Document] {
    read.view.shown(try await backend.documents(read.keys, ReadConsistency(read.view.time), in: database).documents)
  }

  package func answer(_ read: QueryRead) async throws(RPCStatus) -> [Document] {
    let query = ServedQuery(read.target, offset: read.offset, projection: read.view.projection)
    let request = ReadRequest(query, ReadConsistency(read.view.time), in: database)
    return read.view.shown(try await backend.run(request).documents)
  }

  package func answer(_ read: AggregationRead) async throws(RPCStatus) -> [String: Value] {
    let request = ReadRequest(ServedQuery(read.target), ReadConsistency(read.view.time), in: database)
    return try await backend.aggregate(request, read.aggregations).values
  }

  package func answer(_ read: ExplainRead) async throws(RPCStatus) -> ExplainMetrics? {
    let query = ServedQuery(read.target)
    var metrics = ExplainMetrics(of: query)
    guard read.isRun else { return metrics }
    let start = ContinuousClock.now
    var count = 0
    var next: QueryCursor? = try await backend.open(ReadRequest(query, ReadConsistency(read.view.time), in: database))
    while let cursor = next {
      let (piece, rest) = try await backend.read(cursor)
      count += piece.documents.count
      next = rest
    }
    metrics.execution = ExplainMetrics.Execution(
      results: count, duration: start.duration(to: .now), documents: count, indexEntries: count)
    return metrics
  }

  package func answer(_ read: PipelineExecution) async throws(RPCStatus) -> PipelineResponse {
    var executed = try await backend.execute(
      try Pipeline(read.pipeline, in: database), in: database, check: pipelineCheck, commitCheck: commitCheck)
    var response = PipelineResponse(executionTime: executed.time)
    while let slice = try await executed.results.next() { response.results += slice }
    return response
  }

  package func answer(_ read: DatabasesRead) async throws(RPCStatus) -> [DatabaseID] {
    try await backend.occupiedDatabases().filter { read.project == nil || $0.project == read.project }
  }

  package func answer(_ read: CollectionIDsRead) async throws(RPCStatus) -> [String] {
    try await backend.collectionIDs(below: read.parent, ReadConsistency(read.view.time), in: database)
  }

  package func answer(_ read: MissingDocumentsRead) async throws(RPCStatus) -> [DocumentKey] {
    let consistency = ReadConsistency(read.view.time)
    let parents = try await backend.parents(in: read.collection, consistency, in: database)
    return try await backend.documents(parents, consistency, in: database).documents.filter { !$0.exists }.map(\.key)
  }
}

extension ReadConsistency {
  /// - Parameter time: the read time; `nil` reads the present.
  fileprivate init(_ time: SnapshotVersion?) { self = time.map { .readTime($0.timestamp) } ?? .latest }
}
