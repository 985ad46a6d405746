// SPDX-License-Identifier: Apache-2.0
package import FirestoreClientState
import FirestoreLocal
package import FirestoreModel
import FirestoreQuery
import Synchronization

/// The events of all listeners of an engine, and its writes if requested, for an external observer. The queue has
/// a limited size: if it is full, snapshots are only counted. The engine never waits for the observer.
package final class ListenerTap: Sendable {
  package enum Event: Sendable {
    case opened(ListenerState)
    case snapshot(ListenerID, ViewSnapshot, at: Timestamp)
    /// The listener has ended. If there is a status, this error ended the listener.
    case ended(ListenerID, RPCStatus?)
    /// A write was queued. The documents are the cached ones just before the write; uncached documents are omitted.
    case wrote(BatchID, [Mutation], over: [DocumentKey: Document])
  }

  private struct State {
    var unread: [Event] = []
    var missed = 0
    var isCounting = false
    /// Whether `wake` was called since the last `take`.
    var isAwake = false
    /// The listeners that the observer sees. Listeners for one-time reads are excluded.
    var known: Set<ListenerID> = []
  }

  /// The maximum number of waiting snapshots. They use little memory, because they share most documents with the views.
  private static let capacity = 512

  private let state = Mutex(State())
  private let seesWrites: Bool
  private let wake: @Sendable () -> Void

  /// - Parameters:
  ///   - seesWrites: whether the observer wants each write with the documents that its author saw.
  ///   - wake: called when the first event is ready for `take`. It is not called again until `take` has removed the
  ///     events. It must return immediately.
  package init(seesWrites: Bool = false, wake: @escaping @Sendable () -> Void) {
    (self.seesWrites, self.wake) = (seesWrites, wake)
  }

  /// Sets whether snapshots are only counted, not stored.
  package func setCounting(_ isCounting: Bool) { state.withLock { $0.isCounting = isCounting } }

  /// Removes and returns all waiting events, and the number of dropped snapshots since the last call.
  package func take() -> (news: [Event], missed: Int) {
    state.withLock { state in
      defer { (state.unread, state.missed, state.isAwake) = ([], 0, false) }
      return (state.unread, state.missed)
    }
  }

  func open(_ listener: ListenerState) {
    guard !listener.options.waitForSyncWhenOnline else { return }
    change { state in
      state.known.insert(ListenerID(listener.id))
      state.unread.append(.opened(listener))
    }
  }

  func deliver(_ deliveries: [SnapshotDelivery], at time: Timestamp) {
    change { state in
      for delivery in deliveries where state.known.contains(delivery.listener) {
        if state.isCounting || state.unread.count >= Self.capacity {
          state.missed += 1
        } else {
          state.unread.append(.snapshot(delivery.listener, delivery.snapshot, at: time))
        }
      }
    }
  }

  func end(_ listeners: [ListenerID], _ status: RPCStatus?) {
    change { state in
      for id in listeners where state.known.remove(id) != nil { state.unread.append(.ended(id, status)) }
    }
  }

  /// Makes a write, and adds it with the documents that it changes.
  func write<Failure: Error>(
    _ mutations: [Mutation], in core: inout SyncCore, _ write: (inout SyncCore) throws(Failure) -> BatchID
  ) throws(Failure) -> BatchID {
    guard seesWrites else { return try write(&core) }
    var seen: [DocumentKey: Document] = [:]
    for key in Set(mutations.map(\.key)) {
      // A document that cannot be read is omitted, like an uncached one.
      seen[key] = (try? core.store.document(key)) ?? nil
    }
    let batch = try write(&core)
    change { state in
      guard state.unread.count < Self.capacity else { return }
      state.unread.append(.wrote(batch, mutations, over: seen))
    }
    return batch
  }

  private func change(_ body: (inout State) -> Void) {
    let isNews = state.withLock { state in
      body(&state)
      guard !state.isAwake, !state.unread.isEmpty || state.missed > 0 else { return false }
      state.isAwake = true
      return true
    }
    if isNews { wake() }
  }
}

// The listeners' states for an external observer.
extension SyncEngine {
  /// Sets the tap that receives all events of the listeners, beginning with the existing listeners; `nil` removes the
  /// tap.
  package nonisolated func setTap(_ tap: ListenerTap?) {
    submit { engine in
      engine.tap = tap
      for state in engine.core?.listenerStates ?? [] { tap?.open(state) }
    }
  }

  /// The current listeners, except listeners for one-time reads.
  package func listenerStates() -> [ListenerState] {
    (core?.listenerStates ?? []).filter { !$0.options.waitForSyncWhenOnline }
  }
}

extension SyncCore {
  /// The listeners' states, in ascending order of their ids.
  fileprivate var listenerStates: [ListenerState] {
    listens.listeners.all.compactMap { listener in
      listens.views.read(listener.view) { view in
        var result = ListenerState.Result()
        if listener.hasRaisedInitialEvent {
          let snapshot = view.snapshot(causes: [])
          result = ListenerState.Result(
            count: snapshot.documents.count, isFromCache: snapshot.isFromCache,
            hasPendingWrites: snapshot.hasPendingWrites)
        }
        return ListenerState(
          id: listener.id.rawValue, query: view.query, options: listener.options, result: result)
      }
    }
  }
}

extension SyncEngine {
  /// Yields one element at the start. After each change, yields one element once all affected listeners have received
  /// their snapshots.
  package nonisolated func snapshotsInSync() -> AsyncStream<Void> {
    AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
      submit { engine in
        guard engine.core != nil else { return continuation.finish() }
        engine.observerCount += 1
        let id = engine.observerCount
        engine.syncObservers[id] = continuation
        continuation.onTermination = { _ in self.submit { $0.syncObservers[id] = nil } }
        continuation.yield()
      }
    }
  }
}
