// SPDX-License-Identifier: Apache-2.0
import Glibc

/// The processor time that a program may spend on telling watchers what its client does: one part in a hundred of its
/// own, or five milliseconds of each second for a program that rests. News beyond that is not told.
package struct InspectionBudget {
  private static let share = 100
  /// The most that is saved up: enough for the first news, and for the answer to a key.
  private static let mostSaved = Duration.milliseconds(40)
  /// The most that is owed, so that after one large piece of news the next is not far.
  private static let mostOwed = Duration.milliseconds(20)

  /// The usual resting share: one part of real time in so many is granted in any case.
  package static let usualRestingShare = 200

  /// The part of real time that is granted in any case, one in so many; `nil` for a program without a budget.
  private let restingShare: Int?
  private var lastProcess: Duration
  private var lastTime: Duration
  /// The time that may be spent now.
  private(set) var saved = Self.mostSaved

  init(restingShare: Int?) {
    self.restingShare = restingShare
    lastProcess = Self.time(CLOCK_PROCESS_CPUTIME_ID)
    lastTime = Self.time(CLOCK_MONOTONIC)
  }

  /// Whether there is time to spend now, beyond a part that is kept for others.
  mutating func hasTime(beyond kept: Duration = .zero) -> Bool {
    guard let restingShare else { return true }
    let (process, time) = (Self.time(CLOCK_PROCESS_CPUTIME_ID), Self.time(CLOCK_MONOTONIC))
    saved = max(saved, .zero - Self.mostOwed)
    saved += max((process - lastProcess) / Self.share, (time - lastTime) / restingShare)
    saved = min(saved, Self.mostSaved)
    (lastProcess, lastTime) = (process, time)
    return saved > kept
  }

  /// Runs a closure and takes its processor time from the budget.
  mutating func pay<Result>(_ body: () throws -> Result) rethrows -> Result {
    let start = Self.time(CLOCK_THREAD_CPUTIME_ID)
    defer { saved -= Self.time(CLOCK_THREAD_CPUTIME_ID) - start }
    return try body()
  }

  /// Takes time that was spent elsewhere from the budget.
  mutating func charge(_ cost: Duration) { saved -= cost }

  private static func time(_ clock: clockid_t) -> Duration {
    // The time is read as two words: the module of the members of `timespec` depends on other compiled modules.
    withUnsafeTemporaryAllocation(of: Int.self, capacity: 2) { words in
      words.initialize(repeating: 0)
      words.withMemoryRebound(to: timespec.self) { if let time = $0.baseAddress { clock_gettime(clock, time) } }
      return .seconds(words[0]) + .nanoseconds(words[1])
    }
  }
}
