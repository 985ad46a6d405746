// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

/// Random runs with the whole engine: its actor, its streams and timers as tasks, its mailboxes, over a network that
/// fails. `HEARTH_ENGINE_STEPS` sets how many steps they take in all, `HEARTH_MODEL_SEED` the first seed.
///
/// Nothing is waited for by the clock: a run comes to rest when each engine has heard of a commit that the run makes
/// after all others. An engine that never does is what the time limit is for.
@Suite(.serialized, .timeLimit(.minutes(10))) struct EngineRunTests {
  private static let stepsPerSeed = 200

  private static let seeds: [UInt64] = {
    func setting(_ name: String) -> Int? { ProcessInfo.processInfo.environment[name].flatMap { Int($0) } }
    let count = (setting("HEARTH_ENGINE_STEPS") ?? 1_000) / stepsPerSeed
    let first = setting("HEARTH_MODEL_SEED") ?? 1
    return (first..<first + max(count, 1)).map { UInt64($0) }
  }()

  @Test(
    "Engines converge after random events, and each write has exactly one result",
    arguments: seeds)
  func randomRun(_ seed: UInt64) async throws {
    let run = EngineRun(seed: seed, steps: Self.stepsPerSeed)

    guard let failure = try await run.failure() else { return }
    Issue.record(
      """
      seed \(seed), step \(failure.step): \(failure.violation)
      HEARTH_MODEL_SEED=\(seed) HEARTH_ENGINE_STEPS=\(Self.stepsPerSeed) takes the same steps
      \(run.setups)
      \(run.trace.prefix(failure.step + 1).map { "\($0)" }.joined(separator: "\n"))
      """)
  }
}
