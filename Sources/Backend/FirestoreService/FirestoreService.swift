// SPDX-License-Identifier: Apache-2.0
package import FirestoreBackend
package import FirestoreModel
package import FirestoreProtocol

/// The embedded backend as google.firestore.v1: requests and responses are protobuf bytes, without a transport.
///
/// Requests are read in place, and documents are sent as the stored wire bytes, so that a request has little overhead.
/// Every invalid request gets an `RPCStatus`; no message can stop the process.
package struct FirestoreService: Sendable {
  /// Sends messages of a response stream. Suspends while the client is not reading. Several messages sent together cost
  /// little more than one message.
  package typealias Send = @Sendable ([[UInt8]]) async throws -> Void

  /// Sets the number of document bytes that a call has read but not sent.
  package typealias Hold = @Sendable (_ bytes: Int) -> Void

  package let backend: LocalBackend
  /// The rules for callers; `nil` if every caller is an administrator.
  package let rules: (any AccessPolicy)?
  /// The composite indexes; `nil` if they are not simulated.
  package let indexes: ServedIndexes?
  /// The mode of transactions whose requests do not specify one.
  let concurrency: ConcurrencyMode
  /// Caches the last messages sent to listeners.
  let told = LastMessages()
  /// The memory counter for calls that wait for clients to read; `nil` for calls whose memory is not counted.
  private(set) var hold: Hold?
  /// The longest time that a write waits for locks.
  var lockPatience = LocalBackend.lockPatience
  /// The client that owns the transactions begun by this service.
  private(set) var client: ClientID?
  /// The restrictions of the caller; `nil` for an administrator.
  private(set) var access: (any CallerPermissions)?

  package init(
    backend: LocalBackend, rules: (any AccessPolicy)? = nil, indexes: ServedIndexes? = nil,
    concurrency: ConcurrencyMode = .optimistic
  ) {
    self.backend = backend
    self.rules = rules
    self.indexes = indexes
    self.concurrency = concurrency
    rules?.onChange { [weak backend] in
      // This notifies listeners that have lost their permission.
      Task { await backend?.wakeWatches() }
    }
  }

  /// Whether the response depends on the caller.
  package var isRestricted: Bool { rules?.isActive ?? false }

  /// A copy of this service with one caller's permissions. Streams use such a copy even if there are no rules now,
  /// since rules may be added later.
  /// - Parameter authorization: the text of the `authorization` header.
  /// - Throws: an error for an invalid or unaccepted token.
  package func serving(as authorization: String?) throws(RPCStatus) -> FirestoreService {
    var last: LastCaller?
    return try serving(as: authorization, &last)
  }

  /// - Parameter last: caches the caller for the next call on the same connection.
  package func serving(as authorization: String?, _ last: inout LastCaller?) throws(RPCStatus) -> FirestoreService {
    guard let rules else { return self }
    var service = self
    if let last, last.authorization == authorization {
      try last.permissions.checkTime()
      service.access = last.permissions
    } else {
      guard let permissions = try rules.permissions(of: authorization) else { return self }
      service.access = permissions
      if let authorization { last = LastCaller(authorization: authorization, permissions: permissions) }
    }
    return service
  }

  /// The seconds until the caller's token expires and the caller's streams end; `nil` if it does not expire.
  package var timeLeft: Int64? { access?.timeLeft }

  /// - Throws: `unauthenticated` once the caller's token has expired.
  package func checkTime() throws(RPCStatus) { try access?.checkTime() }

  /// A copy of this service for one call whose memory is counted.
  package func counting(_ hold: @escaping Hold) -> FirestoreService {
    var service = self
    service.hold = hold
    return service
  }

  /// A copy of this service for one of several clients, so that the server can share its capacity fairly.
  package func serving(_ client: ClientID) -> FirestoreService {
    var service = self
    service.client = client
    return service
  }

  /// A method that has one request message.
  package enum Method: String, Sendable, CaseIterable {
    case getDocument = "GetDocument"
    case batchGetDocuments = "BatchGetDocuments"
    case listDocuments = "ListDocuments"
    case createDocument = "CreateDocument"
    case updateDocument = "UpdateDocument"
    case deleteDocument = "DeleteDocument"
    case beginTransaction = "BeginTransaction"
    case commit = "Commit"
    case rollback = "Rollback"
    case batchWrite = "BatchWrite"
    case listCollectionIDs = "ListCollectionIds"
    case runQuery = "RunQuery"
    case runAggregationQuery = "RunAggregationQuery"
    case partitionQuery = "PartitionQuery"
    case executePipeline = "ExecutePipeline"

    /// The approximate maximum memory of a call, in bytes, before it sends its first message.
    package var firstBytes: Int {
      switch self {
      case .listDocuments: 3 * FirestoreService.pageBytes
      case .batchGetDocuments, .runQuery: 2 << 20
      default: 256 << 10
      }
    }

    /// Whether one step of the backend can answer most requests of the method. Requests of the other methods read any
    /// number of documents.
    package var isPrompt: Bool {
      switch self {
      case .listDocuments, .runQuery, .runAggregationQuery, .partitionQuery, .executePipeline: false
      case .getDocument, .batchGetDocuments, .createDocument, .updateDocument, .deleteDocument, .beginTransaction,
        .commit, .rollback, .batchWrite, .listCollectionIDs:
        true
      }
    }
  }

  /// Answers a request in one step, without a task and its thread switches. Call this on the backend's executor.
  /// - Returns: the response messages; `nil` for a request that takes more than one step, or must wait for a lock.
  package func answerAtOnce(_ method: Method, _ request: [UInt8]) throws(RPCStatus) -> [[UInt8]]? {
    do throws(RPCStatus) {
      return try backend.step { backend throws(RPCStatus) in try answer(method, request, on: backend) }
    } catch  where error == LocalBackend.locked { return nil }
  }

  /// Answers a request in one or more steps.
  /// - Throws: `RPCStatus`, or the error that `send` threw.
  package func answer(_ method: Method, _ request: [UInt8], to send: Send) async throws {
    if let messages = try await answerWaiting(method, request) {
      for batch in messages.inBatches { try await send(batch) }
      return
    }
    switch method {
    case .batchGetDocuments: try await batchGetDocuments(request, to: send)
    case .listDocuments: try await send([try await listDocuments(request)])
    case .runQuery: try await runQuery(request, to: send)
    case .runAggregationQuery: try await runAggregationQuery(request, to: send)
    case .partitionQuery: try await send([try await partitionQuery(request)])
    case .executePipeline: try await executePipeline(request, to: send)
    case .getDocument, .createDocument, .updateDocument, .deleteDocument, .beginTransaction, .commit, .rollback,
      .batchWrite, .listCollectionIDs:
      preconditionFailure("\(method.rawValue) takes one step.")
    }
  }

  /// Answers a request in one step, after waiting until no transaction locks a document that it writes.
  /// - Throws: `aborted` if the wait takes too long; the request's own transaction is then ended.
  private func answerWaiting(_ method: Method, _ request: [UInt8]) async throws(RPCStatus) -> [[UInt8]]? {
    let end = ContinuousClock.now + lockPatience
    while true {
      switch await attempt(method, request, on: backend) {
      case (.success(let messages), _): return messages
      case (.failure(LocalBackend.locked), let endings):
        let left = ContinuousClock.now.duration(to: end)
        if left <= .zero || Task.isCancelled {
          if method == .commit { await endTransaction(of: request, on: backend) }
          throw LocalBackend.locked
        }
        await backend.lockRelease(after: endings, within: left)
      case (.failure(let error), _): throw error
      }
    }
  }

  /// - Returns: the result, and the number of pessimistic transactions that have ended so far.
  private func attempt(
    _ method: Method, _ request: [UInt8], on backend: isolated LocalBackend
  ) -> (Result<[[UInt8]]?, RPCStatus>, endings: Int) {
    do throws(RPCStatus) {
      return (.success(try answer(method, request, on: backend)), backend.lockEndings)
    } catch { return (.failure(error), backend.lockEndings) }
  }

  private func answer(
    _ method: Method, _ request: [UInt8], on backend: isolated LocalBackend
  ) throws(RPCStatus) -> [[UInt8]]? {
    switch method {
    case .getDocument: [try getDocument(request, on: backend)]
    case .batchGetDocuments: try batchGetDocuments(request, on: backend)
    case .createDocument: [try createDocument(request, on: backend)]
    case .updateDocument: [try updateDocument(request, on: backend)]
    case .deleteDocument: [try deleteDocument(request, on: backend)]
    case .beginTransaction: [try beginTransaction(request, on: backend)]
    case .commit: [try commit(request, on: backend)]
    case .rollback: [try rollback(request, on: backend)]
    case .batchWrite: [try batchWrite(request, on: backend)]
    case .listCollectionIDs: [try listCollectionIDs(request, on: backend)]
    case .listDocuments, .runQuery, .runAggregationQuery, .partitionQuery, .executePipeline: nil
    }
  }

  /// Removes all documents of a database, or a document or collection with everything below it. Listeners are notified.
  /// - Parameter path: the path of a document or collection; the root for the whole database.
  /// - Throws: `invalid-argument` for an invalid path.
  package func deleteDocuments(below path: ResourcePath, in database: DatabaseID) async throws(RPCStatus) {
    if path.isRoot { return try await backend.deleteAllDocuments(in: database) }
    do throws(ModelError) { _ = try ResourcePath(validating: path.text) } catch {
      throw .invalid(error.message)
    }
    try await backend.deleteDocuments(below: path, in: database)
  }

  /// Removes every document of every database. Listeners are notified.
  package func deleteEverything() async throws(RPCStatus) {
    for database in try await backend.databases() { try await backend.deleteAllDocuments(in: database) }
  }
}

