// SPDX-License-Identifier: Apache-2.0
package import ClientPort
package import FirestoreModel
package import FirestoreProtocol
import FirestoreQuery

// The messages of a tapped client as wire bytes of google.firestore.v1, without tokens.

extension ProtocolEvent {
  /// The maximum size in bytes of recorded content. For larger content, only the size is recorded.
  package static let largestContent = 16 << 10

  private mutating func setMessage(_ write: (inout WireWriter) -> Void) {
    let written = WireWriter.message(write)
    bytes = written.count
    message = MessageSummary(method, written, isRequest: kind == .request)
    let schema = schema
    if written.count <= Self.largestContent { message?.content = MessageContent(.bytes(written), schema) }
  }

  private mutating func setMessage(token: [UInt8]?, _ write: (inout WireWriter) -> Void) {
    setMessage(write)
    if let token { message?.tokenLength = token.count }
  }

  private mutating func setDocuments(_ keys: some Collection<DocumentKey>) {
    if message == nil { message = MessageSummary() }
    message?.setDocuments(keys)
  }

  private mutating func setCount(_ count: Int) {
    if message == nil { message = MessageSummary() }
    message?.count = count
  }

  /// Sets a response that consists of one message for each document.
  private mutating func setMessages(_ documents: [Document], _ write: (Document, inout WireWriter) -> Void) {
    setDocuments(documents.lazy.map(\.key))
    let size = documents.reduce(0) { $0 + ($1.data?.encoded.bytes.count ?? 0) }
    bytes = size
    guard size <= Self.largestContent else { return }
    let messages = documents.map { document in WireWriter.message { write(document, &$0) } }
    let whole = messages.reduce(0) { $0 + $1.count }
    bytes = whole
    let schema = schema
    if whole <= Self.largestContent { message?.content = MessageContent(.list(messages), schema) }
  }

  // MARK: Streams

  mutating func set(_ request: WatchRequest, in database: DatabaseID) {
    guard case .add(var target) = request, case .token(let token)? = target.resume else {
      return setMessage { $0.watchRequest(request, in: database) }
    }
    target.resume = nil
    setMessage(token: token.bytes) { $0.watchRequest(.add(target), in: database) }
  }

  package mutating func set(_ change: WatchChange, _ names: DocumentNames) {
    let (shown, token): (WatchChange, ResumeToken?) =
      switch change {
      case .current(let ids, let token): (.current(ids, nil), token)
      case .reset(let ids, let token): (.reset(ids, nil), token)
      case .token(let ids, let token): (.token(ids, nil), token)
      case .snapshot(let version, let token): (.snapshot(version, nil), token)
      case .added, .removed, .document, .documentRemoved, .filter: (change, nil)
      }
    setMessage(token: token?.bytes) { $0.watchChange(shown, names) }
  }

  mutating func set(_ request: WriteRequest, in database: DatabaseID) {
    let shown = WriteRequest(streamToken: [], mutations: request.mutations, requestID: request.requestID)
    setMessage(token: request.streamToken) { $0.writeRequest(shown, in: database) }
  }

  /// - Parameter mutations: the writes that the server answers with this response.
  mutating func set(_ response: CommitResponse, token: [UInt8], to mutations: [Mutation]) {
    setMessage(token: token) { $0.writeResponse(WriteResponse(streamToken: [], commit: response), to: mutations) }
    setDocuments(mutations.lazy.map(\.key))
  }

  /// Sets the handshake response of a write stream.
  mutating func setHandshake(token: [UInt8]) {
    var summary = MessageSummary()
    (summary.kind, summary.tokenLength) = ("handshake", token.count)
    message = summary
  }

  mutating func set(_ news: CommitUpdate) {
    var summary = MessageSummary()
    switch news {
    case .everything: summary.kind = "everything"
    case .collections(let notices): (summary.kind, summary.count) = ("collections", notices.count)
    }
    message = summary
  }

  // MARK: Calls

