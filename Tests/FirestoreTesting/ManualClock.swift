// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// A clock that moves only when told to. Tests wait for sleepers by counting them, never by time.
///
/// A clock with patience lets waits pass that are shorter, as if they were over as they begin, and holds the others: on one
/// that never moves, backoffs pass while idle and clean-up timers wait for the test.
package final class ManualClock: Clock {
  package struct Instant: InstantProtocol {
    package var offset: Duration
    package func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
    package func duration(to other: Instant) -> Duration { other.offset - offset }
    package static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
  }

  private struct Sleeper {
    var deadline: Instant
    var continuation: CheckedContinuation<Void, any Error>
  }

  private struct State {
    var now = Instant(offset: .zero)
    var patience: Duration
    var sleepers: [Int: Sleeper] = [:]
    var cancelled: Set<Int> = []
    var delays: [Duration] = []
    var observers: [(isWanted: @Sendable ([Duration]) -> Bool, continuation: CheckedContinuation<Void, Never>)] = []

    var remaining: [Duration] { sleepers.values.map { now.duration(to: $0.deadline) }.sorted() }

    func isOver(_ deadline: Instant) -> Bool { deadline <= now || now.duration(to: deadline) < patience }

    mutating func takeSatisfied() -> [CheckedContinuation<Void, Never>] {
      let remaining = remaining
      let satisfied = observers.filter { $0.isWanted(remaining) }.map(\.continuation)
      observers.removeAll { $0.isWanted(remaining) }
      return satisfied
    }

    /// The sleepers whose wait is over, in the order of their deadlines.
    mutating func takeDue() -> [CheckedContinuation<Void, any Error>] {
      let due = sleepers.filter { isOver($0.value.deadline) }.sorted { $0.value.deadline < $1.value.deadline }
      for (id, _) in due { sleepers[id] = nil }
      return due.map(\.value.continuation)
    }
  }

  private let state: Mutex<State>

  /// - Parameter patience: The length from which on waits are held.
  package init(patience: Duration = .zero) { state = Mutex(State(patience: patience)) }

  package var now: Instant { state.withLock(\.now) }
  package var minimumResolution: Duration { .zero }

  /// The lengths of all waits that began, in their order.
  package var delays: [Duration] { state.withLock(\.delays) }

  package func sleep(until deadline: Instant, tolerance: Duration?) async throws {
    let id = state.withLock { state in
      state.delays.append(state.now.duration(to: deadline))
      return state.delays.count
    }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
        typealias Outcome = (Result<Void, any Error>?, [CheckedContinuation<Void, Never>])
        let (result, satisfied) = state.withLock { state -> Outcome in
          if state.cancelled.remove(id) != nil { return (.failure(CancellationError()), []) }
          if state.isOver(deadline) { return (.success(()), []) }
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

  /// Returns when a sleeper sleeps for exactly this long from now.
  package func waitForSleeper(_ duration: Duration) async {
    await wait { $0.contains(duration) }
  }

  /// Returns when the durations of all sleepers, ascending, are as wanted.
  package func wait(until isWanted: @escaping @Sendable ([Duration]) -> Bool) async {
    await withCheckedContinuation { continuation in
      let isReady = state.withLock { state in
        if isWanted(state.remaining) { return true }
        state.observers.append((isWanted, continuation))
        return false
      }
      if isReady { continuation.resume() }
    }
  }

  package func advance(by duration: Duration) {
    wake { $0.now = $0.now.advanced(by: duration) }
  }

  /// Lets waits pass that are shorter than this, also those that have begun, and holds longer ones from here on.
  package func setPatience(_ patience: Duration) {
    wake { $0.patience = patience }
  }

  /// Ends every wait that has begun.
  package func pass() {
    let sleepers = state.withLock { state in
      defer { state.sleepers = [:] }
      return state.sleepers.values.sorted { $0.deadline < $1.deadline }
    }
    for sleeper in sleepers { sleeper.continuation.resume() }
  }

  private func wake(_ change: (inout State) -> Void) {
    let due = state.withLock { state in
      change(&state)
      return state.takeDue()
    }
    for continuation in due { continuation.resume() }
  }
}
