// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// A clock that moves only when told to. Tests wait for sleepers by counting them, never by time.
final class ManualClock: Clock {
  struct Instant: InstantProtocol {
    var offset: Duration
    func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
    func duration(to other: Instant) -> Duration { other.offset - offset }
    static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
  }

  private struct Sleeper {
    var deadline: Instant
    var continuation: CheckedContinuation<Void, any Error>
  }

  private struct State {
    var now = Instant(offset: .zero)
    var sleepers: [Int: Sleeper] = [:]
    var cancelled: Set<Int> = []
    var count = 0
    var observers: [(isWanted: @Sendable ([Duration]) -> Bool, continuation: CheckedContinuation<Void, Never>)] = []

    var remaining: [Duration] { sleepers.values.map { now.duration(to: $0.deadline) }.sorted() }

    mutating func takeSatisfied() -> [CheckedContinuation<Void, Never>] {
      let remaining = remaining
      let satisfied = observers.filter { $0.isWanted(remaining) }.map(\.continuation)
      observers.removeAll { $0.isWanted(remaining) }
      return satisfied
    }
  }

  private let state = Mutex(State())

  var now: Instant { state.withLock(\.now) }
  var minimumResolution: Duration { .zero }

  func sleep(until deadline: Instant, tolerance: Duration?) async throws {
    let id = state.withLock { state in
      state.count += 1
      return state.count
    }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
        typealias Outcome = (Result<Void, any Error>?, [CheckedContinuation<Void, Never>])
        let (result, satisfied) = state.withLock { state -> Outcome in
          if state.cancelled.remove(id) != nil { return (.failure(CancellationError()), []) }
          if deadline <= state.now { return (.success(()), []) }
          state.sleepers[id] = Sleeper(deadline: deadline, continuation: continuation)
          return (nil, state.takeSatisfied())
        }
        for observer in satisfied { observer.resume() }
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

  /// Returns when somebody sleeps for exactly this long from now.
  func waitForSleeper(_ duration: Duration) async {
    await wait { $0.contains(duration) }
  }

  /// Returns when the durations of all sleepers, ascending, are as wanted.
  func wait(until isWanted: @escaping @Sendable ([Duration]) -> Bool) async {
    await withCheckedContinuation { continuation in
      let isReady = state.withLock { state in
        if isWanted(state.remaining) { return true }
        state.observers.append((isWanted, continuation))
        return false
      }
      if isReady { continuation.resume() }
    }
  }

  func advance(by duration: Duration) {
    let due = state.withLock { state in
      state.now = state.now.advanced(by: duration)
      let now = state.now
      let due = state.sleepers.filter { $0.value.deadline <= now }.sorted { $0.value.deadline < $1.value.deadline }
      for (id, _) in due { state.sleepers[id] = nil }
      return due.map(\.value.continuation)
    }
    for continuation in due { continuation.resume() }
  }
}
