// SPDX-License-Identifier: Apache-2.0
import FirestoreBackend
import FirestoreLocal
import FirestoreModel
import FirestoreTesting
import Foundation
import SeededRandom

/// A trace with the clients it is for: what a seed stands for, or what is left of it.
struct ModelRun: Sendable {
  var seed: UInt64
  var setups: [ModelClient.Setup]
  var trace: [Operation]
  /// Whether everything is compared after each step, which is slow.
  var isThorough = false

  struct Failure: Sendable {
    var step: Int
    var violation: String
  }

  /// The run of a seed: two or three clients with different caches.
  init(seed: UInt64, steps: Int, _ vocabulary: OperationGenerator.Vocabulary = .full) {
    self.seed = seed
    var random = SeededGenerator(seed: seed, for: .setups)
    let policies: [GarbageCollectionPolicy] = [.leastRecentlyUsed(thresholdBytes: 0), .eager, .never]
    setups = (0..<Int.random(in: 2...3, using: &random)).map { _ in
      ModelClient.Setup(
        isDurable: .random(using: &random), policy: policies[Int.random(in: 0..<3, using: &random)],
        maximumLimboResolutions: [1, 2, 100][Int.random(in: 0..<3, using: &random)])
    }
    trace = OperationGenerator.trace(seed: seed, clients: setups.count, count: steps, vocabulary)
  }

  /// A trace that was found.
  init(_ setups: [ModelClient.Setup], _ trace: [Operation]) {
    (seed, self.setups, self.trace, isThorough) = (0, setups, trace, true)
  }

  /// - Returns: `nil` if nothing is wrong.
  func failure() async throws -> Failure? {
    let clock = TestClock(1_000_000_000_000_000, tick: 1)
    let backend = try LocalBackend(BackendConfiguration(location: .memory) { clock.now() })
    return try await Self.perform(self, clock, on: backend)
  }

  private static func perform(
    _ run: ModelRun, _ clock: TestClock, on backend: isolated LocalBackend
  ) async throws -> Failure? {
    let printsSteps = ProcessInfo.processInfo.environment["HEARTH_MODEL_TRACE"] != nil
    let world = try World(run.setups, seed: run.seed, clock: clock)
    do {
      try await world.perform(run.trace, isThorough: run.isThorough, on: backend) {
        if printsSteps { print(world.stepsDone, $0) }
      }
      return nil
    } catch {
      return Failure(step: world.stepsDone, violation: "\(error)")
    }
  }

  /// The run without what its failure does not need: whole parts first, then single operations, then the
  /// mutations of their batches.
  /// - Parameter attempts: how many runs this may take.
  func shortened(_ failure: Failure, attempts: Int = 1000) async throws -> (run: ModelRun, failure: Failure) {
    var best = (run: self, failure: failure)
    best.run.trace = Array(trace.prefix(failure.step + 1))
    var thorough = best.run
    thorough.isThorough = true
    if let failure = try await thorough.failure() {
      thorough.trace = Array(trace.prefix(failure.step + 1))
      best = (thorough, failure)
    }
    var left = attempts
    func keep(_ candidate: consuming ModelRun) async throws -> Bool {
      left -= 1
      guard let failure = try await candidate.failure(),
        failure.violation.prefix(24) == best.failure.violation.prefix(24)
      else { return false }
      candidate.trace = Array(candidate.trace.prefix(failure.step + 1))
      best = (candidate, failure)
      return true
    }
    var size = max(best.run.trace.count / 2, 1)
    while left > 0 {
      var start = 0
      var removedAny = false
      while start < best.run.trace.count, left > 0 {
        var candidate = best.run
        candidate.trace.removeSubrange(start..<min(start + size, candidate.trace.count))
        if try await keep(candidate) { removedAny = true } else { start += size }
      }
      if size == 1, !removedAny { break }
      size = max(size / 2, 1)
    }
    var (step, mutation) = (0, 0)
    while left > 0, step < best.run.trace.count {
      guard let shorter = best.run.trace[step].removingMutation(at: mutation) else {
        (step, mutation) = (step + 1, 0)
        continue
      }
      var candidate = best.run
      candidate.trace[step] = shorter
      if try await !keep(candidate) { mutation += 1 }
    }
    return best
  }
}
