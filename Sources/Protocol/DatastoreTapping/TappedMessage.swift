// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
package import FirestoreProtoJSON
package import FirestoreProtocol
import FirestoreQuery

/// A message between a client and its datastore as it passed by, or the beginning or the end of a stream or call.
package struct TappedMessage: Sendable {
  /// The kind of the stream; a call is one request with one answer.
  package enum Channel: String, Sendable {
    case listen, write, commits, call
  }

  package enum Event: String, Sendable {
    /// A stream was asked for.
    case begun
    case sent, received
    /// A stream is over, or a call failed.
    case ended
    /// Messages passed by for which there was no room.
    case missed
  }

  /// The content as wire bytes of google.firestore.v1.
  package enum Content: Sendable {
    case none
    case one(MessageSchema, [UInt8])
    /// The messages of an answer that comes as a stream.
    case list(MessageSchema, [[UInt8]])
  }

  /// The largest content that is kept, in bytes; of a larger one its size is.
  package static let largestContent = 16 << 10
  /// The number of documents that are named.
  package static let mostDocuments = 50

  package var time: Timestamp
  package var channel: Channel
  /// The number of the stream or call in its session, from 1.
  package var number: Int
  package var event: Event
  /// The name of what it does, such as `addTarget` or `RunQuery`.
  package var kind = ""
  package var targets: [TargetID] = []
  /// The first documents that it is about.
  package private(set) var documents: [DocumentKey] = []
  /// The number of documents that it is about, or of missed messages.
  package var count = 0
  /// The length of its resume token or stream token, in bytes. The token itself is kept nowhere.
  package var tokenLength: Int?
  package var status: RPCStatus?
  /// The size in bytes, as it is or would be over gRPC; of answers that are not kept, that of their documents.
  package private(set) var byteCount: Int?
  package private(set) var content = Content.none

  package init(_ time: Timestamp, _ channel: Channel, _ number: Int, _ event: Event) {
    (self.time, self.channel, self.number, self.event) = (time, channel, number, event)
  }

  /// The memory that it takes, estimated in bytes.
  package var cost: Int {
    let names = documents.reduce(0) { $0 + $1.path.text.utf8.count + 32 }
    switch content {
    case .none: return 256 + names
    case .one(_, let bytes): return 256 + names + bytes.count
    case .list(_, let messages): return 256 + names + messages.reduce(0) { $0 + $1.count + 32 }
    }
  }

  mutating func note(_ keys: some Collection<DocumentKey>) {
    documents = Array(keys.prefix(Self.mostDocuments))
    count = keys.count
  }

  mutating func note(_ schema: MessageSchema, _ write: (inout WireWriter) -> Void) {
    let bytes = WireWriter.message(write)
    byteCount = bytes.count
    content = bytes.count <= Self.largestContent ? .one(schema, bytes) : .none
  }

  /// Notes an answer of several messages, one for each document.
  mutating func note(
    _ documents: [Document], _ schema: MessageSchema, _ write: (Document, inout WireWriter) -> Void
  ) {
    note(documents.lazy.map(\.key))
    let size = documents.reduce(0) { $0 + ($1.data?.encoded.bytes.count ?? 0) }
    byteCount = size
    guard size <= Self.largestContent else { return }
    let messages = documents.map { document in WireWriter.message { write(document, &$0) } }
    let whole = messages.reduce(0) { $0 + $1.count }
    byteCount = whole
    if whole <= Self.largestContent { content = .list(schema, messages) }
  }
}

// The messages of the streams, without their tokens.

extension TappedMessage {
  mutating func note(_ request: WatchRequest, in database: DatabaseID) {
    var shown = request
    switch request {
    case .add(var target):
      kind = "addTarget"
      targets = [target.id]
      if target.target.isDocumentTarget { note([DocumentKey(unchecked: target.target.path)]) }
      if case .token(let token)? = target.resume {
        tokenLength = token.bytes.count
        target.resume = nil
        shown = .add(target)
      }
    case .remove(let id):
      kind = "removeTarget"
      targets = [id]
    }
    note(Schema.listenRequest) { $0.watchRequest(shown, in: database) }
  }

  mutating func note(_ change: WatchChange, _ names: DocumentNames) {
    var (shown, token): (WatchChange, ResumeToken?) = (change, nil)
    switch change {
    case .added(let ids): (kind, targets) = ("added", ids)
    case .removed(let ids, let cause): (kind, targets, status) = ("removed", ids, cause)
    case .current(let ids, let position):
      (kind, targets, token, shown) = ("current", ids, position, .current(ids, nil))
    case .reset(let ids, let position): (kind, targets, token, shown) = ("reset", ids, position, .reset(ids, nil))
    case .token(let ids, let position): (kind, targets, token, shown) = ("token", ids, position, .token(ids, nil))
    case .snapshot(let version, let position): (kind, token, shown) = ("snapshot", position, .snapshot(version, nil))
    case .document(let document, let updated, let removed):
      (kind, targets) = (document.exists ? "documentChange" : "documentDelete", updated + removed)
      note([document.key])
    case .documentRemoved(let key, let removed):
      (kind, targets) = ("documentRemove", removed)
      note([key])
    case .filter(let id, let filter): (kind, targets, count) = ("filter", [id], filter.count)
    }
    tokenLength = token?.bytes.count
    note(Schema.listenResponse) { $0.watchChange(shown, names) }
  }

