// SPDX-License-Identifier: Apache-2.0
package import FirestoreClientState
package import FirestoreModel
package import FirestoreQuery
package import FirestoreSync
import Synchronization

/// A listener that reports the events that a program would receive, and also whether its result is in sync.
///
/// A listener that excludes metadata changes does not report that its result is now in sync. In this case, the probe
/// opens a second listener that includes metadata changes.
package final class ListenerProbe: Sendable {
  package enum Event: Sendable {
    /// A snapshot as the program receives it.
    case snapshot(ViewSnapshot)
    /// The listener ended with an error.
    case failed(RPCStatus)
    /// A new result with current metadata. The program's own listener may not report this result.
    case result(ViewSnapshot)
  }

  package let name: String?
  package let query: FirestoreQuery.Query
  package let isFromCacheAlone: Bool
  private let engine: SyncEngine
  private let ids: [ListenerID]
  /// The snapshots for a program's listener that excludes metadata changes; `nil` if the listener includes them.
  private let plain: SnapshotMailbox?
  private let watching: SnapshotMailbox
  private let newest = Mutex<ViewSnapshot?>(nil)

  /// Opens the listener.
  package init(to query: FirestoreQuery.Query, _ options: ListenerOptions, named name: String?, of engine: SyncEngine) {
    (self.name, self.query, self.engine) = (name, query, engine)
    isFromCacheAlone = options.source == .cache
    // The plain listener is opened first, so for each change it receives its snapshot before the other listener.
    let plain = options.includeMetadataChanges ? nil : SnapshotMailbox(capacity: 64)
    self.plain = plain
    watching = SnapshotMailbox(capacity: 64)
    var all = options
    all.includeMetadataChanges = true
    ids =
      (plain.map { [engine.listen(to: query, options: options, into: $0)] } ?? [])
      + [engine.listen(to: query, options: all, into: watching)]
  }

  /// The latest result with current metadata; `nil` before the first result.
  package var result: ViewSnapshot? { newest.withLock { $0 } }

  package func stop() { for id in ids { engine.stopListening(id) } }

  /// Reports events until the listener ends. Must be called only once.
  package func follow(_ tell: @escaping @Sendable (Event) -> Void) async {
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await self.watch(tell) }
      guard let plain else { return }
      group.addTask {
        while let element = await plain.next() { tell(Event(element)) }
      }
    }
  }

  private func watch(_ tell: @escaping @Sendable (Event) -> Void) async {
    while let element = await watching.next() {
      // Any snapshot in the plain mailbox belongs to this change or to an earlier one, so it is reported first.
      if let plain { await plain.settle() } else { tell(Event(element)) }
      guard case .snapshot(let snapshot) = element else { continue }
      newest.withLock { $0 = snapshot }
      tell(.result(snapshot))
    }
  }
}

extension ListenerProbe.Event {
  fileprivate init(_ element: SnapshotMailbox.Element) {
    switch element {
    case .snapshot(let snapshot): self = .snapshot(snapshot)
    case .failed(let status): self = .failed(status)
    }
  }
}

/// A queue of events for one reader, in order. It stores up to 10,000 events and drops the oldest ones.
package final class EventQueue<Event: Sendable>: Sendable {
  private struct State: Sendable {
    var unread: [Event] = []
    var waiter: CheckedContinuation<Void, Never>?
  }

  private let state = Mutex(State())

  package init() {}

  package func put(_ event: Event) {
    wake { state in
      state.unread.append(event)
      if state.unread.count > 10_000 { state.unread.removeFirst() }
    }
  }

  private func wake(after change: (inout State) -> Void) {
    let waiter = state.withLock { state in
      change(&state)
      defer { state.waiter = nil }
      return state.waiter
    }
    waiter?.resume()
  }

  /// The unread events.
  package var rest: [Event] { state.withLock { $0.unread } }

  /// - Returns: the next event; `nil` if the task is cancelled before an event arrives.
  package func next() async -> Event? {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isReady = state.withLock { state in
          if Task.isCancelled || !state.unread.isEmpty { return true }
          state.waiter = continuation
          return false
        }
        if isReady { continuation.resume() }
      }
    } onCancel: {
      wake { _ in }
    }
    return state.withLock { state in state.unread.isEmpty ? nil : state.unread.removeFirst() }
  }
}
