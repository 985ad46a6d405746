// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
package import SerialExecutors

/// The interface to a backend. It is implemented by the embedded backend, by clients of google.firestore.v1 servers,
/// and by wrappers, for example to inject faults.
///
/// A stream runs until the call returns. It ends when the caller's task is canceled, when `requests` ends, or with the
/// backend's status. Nothing more is read or delivered after the call has returned.
package protocol Datastore: Sendable {
  /// Runs one watch stream.
  /// - Parameters:
  ///   - requests: the requests to send, read one at a time and in order.
  ///   - deliver: receives the events since the last call. Only a limited amount is read before it returns, so a slow
  ///     consumer applies backpressure.
  /// - Throws: `RPCStatus`; `unavailable` also if the stream ends without an error, since a watch stream should not
  ///   end.
  func watch(
    requests: StreamRequests<WatchRequest>, deliver: @Sendable (WatchEvent) async -> Void
  ) async throws(RPCStatus)

  /// Runs one write stream: handshake, then one response per request, in order.
  func write(
    requests: StreamRequests<WriteRequest>, deliver: @Sendable (WriteEvent) async -> Void
  ) async throws(RPCStatus)

  /// Applies mutations atomically, without a write stream.
  func commit(_ mutations: [Mutation]) async throws(RPCStatus) -> CommitResponse
  /// Answers a read, or forwards it to another datastore.
  func read<Read: DatastoreRead>(_ read: Read) async throws(RPCStatus) -> Read.Answer
  /// Visits the documents at any depth below a path, in key order.
  /// - Parameter deliver: receives the documents since the last call, and returns whether to continue. Only a limited
  ///   amount is read before it returns.
  /// - Throws: `unimplemented` if the backend does not support this query.
  func visitDescendants(
    _ request: DescendantsRequest, deliver: @escaping @Sendable ([Document]) async -> Bool
  ) async throws(RPCStatus)

  /// Reports every commit to the database, by collection, until canceled. The first notification states that everything
  /// may have changed.
  /// - Parameter deliver: receives the changes since the last call. Further changes are collected until it returns.
  /// - Throws: `unimplemented` if the backend does not report commits, `permission-denied`; `cancelled`.
  func followCommits(deliver: @Sendable (CommitUpdate) async -> Void) async throws(RPCStatus)

  /// Whether the peer can disappear or hang while the watch stream remains open.
  var canFallSilent: Bool { get }
  /// Whether the backend is in this process, so that stream values need no decoding.
  var answersInProcess: Bool { get }
  /// The thread that sends and receives the messages of streams. It is the best thread for the client's engine. `nil`
  /// if there is no single thread.
  var loop: (any WorkLoop & TaskExecutor)? { get }
  /// Makes later calls use a new connection, because the current connection is unreliable. Current calls continue.
  func reconnect()
  /// The sizes of the streams' messages so far; `nil` for a backend whose messages are not encoded.
  var traffic: DatastoreTraffic? { get }
}

extension Datastore {
  package var canFallSilent: Bool { true }
  package var answersInProcess: Bool { false }
  package var loop: (any WorkLoop & TaskExecutor)? { nil }
  package func followCommits(deliver: @Sendable (CommitUpdate) async -> Void) async throws(RPCStatus) {
    throw RPCStatus(.unimplemented, "This backend does not report commits.")
  }
  /// Does nothing by default, as in a datastore without connections.
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
  /// The stream is open and accepts requests. The client counts as online only after the first message.
  case opened
  /// The changes in the order of their arrival; never empty.
  case changes([WatchChange])
}

package enum WriteEvent: Sendable {
  /// The handshake is complete. Batches may be sent.
  case opened(streamToken: [UInt8])
  case committed(streamToken: [UInt8], CommitResponse)
}

/// One batch to send.
package struct WriteRequest: Sendable {
  package var streamToken: [UInt8]
  package var mutations: [Mutation]
  /// The id by which a backend with stored responses recognizes a batch that is resent after a lost response.
  package var requestID: WriteRequestID?

  package init(streamToken: [UInt8], mutations: [Mutation], requestID: WriteRequestID? = nil) {
    self.streamToken = streamToken
    self.mutations = mutations
    self.requestID = requestID
  }
}

/// The permanent id of a batch. Stream tokens cannot serve as ids: a new stream starts without a token, and pipelined
/// batches share one.
package struct WriteRequestID: Hashable, Sendable {
  /// The sender that repeats a request until it gets the response.
  package enum Sender: Hashable, Sendable {
    /// A cache, which stores its batches and may return after days.
    case cache
    /// A stream, which is resumed soon or never.
    case stream
  }

  /// A random number of the sender. A cache combines its identity and the batch's generation. So ids also differ after
  /// a cache restarts its numbering or is restored to an earlier state.
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

/// The requests to send on a stream. They are read when there is room. Ends with `nil`, also on cancellation.
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
