// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import Synchronization

/// A result that is set once. Any number of callers can wait for it, before or after it is set.
final class OneShot<Success: Sendable>: Sendable {
  private typealias Waiter = @Sendable (Result<Success, RPCStatus>) -> Void

  private struct State: Sendable {
    var result: Result<Success, RPCStatus>?
    var waiters: [Waiter] = []
  }

  private let state = Mutex(State())

  /// Sets the result, unless it was already set. Before returning, calls the waiters in the order of their
  /// registration.
  func resolve(_ result: Result<Success, RPCStatus>) {
    let waiters = state.withLock { state -> [Waiter] in
      guard state.result == nil else { return [] }
      state.result = result
      defer { state.waiters = [] }
      return state.waiters
    }
    for waiter in waiters { waiter(result) }
  }

  /// Calls `waiter` with the result, immediately if the result is already set.
  func whenResolved(_ waiter: @escaping @Sendable (Result<Success, RPCStatus>) -> Void) {
    let ready = state.withLock { state -> Result<Success, RPCStatus>? in
      if state.result == nil { state.waiters.append(waiter) }
      return state.result
    }
    if let ready { waiter(ready) }
  }

  /// - Throws: the result's failure, or `cancelled` if the task is canceled before the result is set.
  var value: Success {
    get async throws(RPCStatus) {
      let reader = OneShotReader<Success>()
      whenResolved { reader.finish($0) }
      let result = await withTaskCancellationHandler {
        await reader.result()
      } onCancel: {
        reader.finish(.failure(RPCStatus(.cancelled, "The waiting task was canceled.")))
      }
      return try result.get()
    }
  }
}

/// One task that waits for a result. The wait ends with the result or with the task's cancellation, whichever comes
/// first.
private final class OneShotReader<Success: Sendable>: Sendable {
  private struct State {
    var result: Result<Success, RPCStatus>?
    var continuation: CheckedContinuation<Result<Success, RPCStatus>, Never>?
  }

  private let state = Mutex(State())

  func finish(_ result: Result<Success, RPCStatus>) {
    let continuation = state.withLock { state -> CheckedContinuation<Result<Success, RPCStatus>, Never>? in
      guard state.result == nil else { return nil }
      state.result = result
      return state.continuation.take()
    }
    continuation?.resume(returning: result)
  }

  func result() async -> Result<Success, RPCStatus> {
    await withCheckedContinuation { continuation in
      let ready = state.withLock { state in
        if state.result == nil { state.continuation = continuation }
        return state.result
      }
      if let ready { continuation.resume(returning: ready) }
    }
  }
}

/// Wakes a single waiter. Several signals before a wait count as one, because the waiter fetches everything that is
/// available.
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

  /// Returns when the signal is raised or the task is canceled.
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

/// A reader of the client's status. It exists until its stream ends.
struct StatusObserver {
  weak var signal: Signal?
}