extension LocalBackend {
  /// Runs `body` in one step. The caller is on the backend's executor.
  nonisolated func step<Result: Sendable>(
    _ body: @Sendable (isolated LocalBackend) throws(RPCStatus) -> Result
  ) throws(RPCStatus) -> Result {
    let result: Swift.Result<Result, RPCStatus> = assumeIsolated { backend in
      do throws(RPCStatus) { return .success(try body(backend)) } catch { return .failure(error) }
    }
    return try result.get()
  }

  nonisolated func step<Result: Sendable>(_ body: @Sendable (isolated LocalBackend) -> Result) -> Result {
    assumeIsolated(body)
  }
}

/// The messages of a response stream, grouped into batches. Each batch costs one transport operation and one check
/// whether the client reads.
package struct MessageBatches<Messages: Sequence<[UInt8]>>: Sequence, IteratorProtocol {
  /// The size of a batch in bytes. Larger batches would not make messages cheaper.
  private static var batchBytes: Int { 64 << 10 }

  private var messages: Messages.Iterator

  fileprivate init(_ messages: Messages) { self.messages = messages.makeIterator() }

  package mutating func next() -> [[UInt8]]? {
    var (batch, bytes) = ([[UInt8]](), 0)
    while bytes < Self.batchBytes, let message = messages.next() {
      batch.append(message)
      bytes += message.count
    }
    return batch.isEmpty ? nil : batch
  }
}

extension Sequence<[UInt8]> {
  package var inBatches: MessageBatches<Self> { MessageBatches(self) }
}
