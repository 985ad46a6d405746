// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
import Synchronization

/// A backend that a test plays: it takes the streams that the client opens, reads requests and sends answers.
final class ScriptedDatastore: Datastore {
  let watches = Inbox<Connection<WatchRequest, WatchEvent>>()
  let writes = Inbox<Connection<WriteRequest, WriteEvent>>()
  /// Whether write streams are open at once; otherwise nobody is at the other end.
  let opensWrites = Mutex(true)

  final class Connection<Request: Sendable, Event: Sendable>: Sendable {
    private struct Item: Sendable {
      var event: Event
      var delivered: @Sendable () -> Void
    }

    private let items = Inbox<Item>()
    private let sent = Inbox<Request>()
    private let ended = Inbox<Void>()
    private let status = Mutex<RPCStatus?>(nil)

    /// The next request; `nil` after the client has ended the stream.
    func request() async -> Request? { await sent.next() }

    /// Returns when the client has taken the event.
    func send(_ event: Event) async {
      await withCheckedContinuation { continuation in
        items.put(Item(event: event) { continuation.resume() })
      }
    }

    func fail(_ status: RPCStatus) {
      self.status.withLock { $0 = status }
      items.finish()
    }

    /// Returns when the client no longer uses the stream.
    func waitForEnd() async { _ = await ended.next() }

    fileprivate func run(
      _ requests: StreamRequests<Request>, _ opened: Event?, _ deliver: @Sendable (Event) async -> Void
    ) async throws(RPCStatus) {
      await withTaskGroup { group in
        group.addTask {
          for await request in requests { self.sent.put(request) }
          self.sent.finish()
        }
        if let opened { await deliver(opened) }
        while let item = await items.next() {
          await deliver(item.event)
          item.delivered()
        }
        group.cancelAll()
      }
      ended.finish()
      throw status.withLock { $0 } ?? RPCStatus(.cancelled, "The client ended the stream.")
    }
  }

  func watch(
    requests: StreamRequests<WatchRequest>, deliver: @Sendable (WatchEvent) async -> Void
  ) async throws(RPCStatus) {
    let connection = Connection<WatchRequest, WatchEvent>()
    watches.put(connection)
    try await connection.run(requests, .opened, deliver)
  }

  func write(
    requests: StreamRequests<WriteRequest>, deliver: @Sendable (WriteEvent) async -> Void
  ) async throws(RPCStatus) {
    let connection = Connection<WriteRequest, WriteEvent>()
    let opensWrites = opensWrites.withLock { $0 }
    writes.put(connection)
    try await connection.run(requests, opensWrites ? .opened(streamToken: [1]) : nil, deliver)
  }

  private static let unasked = RPCStatus(.unimplemented, "The test does not play this call.")
  func commit(_ mutations: [Mutation]) async throws(RPCStatus) -> CommitResponse { throw Self.unasked }
  func lookup(_ keys: [DocumentKey]) async throws(RPCStatus) -> [Document] { throw Self.unasked }
  func runQuery(_ target: Target) async throws(RPCStatus) -> [Document] { throw Self.unasked }
  func aggregate(
    _ target: Target, _ aggregations: [Aggregation]
  ) async throws(RPCStatus) -> [String: Value] { throw Self.unasked }
  func listCollectionIDs(below parent: ResourcePath) async throws(RPCStatus) -> [String] { throw Self.unasked }
}