  mutating func note(_ request: WriteRequest, in database: DatabaseID) {
    kind = "writes"
    tokenLength = request.streamToken.count
    note(request.mutations.lazy.map(\.key))
    let shown = WriteRequest(streamToken: [], mutations: request.mutations, requestID: request.requestID)
    note(Schema.writeRequest) { $0.writeRequest(shown, in: database) }
  }

  /// - Parameter mutations: the writes that are answered.
  mutating func note(_ response: CommitResponse, streamToken: [UInt8], to mutations: [Mutation]) {
    kind = "writeResults"
    tokenLength = streamToken.count
    note(mutations.lazy.map(\.key))
    note(Schema.writeResponse) {
      $0.writeResponse(WriteResponse(streamToken: [], commit: response), to: mutations)
    }
  }
}

// The requests and answers of calls.

extension TappedMessage {
  /// - Parameter read: a read of `FirestoreProtocol`; of any other its type is noted.
  mutating func note(_ read: some DatastoreRead, in database: DatabaseID) {
    switch read {
    case let read as LookupRead:
      kind = "BatchGetDocuments"
      note(read.keys)
      note(Schema.batchGetDocumentsRequest) { $0.batchGetRequest(read.keys, read.view, in: database) }
    case let read as QueryRead:
      kind = "RunQuery"
      // A target that is one document is asked for by its name.
      if read.target.isDocumentTarget { return note([DocumentKey(unchecked: read.target.path)]) }
      note(Schema.runQueryRequest) {
        $0.runQueryRequest(read.target, read.view, passing: read.offset, in: database)
      }
    case let read as AggregationRead:
      kind = "RunAggregationQuery"
      if read.target.isDocumentTarget { return note([DocumentKey(unchecked: read.target.path)]) }
      note(Schema.runAggregationQueryRequest) {
        $0.aggregationRequest(read.target, read.aggregations, at: read.view.time, in: database)
      }
    case let read as ExplainRead:
      kind = "RunQuery"
      note(Schema.runQueryRequest) {
        $0.explainRequest(read.target, isRun: read.isRun, read.view, in: database)
      }
    case let read as CollectionIDsRead:
      kind = "ListCollectionIds"
      note(Schema.listCollectionIDsRequest) {
        $0.listCollectionIDsRequest(below: read.parent, at: read.view.time, in: database, pageSize: 0, pageToken: "")
      }
    case let read as MissingDocumentsRead:
      kind = "ListDocuments"
      note(Schema.listDocumentsRequest) {
        $0.listNamesRequest(in: read.collection, at: read.view.time, of: database, pageSize: 0, pageToken: "")
      }
    case is PipelineExecution: kind = "ExecutePipeline"
    case is DatabasesRead: kind = "ListDatabases"
    default: kind = "\(type(of: read))"
    }
  }

  /// - Parameter answer: the answer to the read. An empty list is of every type, so that the read tells what it is.
  mutating func note(_ answer: Any, to read: some DatastoreRead, _ names: DocumentNames) {
    switch read {
    case is LookupRead:
      guard let documents = answer as? [Document] else { return }
      note(documents, Schema.batchGetDocumentsResponse) { document, writer in
        writer.batchGetResponse(ReadResponse(document: document), names)
      }
    case is QueryRead:
      guard let documents = answer as? [Document] else { return }
      note(documents, Schema.runQueryResponse) { document, writer in
        writer.runQueryResponse(ReadResponse(document: document), names)
      }
    case is AggregationRead:
      guard let figures = answer as? [String: Value] else { return }
      count = figures.count
      note(Schema.aggregationResult) { $0.entries(2, Fields(figures.map { ($0.key, $0.value) })) }
    case is ExplainRead:
      guard let metrics = answer as? ExplainMetrics else { return }
      note(Schema.runQueryResponse) { $0.runQueryResponse(explaining: metrics) }
    case is CollectionIDsRead:
      guard let ids = answer as? [String] else { return }
      count = ids.count
      note(Schema.listCollectionIDsResponse) { $0.listCollectionIDsResponse(CollectionIDPage(ids: ids)) }
    case is MissingDocumentsRead: (answer as? [DocumentKey]).map { note($0) }
    case is DatabasesRead: count = (answer as? [DatabaseID])?.count ?? 0
    case is PipelineExecution: count = (answer as? PipelineResponse)?.results.count ?? 0
    default: break
    }
  }

  mutating func note(_ mutations: [Mutation], in database: DatabaseID) {
    kind = "Commit"
    note(mutations.lazy.map(\.key))
    note(Schema.commitRequest) { $0.commitRequest(mutations, in: database) }
  }

  mutating func note(_ response: CommitResponse, to mutations: [Mutation]) {
    kind = "Commit"
    note(mutations.lazy.map(\.key))
    note(Schema.commitResponse) { $0.commitResponse(response, to: mutations) }
  }

  mutating func note(_ request: DescendantsRequest, in database: DatabaseID) {
    kind = "RunQuery"
    note(Schema.runQueryRequest) { $0.runQueryRequest(request, in: database) }
  }
}
