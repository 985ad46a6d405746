// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
package import FirestoreProtocol
import FirestoreQuery
package import SerialExecutors

/// One database of a google.firestore.v1 backend: Cloud Firestore, an emulator, or `hearth serve`.
///
/// The first call opens the connection. The connection is closed by `close()`, when this object is released, or after a
/// minute without calls.
package final class GRPCDatastore: AnsweringDatastore {
  package let endpoint: Endpoint
  package let database: DatabaseID
  let names: DocumentNames
  private let credentials: Credentials
  private let allowsInsecureCredentials: Bool
  private let appCheck: AppCheckToken?
  private let connection: Connection
  private let thread: ConnectionThread
  let meter = TrafficMeter()

  /// Creates the datastore without connecting.
  /// - Parameters:
  ///   - allowsInsecureCredentials: whether to send credentials even if others could intercept them (see
  ///     `Credentials`).
  ///   - appCheck: returns tokens that prove that calls come from the app itself.
  ///   - thread: the thread on which the connections are read and written.
  package init(
    _ endpoint: Endpoint, database: DatabaseID, credentials: Credentials, allowsInsecureCredentials: Bool = false,
    appCheck: AppCheckToken? = nil, keepalive: (time: Duration, timeout: Duration)? = nil,
    on thread: ConnectionThread = ConnectionThread()
  ) {
    self.endpoint = endpoint
    self.database = database
    self.credentials = credentials
    self.allowsInsecureCredentials = allowsInsecureCredentials
    self.appCheck = appCheck
    self.thread = thread
    names = DocumentNames(database)
    connection = Connection(
      to: endpoint, database: database,
      keepalive: keepalive.map { Connection.Keepalive(time: $0.time, timeout: $0.timeout) } ?? Connection.Keepalive(),
      on: thread)
  }

  package var loop: (any WorkLoop & TaskExecutor)? { thread }
  package func reconnect() { connection.retireCurrent() }
  package var traffic: DatastoreTraffic? { meter.traffic }

  /// Ends all calls and closes the connection.
  package func close() async { await connection.close() }

  // MARK: Single calls

  package func commit(_ mutations: [Mutation]) async throws(RPCStatus) -> CommitResponse {
    try await commit(mutations, request: nil)
  }

  /// Applies mutations atomically.
  /// - Parameter request: identifies the commit, so that an embedded backend applies it only once even if it is sent
  ///   again.
  package func commit(
    _ mutations: [Mutation], request: WriteRequestID?
  ) async throws(RPCStatus) -> CommitResponse {
    let request = WireWriter.message { $0.commitRequest(mutations, in: database, request: request) }
    return try await unary(.commit, request) { reader throws(WireError) in try reader.commitResponse() }
  }

  package func answer(_ read: LookupRead) async throws(RPCStatus) -> [Document] {
    let keys = read.keys
    if keys.isEmpty { return [] }
    let (request, names) = (WireWriter.message { $0.batchGetRequest(keys, read.view, in: database) }, names)
    let responses = try await collect(.batchGetDocuments, request) { reader throws(WireError) in
      try reader.batchGetResponse(names)
    }
    var found: [DocumentKey: Document] = [:]
    for case let document? in responses.map(\.document) { found[document.key] = document }
    var documents: [Document] = []
    for key in keys {
      guard let document = found[key] else {
        throw RPCStatus(.internal, "\(endpoint.text) sent no result for the document \"\(key)\".")
      }
      documents.append(document)
    }
    return documents
  }

  package func answer(_ read: QueryRead) async throws(RPCStatus) -> [Document] {
    let target = read.target
    if target.isDocumentTarget {
      return try await lookup([DocumentKey(unchecked: target.path)], read.view).filter(\.exists)
    }
    let request = WireWriter.message {
      $0.runQueryRequest(target, read.view, passing: read.offset, in: database)
    }
    let names = names
    let responses = try await collect(.runQuery, request) { reader throws(WireError) in
      try reader.runQueryResponse(names)
    }
    return responses.compactMap(\.document)
  }

  package func visitDescendants(
    _ request: DescendantsRequest, deliver: @escaping @Sendable ([Document]) async -> Bool
  ) async throws(RPCStatus) {
    let (message, names) = (WireWriter.message { $0.runQueryRequest(request, in: database) }, names)
    let reader = AnswerReader(endpoint) { reader throws(WireError) in try reader.runQueryResponse(names) }
    // The call can be repeated, because the backend rejects a token before it sends any result.
    try await repeatingOnce { () async throws(RPCStatus) in
      try await self.call(.runQuery, message, timeout: Self.deadline * 5) { stream in
        while let messages = try await stream.next() {
          var documents: [Document] = []
          for message in messages { if let document = try reader(message).document { documents.append(document) } }
          if !documents.isEmpty, !(await deliver(documents)) { return }
        }
      }
    }
  }

  package func answer(_ read: AggregationRead) async throws(RPCStatus) -> [String: Value] {
    // Aliases are replaced by numbered ones, because backends accept only certain names.
    let numbered = read.aggregations.enumerated().map { (alias: "aggregate_\($0.offset)", aggregation: $0.element) }
    let asked = numbered.map { Aggregation(alias: $0.alias, function: $0.aggregation.function) }
    let request = WireWriter.message { $0.aggregationRequest(read.target, asked, at: read.view.time, in: database) }
    let responses = try await collect(.runAggregationQuery, request) { reader throws(WireError) in
      try reader.aggregationResponse()
    }
    guard let answers = responses.compactMap({ $0 }).last else {
      throw RPCStatus(.internal, "\(endpoint.text) sent no result for the aggregation.")
    }
    var figures: [String: Value] = [:]
    for (alias, aggregation) in numbered {
      if let figure = answers[alias] { figures[aggregation.alias] = figure }
    }
    return figures
  }

  package func answer(_ read: ExplainRead) async throws(RPCStatus) -> ExplainMetrics? {
    let request = WireWriter.message { $0.explainRequest(read.target, isRun: read.isRun, read.view, in: database) }
    return try await collect(.runQuery, request) { reader throws(WireError) in
      try reader.explainResponse()
    }.lazy.compactMap(\.self).first
  }

  package func answer(_ read: PipelineExecution) async throws(RPCStatus) -> PipelineResponse {
    let request = WireWriter.message { $0.executePipelineRequest(read.pipeline, in: database) }
    let names = names
    let responses = try await collect(.executePipeline, request) { reader throws(WireError) in
      try reader.executePipelineResponse(names)
    }
    return PipelineResponse(
      results: responses.flatMap(\.results), executionTime: responses.lazy.compactMap(\.executionTime).first)
  }

  package func answer(_ read: CollectionIDsRead) async throws(RPCStatus) -> [String] {
    var ids: [String] = []
    var token = ""
    repeat {
      let request = WireWriter.message { writer in
        writer.listCollectionIDsRequest(
          below: read.parent, at: read.view.time, in: database, pageSize: Self.pageSize, pageToken: token)
      }
      let page = try await unary(.listCollectionIDs, request) { reader throws(WireError) in
        try reader.listCollectionIDsResponse()
      }
      ids += page.ids
      token = page.nextPageToken
    } while !token.isEmpty
    return ids.sorted { $0.compareUTF8($1) == .ascending }
  }

  /// Requests the names of all documents in the collection, because the protocol cannot request only the missing ones.
  package func answer(_ read: MissingDocumentsRead) async throws(RPCStatus) -> [DocumentKey] {
    let names = names
    var keys: [DocumentKey] = []
    var token = ""
    repeat {
      let request = WireWriter.message { writer in
        writer.listNamesRequest(
          in: read.collection, at: read.view.time, of: database, pageSize: Self.pageSize, pageToken: token)
      }
      let page = try await unary(.listDocuments, request) { reader throws(WireError) in
        try reader.listDocumentsResponse(names)
      }
      keys += page.documents.filter { !$0.exists }.map(\.key)
      token = page.nextPageToken
    } while !token.isEmpty
    return keys.sorted()
  }

  package func answer(_ read: DatabasesRead) async throws(RPCStatus) -> [DatabaseID] {
    let request = WireWriter.message { $0.listDatabasesRequest(of: read.project) }
    return try await unary(.listDatabases, request) { reader throws(WireError) in
      try reader.listDatabasesResponse()
    }.sorted { $0.name < $1.name }
  }

  // MARK: Calls

  /// The maximum number of names in one page of a listing.
  private static let pageSize: Int32 = 300

  /// The time limit of a unary or server-streaming call. Open-ended streams have no time limit.
  private static let deadline = Duration.seconds(60)

  private func unary<Answer: Sendable>(
    _ method: CallMethod, _ request: [UInt8], _ read: @escaping AnswerReader<Answer>.Read
  ) async throws(RPCStatus) -> Answer {
    let answers = try await answers(to: method, request, within: Self.deadline, read)
    guard answers.count == 1 else {
      throw RPCStatus(.internal, "\(endpoint.text) sent \(answers.count) responses to one call.")
    }
    return answers[0]
  }

  /// Makes a call that has one request and a stream of responses.
  private func collect<Answer: Sendable>(
    _ method: CallMethod, _ request: [UInt8], _ read: @escaping AnswerReader<Answer>.Read
  ) async throws(RPCStatus) -> [Answer] {
    try await answers(to: method, request, within: Self.deadline * 5, read)
  }

  private func answers<Answer: Sendable>(
    to method: CallMethod, _ request: [UInt8], within timeout: Duration, _ read: @escaping AnswerReader<Answer>.Read
  ) async throws(RPCStatus) -> [Answer] {
    let reader = AnswerReader(endpoint, read)
    return try await repeatingOnce { () async throws(RPCStatus) in
      try await self.call(method, request, timeout: timeout) { stream in
        var answers: [Answer] = []
        while let messages = try await stream.next() {
          for message in messages { answers.append(try reader(message)) }
        }
        return answers
      }
    }
  }

  /// Makes a call. If the token is rejected, repeats the call once with a new token.
  private func repeatingOnce<Result>(
    _ body: () async throws(RPCStatus) -> Result
  ) async throws(RPCStatus) -> Result {
    do throws(RPCStatus) { return try await body() } catch {
      guard error.code == .unauthenticated, credentials.canRefresh else { throw error }
    }
    return try await body()
  }

  /// Runs one call on the connection. If an error ends the call, converts it to a status.
  /// - Parameters:
  ///   - request: the whole request; `nil` if the request is a stream.
  ///   - timeout: the time after which the call fails; `nil` for no deadline.
  func call<Result>(
    _ method: CallMethod, _ request: [UInt8]?, timeout: Duration? = nil, _ body: (CallStream) async throws -> Result
  ) async throws(RPCStatus) -> Result {
    let authorization = try await credentials.authorization(for: endpoint, isTrusting: allowsInsecureCredentials)
    var head = RequestHead(method: method, authorization: authorization, timeout: timeout)
    if let appCheck { head.appCheck = try await appCheck(false) }
    // A call that the backend has not processed can be repeated. It is repeated only once, since the backend may reject
    // every attempt.
    for _ in 0..<2 {
      if let result = try await attempt(head, request, body) { return result }
    }
    throw RPCStatus(.unavailable, "\(endpoint.text) accepts no calls at the moment.")
  }

  /// Makes one attempt at a call.
  /// - Returns: the result; `nil` if the backend has not processed the call.
  private func attempt<Result>(
    _ head: RequestHead, _ request: [UInt8]?, _ body: (CallStream) async throws -> Result
  ) async throws(RPCStatus) -> Result? {
    var begun: BegunCall?
    do {
      let call = try await connection.call(head, request)
      begun = call
      defer { call.stream.abandon() }
      return try await body(call.stream)
    } catch {
      if Task.isCancelled { throw RPCStatus(.cancelled, "The call was cancelled.") }
      // A stream is not repeated, since its consumer may already have seen it as open.
      if case TransportFailure.notTaken = error, request != nil || begun == nil {
        if let begun { connection.retire(begun.connection) }
        return nil
      }
      var status = CallFailure.status(of: error, at: endpoint, credentials)
      if head.method == .commit, begun != nil, !(error is RPCStatus) {
        status = CallFailure.unanswered(status, at: endpoint)
      }
      // A server that shuts down cancels its streams.
      if let begun, status.code == .unavailable || status.code == .cancelled { connection.retire(begun.connection) }
      if status.code == .unauthenticated { credentials.forgetToken() }
      throw status
    }
  }
}
