// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
package import SerialExecutors

/// The single interface to a backend: the embedded one, any google.firestore.v1 server, or a wrapper that injects
/// faults.
///
/// A stream runs inside the call. It ends when the caller's task is canceled (reading and delivery have then stopped
/// when the call returns), when `requests` ends, or with the backend's status.
package protocol Datastore: Sendable {
  /// Runs one watch stream.
  /// - Parameters:
  ///   - requests: the requests to send, pulled one at a time, in order.
  ///   - deliver: receives the events since the last call; awaited before more is read than fits into memory, so that a
  ///     slow consumer applies backpressure.
  /// - Throws: `RPCStatus`, also for an end without an error (`unavailable`), since a watch stream never ends on its
  ///   own.
  func watch(
    requests: StreamRequests<WatchRequest>, deliver: @Sendable (WatchEvent) async -> Void
  ) async throws(RPCStatus)

  /// Runs one write stream: handshake, then one response per request, in order.
  func write(
    requests: StreamRequests<WriteRequest>, deliver: @Sendable (WriteEvent) async -> Void
  ) async throws(RPCStatus)

  /// Applies mutations atomically, outside of the stream.
  func commit(_ mutations: [Mutation]) async throws(RPCStatus) -> CommitResponse
  /// Answers a read or forwards it.
  func read<Read: DatastoreRead>(_ read: Read) async throws(RPCStatus) -> Read.Answer
  /// Visits the documents at any depth below a path, in key order.
  /// - Parameter deliver: receives the documents since the last call, and returns whether to continue; awaited before
  ///   more is read than fits into memory.
  /// - Throws: `unimplemented` if the backend has no such query.
  func visitDescendants(
    _ request: DescendantsRequest, deliver: @escaping @Sendable ([Document]) async -> Bool
  ) async throws(RPCStatus)

  /// Reports every commit to the database, by collection, until canceled. The first notification states that everything
  /// may have changed.
  /// - Parameter deliver: receives the changes since the last call; awaited while more are collected.
  /// - Throws: `unimplemented` if the backend does not report commits, `permission-denied`; `cancelled`.
  func followCommits(deliver: @Sendable (CommitUpdate) async -> Void) async throws(RPCStatus)

  /// Whether the peer can be gone, or stuck, without an end of the watch stream.
  var canFallSilent: Bool { get }
  /// Whether streams pass values within this process, so that no decoding takes place outside the caller's work.
  var answersInProcess: Bool { get }
  /// The thread that sends and receives the messages of streams, which is also the best thread for a client's engine;
  /// `nil` if there is no single one.
  var loop: (any WorkLoop & TaskExecutor)? { get }
  /// Makes later calls use a new connection, because the current one is unreliable. Current calls continue.
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
  /// Has no effect in a datastore without connections.
  package func reconnect() {}
  package var traffic: DatastoreTraffic? { nil }
}

/// The sizes of the messages of both kinds of streams in bytes, including the five-byte prefix of each and excluding
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
  /// The stream is open and accepts requests. This does not mean that the client is online; only a message does.
  case opened
  /// The changes in the order of their arrival; never empty.
  case changes([WatchChange])
}

package enum WriteEvent: Sendable {
  /// The handshake is answered; batches may be sent.
  case opened(streamToken: [UInt8])
  case committed(streamToken: [UInt8], CommitResponse)
}

/// One batch to send.
package struct WriteRequest: Sendable {
  package var streamToken: [UInt8]
  package var mutations: [Mutation]
  /// The id that lets a backend with stored responses recognize a batch sent again after a lost response.
  package var requestID: WriteRequestID?

  package init(streamToken: [UInt8], mutations: [Mutation], requestID: WriteRequestID? = nil) {
    self.streamToken = streamToken
    self.mutations = mutations
    self.requestID = requestID
  }
}

/// The permanent id of a batch. Stream tokens cannot serve as one: a new stream starts without one, and pipelined
/// batches share one.
package struct WriteRequestID: Hashable, Sendable {
  /// The sender, which repeats a request without a response.
  package enum Sender: Hashable, Sendable {
    /// A cache, which stores its batches and may return after days.
    case cache
    /// A stream, which is resumed soon or never.
    case stream
  }

  /// The sender's random number. A cache combines its identity and the batch's generation, so that a cache that
  /// restarts its numbering, or is restored to an earlier state, creates different ids.
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

/// The requests to send on a stream, pulled when there is room. Ends with `nil`, also on cancellation.
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
