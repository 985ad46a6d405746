// SPDX-License-Identifier: Apache-2.0
package import FirestoreBackend
package import FirestoreModel
package import FirestoreProtocol
import FirestoreQuery
import FirestoreRules
import FirestoreService
import Synchronization

/// One database of the embedded backend for a client in the same process whose user is subject to security rules. Each
/// new stream or call uses the current user.
package struct RuledDatastore: AnsweringDatastore {
  private let backend: LocalBackend
  private let database: DatabaseID
  private let rules: AccessRules
  private let user: @Sendable () -> String?

  /// - Parameter user: returns the id of the signed-in user; `nil` if signed out.
  package init(
    backend: LocalBackend, database: DatabaseID, rules: AccessRules, user: @escaping @Sendable () -> String?
  ) {
    (self.backend, self.database, self.rules, self.user) = (backend, database, rules, user)
  }

  private var access: CallAccess {
    CallAccess(
      rules: rules, user: user().map { RulesUser(uid: $0, claims: ["sub": .string($0), "user_id": .string($0)]) },
      expiry: nil)
  }

  /// The datastore with checks of commits and pipelines.
  private var whole: InProcessDatastore {
    let access = access
    return InProcessDatastore(
      backend: backend, database: database, commitCheck: access.commits, pipelineCheck: access.pipelines(in: database))
  }

  /// Always false, since client and backend are in one process.
  package var canFallSilent: Bool { false }
  package var answersInProcess: Bool { true }

  // MARK: Streams

  package func watch(
    requests: StreamRequests<WatchRequest>, deliver: @Sendable (WatchEvent) async -> Void
  ) async throws(RPCStatus) {
    let (session, signals) = await backend.openWatch(in: database)
    let watch = RuledWatch(session, access.listener(in: database))
    await deliver(.opened)
    let backend = backend
    let failure = await withTaskGroup(of: RPCStatus?.self) { group in
      group.addTask {
        var failure: RPCStatus?
        for await request in requests {
          do throws(RPCStatus) { try await watch.make(request, on: backend) } catch { failure = error }
          if failure != nil { break }
        }
        // This ends the signals, and so the delivery below.
        await backend.closeWatch(session)
        return failure
      }
      let failure = await watch.deliverAll(signals, of: backend, to: deliver)
      group.cancelAll()
      let requestFailure = await group.next() ?? nil
      return failure ?? requestFailure
    }
    await backend.closeWatch(session)
    if Task.isCancelled { throw RPCStatus(.cancelled, "The watch stream was canceled.") }
    throw failure ?? RPCStatus(.unavailable, "The watch stream ended.")
  }

  package func write(
    requests: StreamRequests<WriteRequest>, deliver: @Sendable (WriteEvent) async -> Void
  ) async throws(RPCStatus) {
    try await whole.write(requests: requests, deliver: deliver)
  }

  package func commit(_ mutations: [Mutation]) async throws(RPCStatus) -> CommitResponse {
    try await whole.commit(mutations)
  }

  // MARK: Reads

  package func answer(_ read: LookupRead) async throws(RPCStatus) -> [Document] {
    let documents = try await whole.lookup(read.keys, ReadView(at: read.view.time))
    try await access.get(documents, in: database, on: backend)
    return read.view.shown(documents)
  }

  package func answer(_ read: QueryRead) async throws(RPCStatus) -> [Document] {
    try await list(read.target, offset: read.offset)
    return try await whole.answer(read)
  }

  package func answer(_ read: AggregationRead) async throws(RPCStatus) -> [String: Value] {
    try await list(read.target)
    return try await whole.answer(read)
  }

  package func answer(_ read: ExplainRead) async throws(RPCStatus) -> ExplainMetrics? {
    try await list(read.target)
    return try await whole.answer(read)
  }

  private func list(_ target: Target, offset: Int = 0) async throws(RPCStatus) {
    try await access.list(ServedQuery(target, offset: offset), target.orderBy, in: database, on: backend)
  }

  package func answer(_ read: PipelineExecution) async throws(RPCStatus) -> PipelineResponse {
    try await whole.answer(read)
  }

  package func answer(_ read: CollectionIDsRead) async throws(RPCStatus) -> [String] {
    try access.checkIsAdmin("Metadata operations", in: database)
    return try await whole.answer(read)
  }

  package func answer(_ read: MissingDocumentsRead) async throws(RPCStatus) -> [DocumentKey] {
    try access.checkIsAdmin("Metadata operations", in: database)
    return try await whole.answer(read)
  }

  package func answer(_ read: DatabasesRead) async throws(RPCStatus) -> [DatabaseID] {
    try access.checkIsAdmin("Metadata operations", in: database)
    return try await whole.answer(read)
  }

  package func visitDescendants(
    _ request: DescendantsRequest, deliver: @escaping @Sendable ([Document]) async -> Bool
  ) async throws(RPCStatus) {
    try access.checkIsAdmin("Queries of all collections", in: database)
    try await whole.visitDescendants(request, deliver: deliver)
  }

  package func followCommits(deliver: @Sendable (CommitUpdate) async -> Void) async throws(RPCStatus) {
    try access.checkIsAdmin("Commit notifications", in: database)
    try await whole.followCommits(deliver: deliver)
  }
}

/// The watch stream of a caller who is subject to rules.
private final class RuledWatch: Sendable {
  private let session: WatchSessionID
  /// The permissions. They change only within steps of the backend.
  private let access: Mutex<any ListenerPermissions>

  init(_ session: WatchSessionID, _ access: any ListenerPermissions) {
    self.session = session
    self.access = Mutex(access)
  }

  /// Adds or removes a target. A target that may not be watched ends immediately.
  func make(_ request: WatchRequest, on backend: isolated LocalBackend) throws(RPCStatus) {
    var access = access.withLock(\.self)
    defer { self.access.withLock { $0 = access } }
    switch request {
    case .add(let target):
      do throws(RPCStatus) {
        try access.add(target.id, target.target, others: [], target.target.orderBy, on: session, backend)
      } catch { return try backend.refuse(target.id, error, on: session) }
    case .remove(let id): access.remove(id, on: session, backend)
    }
    try backend.request(request, on: session)
  }

  func deliverAll(
    _ signals: AsyncStream<Void>, of backend: LocalBackend, to deliver: @Sendable (WatchEvent) async -> Void
  ) async -> RPCStatus? {
    for await _ in signals {
      var hasMore = true
      while hasMore, !Task.isCancelled {
        let delivery: WatchDelivery
        do throws(RPCStatus) { delivery = try await take(from: backend) } catch { return error }
        if !delivery.changes.isEmpty { await deliver(.changes(delivery.changes)) }
        hasMore = delivery.hasMore
      }
    }
    return nil
  }

  /// Takes the messages to send, and decides in the same step whether each message may be sent.
  private func take(from backend: isolated LocalBackend) throws(RPCStatus) -> WatchDelivery {
    var access = access.withLock(\.self)
    defer { self.access.withLock { $0 = access } }
    access.review(on: session, backend)
    var delivery = try backend.take(from: session)
    try access.withhold(from: &delivery, backend)
    return delivery
  }
}
