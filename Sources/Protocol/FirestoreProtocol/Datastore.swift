// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
package import SerialExecutors

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
  /// Answers a read, or passes it on.
  func read<Read: DatastoreRead>(_ read: Read) async throws(RPCStatus) -> Read.Answer
  /// Visits the documents at any depth below a path, in the order of their keys.
  /// - Parameter deliver: receives the documents since the last call, and returns whether to go on; awaited before more
  ///   is read than fits into memory.
  /// - Throws: `unimplemented` if the backend has no such query.
  func visitDescendants(
    _ request: DescendantsRequest, deliver: @escaping @Sendable ([Document]) async -> Bool
  ) async throws(RPCStatus)

  /// Tells of every commit to the database, by collection, until cancelled. The first news is that everything may have
  /// changed.
  /// - Parameter deliver: receives the news since the last call; awaited, while more is gathered.
  /// - Throws: `unimplemented` if the backend tells of no commits, `permission-denied`; `cancelled`.
  func followCommits(deliver: @Sendable (CommitNews) async -> Void) async throws(RPCStatus)

  /// Whether the other end can be gone, or stuck, while the watch stream does not end.
  var canFallSilent: Bool { get }
  /// Whether streams carry values of this process, so that there is nothing to be decoded beside the caller's own work.
  var answersInProcess: Bool { get }
  /// The thread on which the messages of streams come and go, on which a client's engine is best run, too; `nil` if no one
  /// thread has them.
  var loop: (any WorkLoop & TaskExecutor)? { get }
  /// Makes later calls use a new connection, because the present one is not to be trusted. Calls under way go on.
  func reconnect()
  /// The sizes of the streams' messages so far; `nil` for a backend whose messages do not become bytes.
  var traffic: DatastoreTraffic? { get }
}

extension Datastore {
  package var canFallSilent: Bool { true }
  package var answersInProcess: Bool { false }
  package var loop: (any WorkLoop & TaskExecutor)? { nil }
  package func followCommits(deliver: @Sendable (CommitNews) async -> Void) async throws(RPCStatus) {
    throw RPCStatus(.unimplemented, "This backend tells of no commits.")
  }
  /// Does nothing, for a datastore without connections.
  package func reconnect() {}
  package var traffic: DatastoreTraffic? { nil }
}

/// The sizes of the messages of both kinds of streams, in bytes, with the five in front of each and without what the
/// transport adds.
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
