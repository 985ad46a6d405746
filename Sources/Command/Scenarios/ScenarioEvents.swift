// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// The events of one client that were not yet matched, in order. One reader. It holds the newest ten thousand events; a
/// scenario that causes more between two steps loses the oldest.
final class ScenarioEvents: Sendable {
  private static let limit = 10_000

  private struct State {
    var unread: [ScenarioEvent] = []
    var waiter: CheckedContinuation<Void, Never>?
  }

  private let state = Mutex(State())

  func put(_ event: ScenarioEvent) {
    wake { state in
      state.unread.append(event)
      if state.unread.count > Self.limit { state.unread.removeFirst() }
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
  var rest: [ScenarioEvent] { state.withLock { $0.unread } }

  /// - Returns: the next event; `nil` if the task is cancelled before there is one.
  func next() async -> ScenarioEvent? {
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
