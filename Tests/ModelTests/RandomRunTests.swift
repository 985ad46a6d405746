// SPDX-License-Identifier: Apache-2.0
import FirestoreTesting
import Foundation
import Testing

/// Random runs of several clients against one backend. `HEARTH_MODEL_STEPS` sets how many steps they take in all,
/// `HEARTH_MODEL_SEED` the first seed; `HEARTH_MODEL_TRACE` prints each step before it is performed, for a run that
/// ends in a crash.
///
/// Swift orders sets differently in each process, so that the same seed need not fail again. A failure therefore prints
/// its whole trace; with `SWIFT_DETERMINISTIC_HASHING=1`, all runs of a seed are the same.
///
/// One seed after another: each has a queue of its own, and a million steps would start a thousand threads.
@Suite(.serialized) struct RandomRunTests {
  private static let stepsPerSeed = 1_000

  private static func setting(_ name: String) -> Int? {
    ProcessInfo.processInfo.environment[name].flatMap { Int($0) }
  }

  /// Seeds that found something: a limit filled by pending documents that hid stale ones from the next start, and a
  /// query sent again as a whole that kept a document of the listen before.
  private static let remembered: [UInt64] = [555, 633]

  private static let seeds: [UInt64] = {
    let count = (setting("HEARTH_MODEL_STEPS") ?? TestSize.count(3_000, full: 4_000)) / stepsPerSeed
    let first = setting("HEARTH_MODEL_SEED") ?? 1
    return (first..<first + max(count, 1)).map { UInt64($0) }
  }()

  @Test("Random clients, backends and networks satisfy S1 to S10 and converge", arguments: seeds)
  func randomRun(_ seed: UInt64) async throws {
    try await check(ModelRun(seed: seed, steps: Self.stepsPerSeed))
  }

  @Test("Runs with seeds that once found a bug satisfy S1 to S10", arguments: remembered)
  func rememberedRun(_ seed: UInt64) async throws {
    try await check(ModelRun(seed: seed, steps: Self.stepsPerSeed, .first))
  }

  private func check(_ run: ModelRun) async throws {
    let failure = try await run.failure()

    guard let failure else { return }
    // Told before it is made shorter, which takes minutes and may end otherwise.
    print("seed \(run.seed), step \(failure.step): \(failure.violation)")
    let shortest = try await run.shortened(failure)
    Issue.record(
      """
      seed \(run.seed), step \(failure.step): \(failure.violation)
      HEARTH_MODEL_SEED=\(run.seed) HEARTH_MODEL_STEPS=\(Self.stepsPerSeed) takes the same steps
      \(shortest.run.trace.count) of its steps do it too: \(shortest.failure.violation)
      \(shortest.run.setups)
      \(shortest.run.trace.map { "\($0)" }.joined(separator: "\n"))
      """)
  }
}
