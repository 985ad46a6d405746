// SPDX-License-Identifier: Apache-2.0
import Foundation
import SerialExecutors
import Synchronization

/// A thread that runs clients, a backend and the caller in turn. The simulated time advances only when none of them has
/// work. Nothing else influences the events, so their order is the same in each run. A simulated hour takes only as
/// long as the work in it.
///
/// Actors use this thread through a `QueueExecutor`, and tasks use it as their preferred executor. Work on this thread
/// must not wait for another thread, because the simulated time would advance during the wait.
package final class VirtualLoop: WorkLoop, TaskExecutor {
  private struct Sleeper {
    var deadline: Duration
    var number: Int
    var continuation: CheckedContinuation<Void, any Error>
  }

  private struct State {
    var work: [@Sendable () -> Void] = []
    /// The index of the next work item in the list.
    var next = 0
    var now = Duration.zero
    var sleepers: [Sleeper] = []
    var cancelled: Set<Int> = []
    var lastSleeper = 0
    var isOver = false
    /// The number of callers that currently stop the simulated time.
    var holds = 0

    mutating func takeWork() -> (@Sendable () -> Void)? {
      guard next < work.count else {
        (work, next) = ([], 0)
        return nil
      }
      next += 1
      return work[next - 1]
    }

    /// Removes and returns the sleeper with the earliest wake-up time. Sleepers with equal times wake in the order in
    /// which they began to sleep.
    mutating func takeSleeper() -> CheckedContinuation<Void, any Error>? {
      if isOver || holds > 0 { return nil }
      let first = sleepers.indices.min {
        (sleepers[$0].deadline, sleepers[$0].number) < (sleepers[$1].deadline, sleepers[$1].number)
      }
      guard let first else { return nil }
      let sleeper = sleepers.remove(at: first)
      now = max(now, sleeper.deadline)
      return sleeper.continuation
    }
  }

  private let state = Mutex(State())
  private let wake = DispatchSemaphore(value: 0)
  private let thread = Mutex<pthread_t?>(nil)

  package init() {
    let thread = Thread { [self] in
      self.thread.withLock { $0 = pthread_self() }
      run()
    }
    thread.stackSize = 8 << 20
    thread.start()
  }

  /// The time since the loop began.
  package var now: Duration { state.withLock(\.now) }
  package var clock: VirtualClock { VirtualClock(loop: self) }
  package var isCurrent: Bool { thread.withLock { $0.map { pthread_equal($0, pthread_self()) != 0 } ?? false } }

  package func perform(_ work: @escaping @Sendable () -> Void) {
    state.withLock { $0.work.append(work) }
    wake.signal()
  }

  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    perform { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }

  /// Stops the simulated time until `release()`, for example while another thread works.
  package func hold() { state.withLock { $0.holds += 1 } }

  /// Cancels one call of `hold()`.
  package func release() {
    state.withLock { $0.holds -= 1 }
    wake.signal()
  }

  /// Ends the thread after the current work. Sleeping tasks are not woken.
  package func end() {
    state.withLock { $0.isOver = true }
    wake.signal()
  }

  private func run() {
    while true {
      if let work = state.withLock({ $0.takeWork() }) {
        work()
      } else if let sleeper = state.withLock({ $0.takeSleeper() }) {
        sleeper.resume()
      } else if state.withLock(\.isOver) {
        return
      } else {
        wake.wait()
      }
    }
  }

  fileprivate func sleep(until deadline: Duration) async throws {
    let number = state.withLock { state in
      state.lastSleeper += 1
      return state.lastSleeper
    }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
        let result = state.withLock { state -> Result<Void, any Error>? in
          if state.cancelled.remove(number) != nil { return .failure(CancellationError()) }
          if deadline <= state.now { return .success(()) }
          state.sleepers.append(Sleeper(deadline: deadline, number: number, continuation: continuation))
          return nil
        }
        if let result { continuation.resume(with: result) } else { wake.signal() }
      }
    } onCancel: {
      let sleeper = state.withLock { state in
        guard let index = state.sleepers.firstIndex(where: { $0.number == number }) else {
          state.cancelled.insert(number)
          return Sleeper?.none
        }
        return state.sleepers.remove(at: index)
      }
      sleeper?.continuation.resume(throwing: CancellationError())
    }
  }
}

/// A clock that shows the simulated time of a `VirtualLoop`.
package struct VirtualClock: Clock {
  package struct Instant: InstantProtocol {
    package var offset: Duration
    package func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
    package func duration(to other: Instant) -> Duration { other.offset - offset }
    package static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
  }

  fileprivate let loop: VirtualLoop

  package var now: Instant { Instant(offset: loop.now) }
  package var minimumResolution: Duration { .zero }

  package func sleep(until deadline: Instant, tolerance: Duration?) async throws {
    try await loop.sleep(until: deadline.offset)
  }
}