  /// - Parameter read: a read that `FirestoreProtocol` defines. For any other read, the recorded method is the name of
  ///   the read's type.
  mutating func set(_ read: some DatastoreRead, in database: DatabaseID) {
    switch read {
    case let read as LookupRead: setMessage { $0.batchGetRequest(read.keys, read.view, in: database) }
    case let read as QueryRead:
      // A target of one document is read by the document's name.
      if read.target.isDocumentTarget { return setDocuments([DocumentKey(unchecked: read.target.path)]) }
      setMessage { $0.runQueryRequest(read.target, read.view, passing: read.offset, in: database) }
    case let read as AggregationRead:
      if read.target.isDocumentTarget { return setDocuments([DocumentKey(unchecked: read.target.path)]) }
      setMessage { $0.aggregationRequest(read.target, read.aggregations, at: read.view.time, in: database) }
    case let read as ExplainRead:
      setMessage { $0.explainRequest(read.target, isRun: read.isRun, read.view, in: database) }
    case let read as CollectionIDsRead:
      setMessage {
        $0.listCollectionIDsRequest(below: read.parent, at: read.view.time, in: database, pageSize: 0, pageToken: "")
      }
    case let read as MissingDocumentsRead:
      setMessage {
        $0.listNamesRequest(in: read.collection, at: read.view.time, of: database, pageSize: 0, pageToken: "")
      }
    default: break
    }
  }

  static func method(of read: some DatastoreRead) -> String {
    switch read {
    case is LookupRead: "BatchGetDocuments"
    case is QueryRead, is ExplainRead: "RunQuery"
    case is AggregationRead: "RunAggregationQuery"
    case is CollectionIDsRead: "ListCollectionIds"
    case is MissingDocumentsRead: "ListDocuments"
    case is PipelineExecution: "ExecutePipeline"
    case is DatabasesRead: "ListDatabases"
    default: "\(type(of: read))"
    }
  }

  /// - Parameter answer: the response to the read. Its type is ambiguous, because an empty list matches every list
  ///   type. Therefore the type of the read determines the conversion.
  mutating func set(_ answer: Any, to read: some DatastoreRead, _ names: DocumentNames) {
    switch read {
    case is LookupRead:
      guard let documents = answer as? [Document] else { return }
      setMessages(documents) { document, writer in writer.batchGetResponse(ReadResponse(document: document), names) }
    case is QueryRead:
      guard let documents = answer as? [Document] else { return }
      setMessages(documents) { document, writer in writer.runQueryResponse(ReadResponse(document: document), names) }
    case is AggregationRead:
      guard let figures = answer as? [String: Value] else { return }
      setMessage { $0.field(1) { $0.entries(2, Fields(figures.map { ($0.key, $0.value) })) } }
      setCount(figures.count)
    case is ExplainRead:
      guard let metrics = answer as? ExplainMetrics else { return }
      setMessage { $0.runQueryResponse(explaining: metrics) }
    case is CollectionIDsRead:
      guard let ids = answer as? [String] else { return }
      setMessage { $0.listCollectionIDsResponse(CollectionIDPage(ids: ids)) }
      setCount(ids.count)
    case is MissingDocumentsRead: (answer as? [DocumentKey]).map { setDocuments($0) }
    case is DatabasesRead: setCount((answer as? [DatabaseID])?.count ?? 0)
    case is PipelineExecution: setCount((answer as? PipelineResponse)?.results.count ?? 0)
    default: break
    }
  }

  mutating func set(_ mutations: [Mutation], in database: DatabaseID) {
    setMessage { $0.commitRequest(mutations, in: database) }
  }

  mutating func set(_ response: CommitResponse, to mutations: [Mutation]) {
    setMessage { $0.commitResponse(response, to: mutations) }
    setDocuments(mutations.lazy.map(\.key))
  }

  mutating func set(_ request: DescendantsRequest, in database: DatabaseID) {
    setMessage { $0.runQueryRequest(request, in: database) }
  }

  mutating func setDescendants(_ count: Int) { setCount(count) }
}
