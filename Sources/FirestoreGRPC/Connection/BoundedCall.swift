// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// A call whose end is waited for no longer than a moment after it was cancelled or its time was over. On a connection
/// that breaks while a call is being opened, the transport can leave that call without an end, however often it is
/// cancelled; it is left behind then.
struct BoundedCall: Sendable {
  /// The call did not end when it should.
  struct LeftBehind: Error {}

  /// `nil` for a call that may last.
  var timeout: Duration?
  /// How long the call may take to end when it has to.
  var patience = Duration.seconds(2)

  func run<Answer: Sendable>(_ body: @escaping @Sendable () async throws -> Answer) async throws -> Answer {
    let end = CallEnd<Answer>()
    let running = Task {
      do { end.reach(.success(try await body())) } catch { end.reach(.failure(error)) }
    }
    let patience = patience
    let limit = timeout.map { timeout in
      Task {
        try await Task.sleep(for: timeout + patience)
        running.cancel()
        end.reach(.failure(LeftBehind()))
      }
    }
    defer { limit?.cancel() }
    return try await withTaskCancellationHandler {
      try await end.result()
    } onCancel: {
      running.cancel()
      Task {
        try await Task.sleep(for: patience)
        end.reach(.failure(LeftBehind()))
      }
    }
  }
}

/// What a call ended with, first come.
private final class CallEnd<Answer: Sendable>: Sendable {
  private struct State {
    var result: Result<Answer, any Error>?
    var waiter: CheckedContinuation<Answer, any Error>?
  }

  private let state = Mutex(State())

  func reach(_ result: Result<Answer, any Error>) {
    let waiter = state.withLock { state -> CheckedContinuation<Answer, any Error>? in
      guard state.result == nil else { return nil }
      state.result = result
      return state.waiter.take()
    }
    waiter?.resume(with: result)
  }

  /// - Precondition: called once.
  func result() async throws -> Answer {
    try await withCheckedThrowingContinuation { continuation in
      let result = state.withLock { state -> Result<Answer, any Error>? in
        if state.result == nil { state.waiter = continuation }
        return state.result
      }
      if let result { continuation.resume(with: result) }
    }
  }
}

/// Passes events on until it is closed, so that nothing is delivered for a stream that was left behind.
final class DeliveryGate<Event: Sendable>: Sendable {
  private struct State {
    var deliver: (@Sendable (Event) async -> Void)?
    var running = 0
    var closing: CheckedContinuation<Void, Never>?
  }

  private let state: Mutex<State>

  init(_ deliver: @escaping @Sendable (Event) async -> Void) { state = Mutex(State(deliver: deliver)) }

  func pass(_ event: Event) async {
    guard enter() else { return }
    await deliver(event)
    leave()
  }

  /// Waits for what is being delivered; afterwards nothing is, and the closure is let go.
  func close() async {
    await withCheckedContinuation { continuation in
      let isIdle = state.withLock { state in
        state.deliver = nil
        if state.running > 0 { state.closing = continuation }
        return state.running == 0
      }
      if isIdle { continuation.resume() }
    }
  }

  private func enter() -> Bool {
    state.withLock { state in
      guard state.deliver != nil else { return false }
      state.running += 1
      return true
    }
  }

  /// In a function of its own: with its end the closure is not held any more.
  private func deliver(_ event: Event) async {
    let deliver = state.withLock { $0.deliver }
    await deliver?(event)
  }

  private func leave() {
    let closing = state.withLock { state -> CheckedContinuation<Void, Never>? in
      state.running -= 1
      return state.running == 0 ? state.closing.take() : nil
    }
    closing?.resume()
  }
}
