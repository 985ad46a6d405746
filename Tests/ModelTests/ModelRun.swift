// SPDX-License-Identifier: Apache-2.0
import FirestoreBackend
import FirestoreLocal
import FirestoreModel
import Foundation

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
  init(seed: UInt64, steps: Int) {
    self.seed = seed
    let policies: [CollectionPolicy] = [.leastRecentlyUsed(thresholdBytes: 0), .eager, .never]
    setups = (0..<(seed % 3 == 0 ? 3 : 2)).map { index in
      let choice = Int(seed / 2) + index
      return ModelClient.Setup(
        isDurable: choice % 2 == 0, policy: policies[choice % 3], maximumLimboLookups: [1, 2, 100][(choice / 2) % 3])
    }
    trace = OperationGenerator.trace(seed: seed, clients: setups.count, count: steps)
  }

  /// A trace that was found.
  init(_ setups: [ModelClient.Setup], _ trace: [Operation]) {
    (seed, self.setups, self.trace, isThorough) = (0, setups, trace, true)
  }

  /// - Returns: `nil` if nothing is wrong.
  func failure() async throws -> Failure? {
    let clock = VirtualClock()
    let backend = try LocalBackend(BackendConfiguration(location: .memory) { clock.now() })
    return try await Self.perform(self, clock, on: backend)
  }

  private static func perform(_ run: ModelRun, _ clock: VirtualClock, on backend: isolated LocalBackend) throws -> Failure? {
    let printsSteps = ProcessInfo.processInfo.environment["HEARTH_MODEL_TRACE"] != nil
    let world = try World(run.setups, seed: run.seed, clock: clock)
    do {
      try world.perform(run.trace, isThorough: run.isThorough, on: backend) { if printsSteps { print(world.stepsDone, $0) } }
      return nil
    } catch {
      return Failure(step: world.stepsDone, violation: "\(error)")
    }
  }

  /// The run without what its failure does not need: whole parts first, then single operations.
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
    var size = max(best.run.trace.count / 2, 1)
    while left > 0 {
      var start = 0
      var removedAny = false
      while start < best.run.trace.count, left > 0 {
        var candidate = best.run
        candidate.trace.removeSubrange(start..<min(start + size, candidate.trace.count))
        left -= 1
        if let failure = try await candidate.failure(), failure.violation.prefix(24) == best.failure.violation.prefix(24) {
          candidate.trace = Array(candidate.trace.prefix(failure.step + 1))
          best = (candidate, failure)
          removedAny = true
        } else {
          start += size
        }
      }
      if size == 1, !removedAny { break }
      size = max(size / 2, 1)
    }
    return best
  }
}
