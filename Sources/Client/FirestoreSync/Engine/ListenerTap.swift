// SPDX-License-Identifier: Apache-2.0
package import FirestoreClientState
package import FirestoreModel
import Synchronization

/// The events of all listeners of an engine, for an observer outside. Bounded: events without room are counted, and the
/// engine never waits.
package final class ListenerTap: Sendable {
  package enum News: Sendable {
    case opened(ListenerState)
    case snapshot(ListenerID, ViewSnapshot, at: Timestamp)
    /// The listener is over; with a status, it failed.
    case ended(ListenerID, RPCStatus?)
  }

  private struct State {
    var unread: [News] = []
    var missed = 0
    var isCounting = false
    /// Whether `wake` was called since the last `take`.
    var isAwake = false
    /// The listeners that an observer sees: all but those of single reads.
    var known: Set<ListenerID> = []
  }

  /// The number of snapshots that may wait: most of their documents are in the views as well.
  private static let capacity = 512

  private let state = Mutex(State())
  private let wake: @Sendable () -> Void

  /// - Parameter wake: called once when there is something to `take`, and again only after that is taken. Must return
  ///   at once.
  package init(wake: @escaping @Sendable () -> Void) { self.wake = wake }

  /// While set, snapshots are counted and not kept.
  package func setCounting(_ isCounting: Bool) { state.withLock { $0.isCounting = isCounting } }

  /// Takes all waiting events, and the number of snapshots that found no room since the last time.
  package func take() -> (news: [News], missed: Int) {
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
