// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
package import SerialExecutors

/// The interface to a backend. Implementations are the embedded backend, clients of google.firestore.v1 servers, and
/// wrappers that, for example, inject faults.
///
/// A stream lasts until its call returns. The stream ends when the caller's task is canceled, when `requests` ends, or
/// when the backend sends a status. After the call has returned, nothing more is read or delivered.
package protocol Datastore: Sendable {
  /// Runs one watch stream.
  /// - Parameters:
  ///   - requests: the requests to send. They are read one at a time and in order.
  ///   - deliver: receives the events since the last call. Until it returns, only a limited amount is read, so a slow
  ///     consumer causes backpressure.
  /// - Throws: `RPCStatus`. This is `unavailable` if the stream ends without an error, because a watch stream should
  ///   not end.
  func watch(
    requests: StreamRequests<WatchRequest>, deliver: @Sendable (WatchEvent) async -> Void
  ) async throws(RPCStatus)

  /// Runs one write stream, which consists of a handshake and then one response for each request, in order.
  func write(
    requests: StreamRequests<WriteRequest>, deliver: @Sendable (WriteEvent) async -> Void
  ) async throws(RPCStatus)

  /// Applies mutations atomically, without a write stream.
  func commit(_ mutations: [Mutation]) async throws(RPCStatus) -> CommitResponse
  /// Answers a read, or forwards it to another datastore.
  func read<Read: DatastoreRead>(_ read: Read) async throws(RPCStatus) -> Read.Answer
  /// Visits the documents at any depth below a path, in the order of their keys.
  /// - Parameter deliver: receives the documents since the last call, and returns whether to continue. Until it
  ///   returns, only a limited amount is read.
  /// - Throws: `unimplemented` if the backend does not support this query.
  func visitDescendants(
    _ request: DescendantsRequest, deliver: @escaping @Sendable ([Document]) async -> Bool
  ) async throws(RPCStatus)

  /// Reports every commit to the database, by collection, until the task is canceled. The first notification states
  /// that everything may have changed.
  /// - Parameter deliver: receives the changes since the last call. Until it returns, further changes are collected.
  /// - Throws: `unimplemented` if the backend does not report commits; `permission-denied`; `cancelled` if the task is
  ///   canceled.
  func followCommits(deliver: @Sendable (CommitUpdate) async -> Void) async throws(RPCStatus)

  /// Whether the peer can disappear or hang while the watch stream remains open.
  var canFallSilent: Bool { get }
  /// Whether the backend is in this process, so that the values in streams do not have to be decoded.
  var answersInProcess: Bool { get }
  /// The thread that sends and receives the messages of streams. The client's engine should preferably run on this
  /// thread. `nil` if there is no single thread.
  var loop: (any WorkLoop & TaskExecutor)? { get }
  /// Makes later calls use a new connection, because the current connection is unreliable. Current calls continue.
  func reconnect()
  /// The sizes of all stream messages so far; `nil` for a backend whose messages are not encoded.
  var traffic: DatastoreTraffic? { get }
}

extension Datastore {
  package var canFallSilent: Bool { true }
  package var answersInProcess: Bool { false }
  package var loop: (any WorkLoop & TaskExecutor)? { nil }
  package func followCommits(deliver: @Sendable (CommitUpdate) async -> Void) async throws(RPCStatus) {
    throw RPCStatus(.unimplemented, "This backend does not report commits.")
  }
  /// Does nothing. This default implementation is for datastores without connections.
  package func reconnect() {}
  package var traffic: DatastoreTraffic? { nil }
}

/// The message sizes of watch and write streams in bytes. They include the five-byte prefix of each message and exclude
/// transport overhead.
package struct DatastoreTraffic: Hashable, Sendable {
  package struct Bytes: Hashable, Sendable {
    package var sent: Int
    package var received: Int

    package init(sent: Int, received: Int) {
      self.sent = sent
      self.received = received
    }
  }

  package var watch: Bytes
  package var write: Bytes

  package init(watch: Bytes, write: Bytes) {
    self.watch = watch
    self.write = write
  }
}

package enum WatchEvent: Sendable {
  /// The stream is open and accepts requests. The client counts as online only after the first message arrives.
  case opened
  /// The changes, in the order in which they arrived; never empty.
  case changes([WatchChange])
}

package enum WriteEvent: Sendable {
  /// The handshake is complete, so batches may be sent.
  case opened(streamToken: [UInt8])
  case committed(streamToken: [UInt8], CommitResponse)
}

/// A request to write one batch.
package struct WriteRequest: Sendable {
  package var streamToken: [UInt8]
  package var mutations: [Mutation]
  /// The id of the batch. If a response is lost and the batch is resent, a backend that stores its responses recognizes
  /// the batch by this id.
  package var requestID: WriteRequestID?

  package init(streamToken: [UInt8], mutations: [Mutation], requestID: WriteRequestID? = nil) {
    self.streamToken = streamToken
    self.mutations = mutations
    self.requestID = requestID
  }
}

/// The permanent id of a batch. Stream tokens cannot be used as ids, because a new stream starts without a token and
/// pipelined batches share a token.
package struct WriteRequestID: Hashable, Sendable {
  /// The kind of sender, which repeats a request until it gets the response.
  package enum Sender: Hashable, Sendable {
    /// A cache. It stores its batches, and may repeat them even days later.
    case cache
    /// A stream. It is resumed soon or not at all.
    case stream
  }

  /// A random number that identifies the sender. A cache combines its identity with the batch's generation. Therefore
  /// ids differ even if the cache starts numbering again or is restored to an earlier state.
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
  /// The results, one for each mutation.
  package var results: [MutationResult]

  package init(commitTime: SnapshotVersion, results: [MutationResult]) {
    self.commitTime = commitTime
    self.results = results
  }
}

/// The requests to send on a stream. They are read as soon as the stream can send them. The sequence also ends if the
/// task is canceled.
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
