// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
package import FirestoreProtocol
package import Synchronization

/// A backend that a test plays: it takes the streams that the client opens, reads requests and sends answers.
package final class ScriptedDatastore: Datastore {
  package let watches = Inbox<Connection<WatchRequest, WatchEvent>>()
  package let writes = Inbox<Connection<WriteRequest, WriteEvent>>()
  /// The state of write streams: open at once (`true`), or without an answer.
  package let opensWrites = Mutex(true)

  package init() {}

  package final class Connection<Request: Sendable, Event: Sendable>: Sendable {
    private struct Item: Sendable {
      var event: Event
      var delivered: @Sendable () -> Void
    }

    private let items = Inbox<Item>()
    private let sent = Inbox<Request>()
    private let ended = Inbox<Void>()
    private let status = Mutex<RPCStatus?>(nil)

    /// The next request; `nil` after the client has ended the stream.
    package func request() async -> Request? { await sent.next() }

    /// Returns when the client has taken the event.
    package func send(_ event: Event) async {
      await withCheckedContinuation { continuation in
        items.put(Item(event: event) { continuation.resume() })
      }
    }

    package func fail(_ status: RPCStatus) {
      self.status.withLock { $0 = status }
      items.finish()
    }

    /// Returns when the client no longer uses the stream.
    package func waitForEnd() async { _ = await ended.next() }

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

  package func watch(
    requests: StreamRequests<WatchRequest>, deliver: @Sendable (WatchEvent) async -> Void
  ) async throws(RPCStatus) {
    let connection = Connection<WatchRequest, WatchEvent>()
    watches.put(connection)
    try await connection.run(requests, .opened, deliver)
  }

  package func write(
    requests: StreamRequests<WriteRequest>, deliver: @Sendable (WriteEvent) async -> Void
  ) async throws(RPCStatus) {
    let connection = Connection<WriteRequest, WriteEvent>()
    let opensWrites = opensWrites.withLock { $0 }
    writes.put(connection)
    try await connection.run(requests, opensWrites ? .opened(streamToken: [1]) : nil, deliver)
  }

  private static let unasked = RPCStatus(.unimplemented, "The test does not play this call.")
  package func commit(_ mutations: [Mutation]) async throws(RPCStatus) -> CommitResponse { throw Self.unasked }
  package func read<Read: DatastoreRead>(_ read: Read) async throws(RPCStatus) -> Read.Answer { throw Self.unasked }
  package func visitDescendants(
    _ request: DescendantsRequest, deliver: @escaping @Sendable ([Document]) async -> Bool
  ) async throws(RPCStatus) { throw Self.unasked }
}
