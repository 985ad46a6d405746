// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
package import FirestoreQuery
package import FirestoreRemote
import FirestoreWire
import Foundation
import GRPCCore
import GRPCProtobuf
import SwiftProtobuf

/// One database of a google.firestore.v1 backend: Cloud Firestore, an emulator, or `hearth serve`.
///
/// Its connection is made by the first call and closed with it, by `close()`, or after a minute without calls.
package final class GRPCDatastore: Datastore {
  package let endpoint: Endpoint
  package let database: DatabaseID
  let names: DocumentNames
  private let headers: RequestHeaders
  private let credentials: Credentials
  private let allowsInsecureCredentials: Bool
  private let connection: Connection

  /// - Parameter allowsInsecureCredentials: whether credentials go where others can take them (see `Credentials`).
  package init(
    _ endpoint: Endpoint, database: DatabaseID, credentials: Credentials, allowsInsecureCredentials: Bool = false,
    keepalive: (time: Duration, timeout: Duration)? = nil
  ) {
    self.endpoint = endpoint
    self.database = database
    self.credentials = credentials
    self.allowsInsecureCredentials = allowsInsecureCredentials
    names = DocumentNames(database)
    headers = RequestHeaders(database: database)
    connection = Connection(
      to: endpoint,
      keepalive: keepalive.map { Connection.Keepalive(time: $0.time, timeout: $0.timeout) } ?? Connection.Keepalive())
  }

  package func reconnect() { connection.retireCurrent() }

  /// Ends all calls and closes the connection.
  package func close() async { await connection.close() }

  // MARK: Single calls

  package func commit(_ mutations: [Mutation]) async throws(RPCStatus) -> FirestoreRemote.CommitResponse {
    let request = Google_Firestore_V1_CommitRequest.with { request in
      request.database = database.name
      request.writes = mutations.map { $0.message(in: database) }
    }
    return try await unary(request, Wire.Method.Commit.descriptor, ProtobufDeserializer()) { message in
      try FirestoreRemote.CommitResponse(message)
    }
  }

  package func lookup(_ keys: [DocumentKey]) async throws(RPCStatus) -> [Document] {
    if keys.isEmpty { return [] }
    let request = Google_Firestore_V1_BatchGetDocumentsRequest.with { request in
      request.database = database.name
      request.documents = keys.map { database.name(of: $0) }
    }
    let names = names
    let responses = try await collect(
      request, Wire.Method.BatchGetDocuments.descriptor,
      WireDecoder { reader throws(WireError) in try reader.batchGetResponse(names) })
    var found: [DocumentKey: Document] = [:]
    for case let document? in responses.map(\.document) { found[document.key] = document }
    var documents: [Document] = []
    for key in keys {
      guard let document = found[key] else {
        throw RPCStatus(.internal, "\(endpoint.text) did not answer for the document \"\(key)\".")
      }
      documents.append(document)
    }
    return documents
  }

  package func runQuery(_ target: FirestoreQuery.Target) async throws(RPCStatus) -> [Document] {
    if target.isDocumentTarget { return try await lookup([DocumentKey(unchecked: target.path)]).filter(\.exists) }
    let request = Google_Firestore_V1_RunQueryRequest.with { request in
      request.parent = target.parentName(in: database)
      request.structuredQuery = target.message
    }
    let names = names
    let responses = try await collect(
      request, Wire.Method.RunQuery.descriptor,
      WireDecoder { reader throws(WireError) in try reader.runQueryResponse(names) })
    return responses.compactMap(\.document)
  }

  package func aggregate(
    _ target: FirestoreQuery.Target, _ aggregations: [Aggregation]
  ) async throws(RPCStatus) -> [String: Value] {
    // Backends are strict about aliases, callers need not be.
    let numbered = aggregations.enumerated().map { (alias: "aggregate_\($0.offset)", aggregation: $0.element) }
    let request = Google_Firestore_V1_RunAggregationQueryRequest.with { request in
      request.parent = target.parentName(in: database)
      request.structuredAggregationQuery = .with { query in
        query.structuredQuery = target.message
        query.aggregations = numbered.map { Aggregation(alias: $0.alias, function: $0.aggregation.function).message }
      }
    }
    let responses = try await collect(
      request, Wire.Method.RunAggregationQuery.descriptor,
      ProtobufDeserializer<Google_Firestore_V1_RunAggregationQueryResponse>())
    guard let fields = responses.last(where: \.hasResult)?.result.aggregateFields else {
      throw RPCStatus(.internal, "\(endpoint.text) did not answer the aggregation.")
    }
    var figures: [String: Value] = [:]
    for (alias, aggregation) in numbered {
      guard let message = fields[alias] else { continue }
      figures[aggregation.alias] = try answer { () throws(ModelError) in try Value(message) }
    }
    return figures
  }

  package func listCollectionIDs(below parent: ResourcePath) async throws(RPCStatus) -> [String] {
    var ids: [String] = []
    var request = Google_Firestore_V1_ListCollectionIdsRequest.with { request in
      request.parent = ResourceName(database: database, path: parent).text
      request.pageSize = 300
    }
    repeat {
      let response = try await unary(
        request, Wire.Method.ListCollectionIds.descriptor,
        ProtobufDeserializer<Google_Firestore_V1_ListCollectionIdsResponse>()
      ) { $0 }
      ids += response.collectionIds
      request.pageToken = response.nextPageToken
    } while !request.pageToken.isEmpty
    return ids.sorted { $0.compareUTF8($1) == .ascending }
  }

  /// Asks for the names of all documents of the collection: there is no way to ask for the missing ones alone.
  package func missingDocuments(in collection: ResourcePath) async throws(RPCStatus) -> [DocumentKey] {
    let database = database
    var keys: [DocumentKey] = []
    var request = Google_Firestore_V1_ListDocumentsRequest.with { request in
      request.parent = ResourceName(database: database, path: collection.parent).text
      request.collectionID = collection.last
      request.pageSize = 300
      request.mask = .with { $0.fieldPaths = ["__name__"] }
      request.showMissing = true
    }
    repeat {
      let (missing, next) = try await unary(
        request, Wire.Method.ListDocuments.descriptor,
        ProtobufDeserializer<Google_Firestore_V1_ListDocumentsResponse>()
      ) { response in
        let missing = try response.documents.filter { !$0.hasCreateTime }.map { document in
          try DocumentKey(name: document.name, in: database)
        }
        return (missing, response.nextPageToken)
      }
      keys += missing
      request.pageToken = next
    } while !request.pageToken.isEmpty
    return keys.sorted()
  }

  // MARK: Calls

  /// The most bytes of one message: a document of one megabyte, or a commit of ten, with room to spare.
  private static let messageLimit = 17 * 1024 * 1024

  /// For a call that ends by itself; streams have no deadline.
  private static let deadline = Duration.seconds(60)

  private func unary<Request: Message, Response: Sendable, Result: Sendable>(
    _ request: Request, _ method: MethodDescriptor, _ deserializer: some MessageDeserializer<Response>,
    _ convert: @escaping @Sendable (Response) throws -> Result
  ) async throws(RPCStatus) -> Result {
    try await repeatingOnce { () async throws(RPCStatus) in
      try await self.call(timeout: Self.deadline) { client, metadata, options in
        try await client.unary(
          request: ClientRequest(message: request, metadata: metadata), descriptor: method,
          serializer: ProtobufSerializer<Request>(), deserializer: deserializer, options: options
        ) { try convert($0.message) }
      }
    }
  }

  /// A call with one request and a stream of responses.
  private func collect<Request: Message, Response: Sendable>(
    _ request: Request, _ method: MethodDescriptor, _ deserializer: some MessageDeserializer<Response>
  ) async throws(RPCStatus) -> [Response] {
    try await repeatingOnce { () async throws(RPCStatus) in
      try await self.call(timeout: Self.deadline * 5) { client, metadata, options in
        try await client.serverStreaming(
          request: ClientRequest(message: request, metadata: metadata), descriptor: method,
          serializer: ProtobufSerializer<Request>(), deserializer: deserializer, options: options
        ) { response in
          var responses: [Response] = []
          for try await message in response.messages { responses.append(message) }
          return responses
        }
      }
    }
  }

  /// Repeats a call whose token was refused: a new one may be accepted.
  private func repeatingOnce<Result>(
    _ body: () async throws(RPCStatus) -> Result
  ) async throws(RPCStatus) -> Result {
    do throws(RPCStatus) { return try await body() } catch {
      guard error.code == .unauthenticated, credentials.canRefresh else { throw error }
    }
    return try await body()
  }

  /// Runs one call on the connection and turns whatever ends it into a status.
  func call<Result>(
    timeout: Duration? = nil,
    _ body: (Connection.Client, Metadata, CallOptions) async throws -> Result
  ) async throws(RPCStatus) -> Result {
    let authorization = try await credentials.authorization(for: endpoint, isTrusting: allowsInsecureCredentials)
    let client = try connection.client()
    var options = CallOptions.defaults
    options.timeout = timeout
    options.maxRequestMessageBytes = Self.messageLimit
    options.maxResponseMessageBytes = Self.messageLimit
    do {
      return try await body(client, headers.metadata(authorization: authorization), options)
    } catch {
      if Task.isCancelled { throw RPCStatus(.cancelled, "The call was cancelled.") }
      let status = CallFailure.status(of: error, at: endpoint, credentials)
      // A stream that the other side cancelled is one of a server that is being stopped.
      if status.code == .unavailable || status.code == .cancelled { connection.retire(client) }
      if status.code == .unauthenticated { credentials.forgetToken() }
      throw status
    }
  }

  private func answer<Result>(_ read: () throws(ModelError) -> Result) throws(RPCStatus) -> Result {
    do throws(ModelError) { return try read() } catch {
      throw RPCStatus(.internal, "The answer of \(endpoint.text) cannot be read: \(error.message)")
    }
  }
}
