// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// A clock without time: short waits (of a backoff) are over at once, long ones (idle and clean-up timers) when the run
/// says so. At rest nothing that leads to it is waited for, however long a backoff has become.
final class RunClock: Clock {
  struct Instant: InstantProtocol {
    var offset: Duration
    func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
    func duration(to other: Instant) -> Duration { other.offset - offset }
    static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
  }

  private struct State {
    var isAtRest = false
    var sleepers: [Int: (deadline: Duration, continuation: CheckedContinuation<Void, any Error>)] = [:]
    var cancelled: Set<Int> = []
    var count = 0

    var patience: Duration { isAtRest ? RunClock.longestBackoff : .seconds(10) }

    mutating func takeSleepers(upTo limit: Duration?) -> [CheckedContinuation<Void, any Error>] {
      let due = sleepers.filter { sleeper in limit.map { sleeper.value.deadline < $0 } ?? true }
      for id in due.keys { sleepers[id] = nil }
      return due.values.map(\.continuation)
    }
  }

  /// 60 s and half of them.
  private static let longestBackoff = Duration.seconds(100)
  private let state = Mutex(State())

  var now: Instant { Instant(offset: .zero) }
  var minimumResolution: Duration { .zero }

  func sleep(until deadline: Instant, tolerance: Duration?) async throws {
    try Task.checkCancellation()
    let id = state.withLock { state in
      state.count += 1
      return state.count
    }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
        let result = state.withLock { state -> Result<Void, any Error>? in
          if state.cancelled.remove(id) != nil { return .failure(CancellationError()) }
          if deadline.offset < state.patience { return .success(()) }
          state.sleepers[id] = (deadline.offset, continuation)
          return nil
        }
        if let result { continuation.resume(with: result) }
      }
    } onCancel: {
      let sleeper = state.withLock { state in
        if state.sleepers[id] == nil { state.cancelled.insert(id) }
        return state.sleepers.removeValue(forKey: id)
      }
      sleeper?.continuation.resume(throwing: CancellationError())
    }
  }

  /// Lets everything come due that is waited for.
  func pass() { for sleeper in state.withLock({ $0.takeSleepers(upTo: nil) }) { sleeper.resume() } }

  func rest(_ isAtRest: Bool) {
    let due = state.withLock { state in
      state.isAtRest = isAtRest
      return isAtRest ? state.takeSleepers(upTo: Self.longestBackoff) : []
    }
    for sleeper in due { sleeper.resume() }
  }
}
