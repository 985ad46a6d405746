// SPDX-License-Identifier: Apache-2.0
import Glibc

/// How much of a program's processor time goes into telling what its client does: one part in a hundred, or five
/// milliseconds of each second for a program that rests. What that does not suffice for is not told.
package struct InspectionBudget {
  private static let share = 100
  /// What may be saved up: the first telling, and the answer to a key.
  private static let mostSaved = Duration.milliseconds(40)
  /// What may be owed: after one large telling the next is not far.
  private static let mostOwed = Duration.milliseconds(20)

  /// One part of real time in so many is granted in any case.
  package static let usualRestingShare = 200

  /// `nil` for a program that may spend what it takes.
  private let restingShare: Int?
  private var lastProcess: Duration
  private var lastTime: Duration
  /// What may be spent now.
  private(set) var saved = Self.mostSaved

  init(restingShare: Int?) {
    self.restingShare = restingShare
    lastProcess = Self.time(CLOCK_PROCESS_CPUTIME_ID)
    lastTime = Self.time(CLOCK_MONOTONIC)
  }

  /// Whether there is time for something now, and so much is left for others.
  mutating func hasTime(beyond kept: Duration = .zero) -> Bool {
    guard let restingShare else { return true }
    let (process, time) = (Self.time(CLOCK_PROCESS_CPUTIME_ID), Self.time(CLOCK_MONOTONIC))
    saved = max(saved, .zero - Self.mostOwed)
    saved += max((process - lastProcess) / Self.share, (time - lastTime) / restingShare)
    saved = min(saved, Self.mostSaved)
    (lastProcess, lastTime) = (process, time)
    return saved > kept
  }

  /// Runs what is paid from the budget.
  mutating func pay<Result>(_ body: () throws -> Result) rethrows -> Result {
    let start = Self.time(CLOCK_THREAD_CPUTIME_ID)
    defer { saved -= Self.time(CLOCK_THREAD_CPUTIME_ID) - start }
    return try body()
  }

  /// For what was spent elsewhere.
  mutating func charge(_ cost: Duration) { saved -= cost }

  private static func time(_ clock: clockid_t) -> Duration {
    // As two words: to which module the members of `timespec` belong depends on what else is compiled.
    withUnsafeTemporaryAllocation(of: Int.self, capacity: 2) { words in
      words.initialize(repeating: 0)
      words.withMemoryRebound(to: timespec.self) { if let time = $0.baseAddress { clock_gettime(clock, time) } }
      return .seconds(words[0]) + .nanoseconds(words[1])
    }
  }
}
