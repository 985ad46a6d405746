// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// Events that were not yet read, in order. One reader. It holds the newest ten thousand; of more the oldest are lost.
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

  /// The events that were not read.
  package var rest: [Event] { state.withLock { $0.unread } }

  /// - Returns: the next event; `nil` if the task is cancelled before there is one.
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
