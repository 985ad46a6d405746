// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
package import FirestoreQuery

/// The one seam to a backend: the embedded one, any google.firestore.v1 server, or a wrapper that injects faults.
///
/// A stream runs inside the call: it ends when the caller's task is cancelled (then it has stopped reading and
/// delivering when the call returns), when `requests` ends, or with the backend's status.
package protocol Datastore: Sendable {
  /// Runs one watch stream.
  /// - Parameters:
  ///   - requests: the requests to send, pulled one at a time, in order.
  ///   - deliver: receives the events since the last call; awaited before more is read than fits into memory, so that a
  ///     slow consumer pushes back.
  /// - Throws: `RPCStatus`; also for an end without error (`unavailable`), since a watch stream never ends by itself.
  func watch(
    requests: StreamRequests<WatchRequest>, deliver: @Sendable (WatchEvent) async -> Void
  ) async throws(RPCStatus)

  /// Runs one write stream: handshake, then one response per request, in order.
  func write(
    requests: StreamRequests<WriteRequest>, deliver: @Sendable (WriteEvent) async -> Void
  ) async throws(RPCStatus)

  /// Applies mutations atomically, outside of the stream.
  func commit(_ mutations: [Mutation]) async throws(RPCStatus) -> CommitResponse
  /// Reads documents at one version, in the order of the keys; a document that does not exist comes as `missing`.
  func lookup(_ keys: [DocumentKey]) async throws(RPCStatus) -> [Document]
  func lookup(_ keys: [DocumentKey], _ view: ReadView) async throws(RPCStatus) -> [Document]
  func runQuery(_ target: Target) async throws(RPCStatus) -> [Document]
  func runQuery(_ target: Target, _ view: ReadView) async throws(RPCStatus) -> [Document]
  /// The name of the document at an offset in the target's order, without its limit; `nil` if there is none.
  func key(at offset: Int, of target: Target) async throws(RPCStatus) -> DocumentKey?
  /// Visits the documents at any depth below a path, in the order of their keys.
  /// - Parameter deliver: receives the documents since the last call, and returns whether to go on; awaited before more
  ///   is read than fits into memory.
  /// - Throws: `unimplemented` if the backend has no such query.
  func visitDescendants(
    _ request: DescendantsRequest, deliver: @escaping @Sendable ([Document]) async -> Bool
  ) async throws(RPCStatus)
  /// The names of the documents that `runQuery` finds, in its order.
  func keys(of target: Target) async throws(RPCStatus) -> [DocumentKey]
  func aggregate(_ target: Target, _ aggregations: [Aggregation]) async throws(RPCStatus) -> [String: Value]
  func aggregate(
    _ target: Target, _ aggregations: [Aggregation], at time: SnapshotVersion
  ) async throws(RPCStatus) -> [String: Value]
  /// The ids of the collections directly below a document, or of the root; sorted by UTF-8.
  func listCollectionIDs(below parent: ResourcePath) async throws(RPCStatus) -> [String]
  func listCollectionIDs(below parent: ResourcePath, at time: SnapshotVersion) async throws(RPCStatus) -> [String]
  /// The documents of a collection that do not exist while documents below them do; in key order.
  func missingDocuments(in collection: ResourcePath) async throws(RPCStatus) -> [DocumentKey]
  func missingDocuments(
    in collection: ResourcePath, at time: SnapshotVersion
  ) async throws(RPCStatus) -> [DocumentKey]

  /// The databases that have documents, by their names.
  /// - Parameter project: the project of the databases; `nil` for all projects.
  /// - Throws: `unimplemented` if the backend does not list its databases.
  func databases(of project: String?) async throws(RPCStatus) -> [DatabaseID]

  /// Executes a pipeline.
  /// - Returns: all of its results in one response.
  func execute(_ pipeline: PipelineMessage) async throws(RPCStatus) -> PipelineResponse

  /// Whether the other end can be gone, or stuck, while the watch stream does not end.
  var canFallSilent: Bool { get }
  /// Makes later calls use a new connection, because the present one is not to be trusted. Calls under way go on.
  func reconnect()
}

extension Datastore {
  /// Reads documents as of a time.
  package func lookup(_ keys: [DocumentKey], at time: SnapshotVersion) async throws(RPCStatus) -> [Document] {
    try await lookup(keys, ReadView(at: time))
  }

  /// Finds none, for a datastore that does not look for missing documents.
  package func missingDocuments(in collection: ResourcePath) async throws(RPCStatus) -> [DocumentKey] { [] }

  /// Reads the documents before the offset too, for a datastore that cannot skip them.
  package func key(at offset: Int, of target: Target) async throws(RPCStatus) -> DocumentKey? {
    var target = target
    target.limit = offset + 1
    return try await runQuery(target).dropFirst(offset).first?.key
  }

