// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// What has happened and was not looked at yet, in order. One reader. Holds the newest ten thousand events; a scenario
/// that makes more between two steps loses the oldest.
final class ScenarioEvents: Sendable {
  private static let limit = 10_000

  private struct State {
    var unread: [ScenarioEvent] = []
    /// Why there will be no more events.
    var failure: CommandFailure?
    var waiter: CheckedContinuation<Void, Never>?
  }

  private let state = Mutex(State())

  func put(_ event: ScenarioEvent) {
    wake { state in
      state.unread.append(event)
      if state.unread.count > Self.limit { state.unread.removeFirst() }
    }
  }

  /// Ends the events with an error, read after those that are there.
  func fail(_ failure: CommandFailure) {
    wake { $0.failure = $0.failure ?? failure }
  }

  private func wake(after change: (inout State) -> Void) {
    let waiter = state.withLock { state in
      change(&state)
      defer { state.waiter = nil }
      return state.waiter
    }
    waiter?.resume()
  }

  /// What was not looked at.
  var rest: [ScenarioEvent] { state.withLock { $0.unread } }

  /// - Returns: the next event; `nil` if the task is cancelled before there is one.
  func next() async throws(CommandFailure) -> ScenarioEvent? {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isReady = state.withLock { state in
          if Task.isCancelled || !state.unread.isEmpty || state.failure != nil { return true }
          state.waiter = continuation
          return false
        }
        if isReady { continuation.resume() }
      }
    } onCancel: {
      wake { _ in }
    }
    let (event, failure) = state.withLock { state in
      (state.unread.isEmpty ? nil : state.unread.removeFirst(), state.failure)
    }
    if event == nil, let failure { throw failure }
    return event
  }
}
