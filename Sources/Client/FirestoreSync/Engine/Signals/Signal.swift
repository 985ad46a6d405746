// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// Wakes one waiter. Raising it several times before a wait is raising it once: the waiter pulls all there is.
final class Signal: Sendable {
  private struct State: Sendable {
    var isRaised = false
    var waiter: CheckedContinuation<Void, Never>?
  }

  private let state = Mutex(State())

  func raise() {
    let waiter = state.withLock { state in
      state.isRaised = state.waiter == nil
      return state.waiter.take()
    }
    waiter?.resume()
  }

  /// Returns when raised, or when the task is cancelled.
  func wait() async {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isReady = state.withLock { state in
          if state.isRaised || Task.isCancelled {
            state.isRaised = false
            return true
          }
          state.waiter = continuation
          return false
        }
        if isReady { continuation.resume() }
      }
    } onCancel: {
      raise()
    }
  }
}

/// A reader of the status, for as long as the stream is kept.
struct StatusObserver {
  weak var signal: Signal?
}
