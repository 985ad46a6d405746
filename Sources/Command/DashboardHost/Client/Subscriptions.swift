// SPDX-License-Identifier: Apache-2.0
import ClientPort
import Dashboard
import DashboardModel
import FirestoreClientState
import FirestoreLocal
import FirestoreModel
import FirestoreQuery
import FirestoreSync

/// The results that a dashboard has open, by id.
@MainActor
struct Subscriptions {
  enum ID: Hashable {
    case listener(ListenerTag)
    case window(WindowTag)
    case detail(DocumentKey)
  }

  private enum Subscription {
    case listening(ListenerID, SnapshotMailbox, Task<Void, Never>)
    /// A result that is read from the cache. It is read again for each element of the stream.
    case reading(AsyncStream<Void>.Continuation, Task<Void, Never>)
  }

  private let engine: SyncEngine
  /// Whether results are read from the cache. If so, the client opens no listeners.
  let readsCache: Bool
  private var open: [ID: Subscription] = [:]

  init(_ engine: SyncEngine, readsCache: Bool) { (self.engine, self.readsCache) = (engine, readsCache) }

  func isOpen(_ id: ID) -> Bool { open[id] != nil }

  mutating func open(
    _ id: ID, _ query: Query, _ options: ListenerOptions = ListenerOptions(includeMetadataChanges: true),
    _ handle: @escaping @MainActor (SnapshotMailbox.Element) -> Void
  ) {
    if readsCache { return read(id, query, handle) }
    let mailbox = SnapshotMailbox()
    let listener = engine.listen(to: query, options: options, into: mailbox)
    let reading = Task { while let element = await mailbox.next() { handle(element) } }
    open[id] = .listening(listener, mailbox, reading)
  }

  private mutating func read(
    _ id: ID, _ query: Query, _ handle: @escaping @MainActor (SnapshotMailbox.Element) -> Void
  ) {
    close(id)
    // Changes during a read cause one more read.
    let (changes, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    continuation.yield()
    let reading = Task { [engine] in
      for await _ in changes {
        // A client that has ended returns nothing, and the screen keeps its content.
        guard let snapshot = try? await engine.cachedSnapshot(query), !Task.isCancelled else { continue }
        handle(.snapshot(snapshot))
      }
    }
    open[id] = .reading(continuation, reading)
  }

  /// Reads the results from the cache again.
  func readAgain() {
    for case .reading(let continuation, _) in open.values { continuation.yield() }
  }

  /// Removes a listener that the engine has ended.
  mutating func forget(_ id: ID) { open[id] = nil }

  mutating func close(_ id: ID) {
    switch open.removeValue(forKey: id) {
    case .listening(let listener, let mailbox, let reading)?:
      engine.stopListening(listener)
      mailbox.finish()
      reading.cancel()
    case .reading(let continuation, let reading)?:
      continuation.finish()
      reading.cancel()
    case nil: break
    }
  }

  mutating func closeAll() { for id in Array(open.keys) { close(id) } }
}