  /// Throws `unimplemented`, for a datastore that reads one collection at a time.
  package func visitDescendants(
    _ request: DescendantsRequest, deliver: @escaping @Sendable ([Document]) async -> Bool
  ) async throws(RPCStatus) {
    throw RPCStatus(.unimplemented, "This backend has no queries over all collections.")
  }

  /// Reads the whole documents, for a datastore that cannot leave out the fields.
  package func keys(of target: Target) async throws(RPCStatus) -> [DocumentKey] {
    try await runQuery(target).map(\.key)
  }

  /// Throws `unimplemented`, for a datastore that knows only one database.
  package func databases(of project: String?) async throws(RPCStatus) -> [DatabaseID] {
    throw RPCStatus(.unimplemented, "This backend does not list its databases.")
  }

  /// Throws `unimplemented`, for a datastore without pipelines.
  package func execute(_ pipeline: PipelineMessage) async throws(RPCStatus) -> PipelineResponse {
    throw RPCStatus(.unimplemented, "This backend executes no pipelines.")
  }

  package var canFallSilent: Bool { true }
  /// Does nothing, for a datastore without connections.
  package func reconnect() {}
}

/// Reads in the past are refused, and parts of documents taken from whole ones, for a datastore that has neither.
extension Datastore {
  private static var presentOnly: RPCStatus { RPCStatus(.unimplemented, "This backend answers for the present only.") }

  package func lookup(_ keys: [DocumentKey], _ view: ReadView) async throws(RPCStatus) -> [Document] {
    if view.time != nil { throw Self.presentOnly }
    return view.shown(try await lookup(keys))
  }

  package func runQuery(_ target: Target, _ view: ReadView) async throws(RPCStatus) -> [Document] {
    if view.time != nil { throw Self.presentOnly }
    return view.shown(try await runQuery(target))
  }

  package func aggregate(
    _ target: Target, _ aggregations: [Aggregation], at time: SnapshotVersion
  ) async throws(RPCStatus) -> [String: Value] { throw Self.presentOnly }

  package func listCollectionIDs(
    below parent: ResourcePath, at time: SnapshotVersion
  ) async throws(RPCStatus) -> [String] { throw Self.presentOnly }

  package func missingDocuments(
    in collection: ResourcePath, at time: SnapshotVersion
  ) async throws(RPCStatus) -> [DocumentKey] { throw Self.presentOnly }
}

package enum WatchEvent: Sendable {
  /// The stream is open: requests are accepted. Says nothing about being online (only a message does).
  case opened
  /// The changes in the order in which they came; never empty.
  case changes([WatchChange])
}

package enum WriteEvent: Sendable {
  /// The handshake is answered; batches may be sent.
  case opened(streamToken: [UInt8])
  case committed(streamToken: [UInt8], CommitResponse)
}

/// One batch on its way out.
package struct WriteRequest: Sendable {
  package var streamToken: [UInt8]
  package var mutations: [Mutation]
  /// The id by which a backend that keeps its answers recognises a batch that is sent again because its answer was
  /// lost.
  package var requestID: WriteRequestID?

  package init(streamToken: [UInt8], mutations: [Mutation], requestID: WriteRequestID? = nil) {
    self.streamToken = streamToken
    self.mutations = mutations
    self.requestID = requestID
  }
}

/// Names one batch permanently. Stream tokens cannot: a new stream starts without one and pipelined batches share one.
package struct WriteRequestID: Hashable, Sendable {
  /// The sender, which repeats a request that was not answered.
  package enum Sender: Hashable, Sendable {
    /// A cache, which keeps its batches and may come back after days.
    case cache
    /// A stream, which is resumed soon or never.
    case stream
  }

  /// The sender's random number. A cache has one for its identity and the generation in which the batch was made, so
  /// that a cache that numbers its batches anew, or was put back to an earlier state, names them differently.
  package var clientID: [UInt8]
  package var batchID: BatchID
  package var sender: Sender

  package init(clientID: [UInt8], batchID: BatchID, sender: Sender = .cache) {
    self.clientID = clientID
    self.batchID = batchID
    self.sender = sender
  }
}

package struct CommitResponse: Sendable {
  package var commitTime: SnapshotVersion
  /// The results, one per mutation.
  package var results: [MutationResult]

  package init(commitTime: SnapshotVersion, results: [MutationResult]) {
    self.commitTime = commitTime
    self.results = results
  }
}

/// The requests to be sent on a stream, pulled when there is room. Ends with `nil`, also on cancellation.
package struct StreamRequests<Element: Sendable>: AsyncSequence, Sendable {
  package struct Iterator: AsyncIteratorProtocol {
    fileprivate let pull: @Sendable () async -> Element?
    package func next() async -> Element? { await pull() }
    package func next(isolation actor: isolated (any Actor)?) async throws(Never) -> Element? { await pull() }
  }

  private let pull: @Sendable () async -> Element?
  package init(_ pull: @escaping @Sendable () async -> Element?) { self.pull = pull }
  package func makeAsyncIterator() -> Iterator { Iterator(pull: pull) }
}
