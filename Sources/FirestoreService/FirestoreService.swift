// SPDX-License-Identifier: Apache-2.0
package import FirestoreBackend
package import FirestoreModel

/// The embedded backend as google.firestore.v1: requests and responses are protobuf bytes, the transport is somebody
/// else's.
///
/// Requests are read in place and documents go out as the wire bytes in which they are stored, so that a request costs
/// little more than the work behind it. Every fault of a request is an `RPCStatus`; nothing a client sends can stop
/// the process.
package struct FirestoreService: Sendable {
  /// Sends messages of a response stream; suspends while the client is not reading. What is sent together costs little
  /// more than one message.
  package typealias Send = @Sendable ([[UInt8]]) async throws -> Void

  let backend: LocalBackend
  /// On whose behalf transactions are begun.
  private var client: ClientID?

  package init(backend: LocalBackend) { self.backend = backend }

  /// The same service for one of several clients, which then share what a server has room for fairly.
  package func serving(_ client: ClientID) -> FirestoreService {
    var service = self
    service.client = client
    return service
  }

  /// A method with one request and one response.
  package enum UnaryMethod: String, Sendable, CaseIterable {
    case getDocument = "GetDocument"
    case listDocuments = "ListDocuments"
    case createDocument = "CreateDocument"
    case updateDocument = "UpdateDocument"
    case deleteDocument = "DeleteDocument"
    case beginTransaction = "BeginTransaction"
    case commit = "Commit"
    case rollback = "Rollback"
    case partitionQuery = "PartitionQuery"
    case listCollectionIDs = "ListCollectionIds"
    case batchWrite = "BatchWrite"
  }

  /// A method with one request and a stream of responses.
  package enum StreamingMethod: String, Sendable, CaseIterable {
    case batchGetDocuments = "BatchGetDocuments"
    case runQuery = "RunQuery"
    case runAggregationQuery = "RunAggregationQuery"
  }

  /// Answers a request.
  package func answer(_ method: UnaryMethod, _ request: [UInt8]) async throws(RPCStatus) -> [UInt8] {
    switch method {
    case .getDocument: try await getDocument(request)
    case .listDocuments: try await listDocuments(request)
    case .createDocument: try await createDocument(request)
    case .updateDocument: try await updateDocument(request)
    case .deleteDocument: try await deleteDocument(request)
    case .beginTransaction: try await beginTransaction(request)
    case .commit: try await commit(request)
    case .rollback: try await rollback(request)
    case .partitionQuery: try await partitionQuery(request)
    case .listCollectionIDs: try await listCollectionIDs(request)
    case .batchWrite: try await batchWrite(request)
    }
  }

  /// Answers a request with a stream.
  /// - Throws: `RPCStatus`, or what `send` threw.
  package func stream(_ method: StreamingMethod, _ request: [UInt8], to send: Send) async throws {
    switch method {
    case .batchGetDocuments: try await batchGetDocuments(request, to: send)
    case .runQuery: try await runQuery(request, to: send)
    case .runAggregationQuery: try await runAggregationQuery(request, to: send)
    }
  }

  /// Removes every document of a database, or a document or collection with all that lies below it. Listeners are told.
  /// - Parameter path: the root for the whole database.
  /// - Throws: `invalid-argument` for what is no path.
  package func deleteDocuments(below path: ResourcePath, in database: DatabaseID) async throws(RPCStatus) {
    if path.isRoot { return try await backend.deleteAllDocuments(in: database) }
    do throws(ModelError) { _ = try ResourcePath(validating: path.text) } catch {
      throw RPCStatus(.invalidArgument, error.message)
    }
    try await backend.deleteDocuments(below: path, in: database)
  }

  func beginTransaction(
    _ options: TransactionOptions, in database: DatabaseID
  ) async throws(RPCStatus) -> [UInt8] {
    try await backend.beginTransaction(options, in: database, for: client).bytes
  }

  /// The consistency of a read, beginning the transaction that it asks for.
  /// - Returns: the transaction, if it is new.
  func begin(
    _ requested: RequestedConsistency, in database: DatabaseID
  ) async throws(RPCStatus) -> (ReadConsistency, new: [UInt8]?) {
    switch requested {
    case .latest: return (.latest, nil)
    case .readTime(let time): return (.readTime(time), nil)
    case .transaction(let id): return (.transaction(id), nil)
    case .newTransaction(let options):
      let id = try await beginTransaction(options, in: database)
      return (.transaction(id), id)
    }
  }
}
