// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
import FirestorePipelines
package import FirestoreProtocol
package import FirestoreQuery

/// One database of the embedded backend, as a client sees it.
package struct InProcessDatastore: Datastore {
  private let backend: LocalBackend
  private let database: DatabaseID

  package init(backend: LocalBackend, database: DatabaseID) {
    self.backend = backend
    self.database = database
  }

  /// Both ends are in one process.
  package var canFallSilent: Bool { false }

  package func watch(
    requests: StreamRequests<WatchRequest>, deliver: @Sendable (WatchEvent) async -> Void
  ) async throws(RPCStatus) {
    let (session, signals) = await backend.openWatch(in: database)
    await deliver(.opened)
    let backend = backend
    let failure = await withTaskGroup(of: RPCStatus?.self) { group in
      group.addTask {
        let failure = await Self.forward(requests, to: session, of: backend)
        // The signal ends, and with it the delivery below.
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
    // Tokens only count: a stream cannot be resumed, and batches are recognised by their ids.
    var position: UInt64 = 0
    func token() -> [UInt8] { withUnsafeBytes(of: position.bigEndian) { [UInt8]($0) } }
    await deliver(.opened(streamToken: token()))
    for await request in requests {
      let response = try await backend.commit(request.mutations, in: database, request: request.requestID)
      position += 1
      if Task.isCancelled { break }
      await deliver(.committed(streamToken: token(), response))
    }
    if Task.isCancelled { throw RPCStatus(.cancelled, "The write stream was cancelled.") }
  }

  package func commit(_ mutations: [Mutation]) async throws(RPCStatus) -> CommitResponse {
    try await backend.commit(mutations, in: database)
  }

  /// - Parameter request: makes the commit happen once, however often it is asked for.
  package func commit(
    _ mutations: [Mutation], request: WriteRequestID
  ) async throws(RPCStatus) -> CommitResponse {
    try await backend.commit(mutations, in: database, request: request)
  }

  package func lookup(_ keys: [DocumentKey]) async throws(RPCStatus) -> [Document] {
    try await backend.documents(keys, in: database).documents
  }

  package func lookup(_ keys: [DocumentKey], _ view: ReadView) async throws(RPCStatus) -> [Document] {
    view.shown(try await backend.documents(keys, ReadConsistency(view.time), in: database).documents)
  }

  package func runQuery(_ target: Target) async throws(RPCStatus) -> [Document] {
    try await runQuery(target, .whole)
  }

  package func runQuery(_ target: Target, _ view: ReadView) async throws(RPCStatus) -> [Document] {
    let query = ServedQuery(target, projection: view.projection)
    return view.shown(try await backend.run(ReadRequest(query, ReadConsistency(view.time), in: database)).documents)
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

  package func key(at offset: Int, of target: Target) async throws(RPCStatus) -> DocumentKey? {
    var target = target
    target.limit = 1
    let query = ServedQuery(target, offset: offset, projection: FieldMask([]))
    return try await backend.run(ReadRequest(query, in: database)).documents.first?.key
  }

  package func keys(of target: Target) async throws(RPCStatus) -> [DocumentKey] {
    try await backend.run(ReadRequest(ServedQuery(target, projection: FieldMask([])), in: database)).documents.map(
      \.key)
  }

  package func aggregate(
    _ target: Target, _ aggregations: [Aggregation]
  ) async throws(RPCStatus) -> [String: Value] {
    try await aggregate(target, aggregations, .latest)
  }

  package func aggregate(
    _ target: Target, _ aggregations: [Aggregation], at time: SnapshotVersion
  ) async throws(RPCStatus) -> [String: Value] {
    try await aggregate(target, aggregations, ReadConsistency(time))
  }

  private func aggregate(
    _ target: Target, _ aggregations: [Aggregation], _ consistency: ReadConsistency
  ) async throws(RPCStatus) -> [String: Value] {
    try await backend.aggregate(ReadRequest(ServedQuery(target), consistency, in: database), aggregations).values
  }

  package func execute(_ pipeline: PipelineMessage) async throws(RPCStatus) -> PipelineResponse {
    var executed = try await backend.execute(try Pipeline(pipeline, in: database), in: database)
    var response = PipelineResponse(executionTime: executed.time)
    while let slice = try await executed.results.next() { response.results += slice }
    return response
  }

  package func databases(of project: String?) async throws(RPCStatus) -> [DatabaseID] {
    try await backend.occupiedDatabases().filter { project == nil || $0.project == project }
  }

  package func listCollectionIDs(below parent: ResourcePath) async throws(RPCStatus) -> [String] {
    try await backend.collectionIDs(below: parent, in: database)
  }

  package func listCollectionIDs(
    below parent: ResourcePath, at time: SnapshotVersion
  ) async throws(RPCStatus) -> [String] {
    try await backend.collectionIDs(below: parent, ReadConsistency(time), in: database)
  }

  package func missingDocuments(in collection: ResourcePath) async throws(RPCStatus) -> [DocumentKey] {
    try await missingDocuments(in: collection, .latest)
  }

  package func missingDocuments(
    in collection: ResourcePath, at time: SnapshotVersion
  ) async throws(RPCStatus) -> [DocumentKey] {
    try await missingDocuments(in: collection, ReadConsistency(time))
  }

  private func missingDocuments(
    in collection: ResourcePath, _ consistency: ReadConsistency
  ) async throws(RPCStatus) -> [DocumentKey] {
    let parents = try await backend.parents(in: collection, consistency, in: database)
    return try await backend.documents(parents, consistency, in: database).documents.filter { !$0.exists }.map(\.key)
  }
}

extension ReadConsistency {
  /// - Parameter time: `nil` for now.
  fileprivate init(_ time: SnapshotVersion?) { self = time.map { .readTime($0.timestamp) } ?? .latest }
}
