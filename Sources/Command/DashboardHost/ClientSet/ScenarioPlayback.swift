// SPDX-License-Identifier: Apache-2.0
import CommandOutput
import Dispatch
import FirestoreBackend
import FirestoreModel
import FirestoreProtocol
import FirestoreSync
import Scenarios
import Synchronization

import class Hearth.Client

/// A run of a scenario that waits before each step until it is resumed. Reports events.
@MainActor
final class ScenarioPlayback {
  enum Event {
    /// A step is waiting. The value is the simulated time; `nil` in real time.
    case waiting(at: Timestamp?)
    /// A step starts.
    case begun(ScenarioStep)
    case finished(ScenarioRun.Done)
    /// A client is opened or reopened.
    case opened(String, Client, FaultInjector, ListenerTap)
    /// A client's listeners have events.
    case listened(String)
    case ended(CommandFailure?, at: Timestamp?)
  }

  private let scenario: Scenario
  private let world: ScenarioWorld
  private let tell: @MainActor (Event) -> Void
  private let finished = FinishedSteps()
  private var running: Task<Void, Never>?
  private var waiting: CheckedContinuation<Void, any Error>?
  private var farewell: CheckedContinuation<Void, Never>?
  private var timer: Task<Void, Never>?
  /// The number of steps that must run without waiting, because they were requested in advance.
  private var stepsAhead = 0
  private var isLeft = false

  init(_ scenario: Scenario, in world: ScenarioWorld, tell: @escaping @MainActor (Event) -> Void) {
    (self.scenario, self.world, self.tell) = (scenario, world, tell)
  }

  func begin() {
    var world = world
    world.follower = follower
    let (finished, scenario) = (finished, scenario)
    let run = ScenarioRun(scenario, in: world) {
      finished.note($0)
    } note: { _ in
    }
    running = Task {
      // The follower has already reported the end.
      try? await run.run()
    }
  }

  private var follower: ScenarioFollower {
    ScenarioFollower(
      before: { [weak self] index in try await self?.wait(before: index) },
      opened: { [weak self] name, client, faults in
        let name = name ?? Scenario.unnamedClient
        let tap = ListenerTap(seesWrites: true) { Self.onMain { self?.note(.listened(name)) } }
        // The tap's events follow this one.
        Self.onMain { self?.note(.opened(name, client, faults, tap)) }
        client.engine.setTap(tap)
      },
      ended: { [weak self] error in await self?.stay(after: error) })
  }

  /// The database behind the clients' networks and their faults.
  var server: any Datastore { world.server }

  /// Runs a function on the main actor, in call order.
  private nonisolated static func onMain(_ body: @escaping @MainActor @Sendable () -> Void) {
    DispatchQueue.main.async { MainActor.assumeIsolated { body() } }
  }

  private func note(_ news: Event) { if !isLeft { tell(news) } }

  private func wait(before index: Int) async throws {
    for done in finished.take() { note(.finished(done)) }
    if isLeft { throw CancellationError() }
    try await withCheckedThrowingContinuation { continuation in
      waiting = continuation
      note(.waiting(at: world.simulatedNow))
      if stepsAhead > 0 {
        stepsAhead -= 1
        step()
      }
    }
    if scenario.steps.indices.contains(index) { note(.begun(scenario.steps[index])) }
  }

  /// Runs the waiting step after a delay. With `nil`, the step continues to wait.
  func goOn(after time: Duration?) {
    timer?.cancel()
    timer = nil
    guard waiting != nil, let time else { return }
    timer = Task { [weak self] in
      // Another command of the user ends the wait.
      if time > .zero, (try? await Task.sleep(for: time)) == nil { return }
      guard let self, !Task.isCancelled else { return }
      waiting.take()?.resume()
    }
  }

  /// Runs the waiting step now. If no step is waiting, the next step runs without waiting.
  func step() {
    timer?.cancel()
    timer = nil
    if let waiting = waiting.take() { waiting.resume() } else { stepsAhead += 1 }
  }

  /// Reports the end of the scenario. The clients remain open, so that the user can view them.
  private func stay(after error: (any Error)?) async {
    for done in finished.take() { note(.finished(done)) }
    if isLeft { return }
    let failure = error.map { $0 as? CommandFailure ?? CommandFailure(.failure, "\($0)") }
    await withCheckedContinuation { continuation in
      farewell = continuation
      note(.ended(failure, at: world.simulatedNow))
    }
  }

  /// Ends the run.
  /// - Returns: the task that ends when the clients have ended.
  func leave() -> Task<Void, Never>? {
    isLeft = true
    timer?.cancel()
    waiting.take()?.resume(throwing: CancellationError())
    farewell.take()?.resume()
    running?.cancel()
    return running
  }
}

/// The completed steps that were not yet reported.
private final class FinishedSteps: Sendable {
  private let steps = Mutex<[ScenarioRun.Done]>([])

  func note(_ done: ScenarioRun.Done) { steps.withLock { $0.append(done) } }
  func take() -> [ScenarioRun.Done] {
    steps.withLock { steps in
      defer { steps = [] }
      return steps
    }
  }
}

/// The clock on a scenario's screen. It shows the scenario's time plus the time for which the user viewed the screen
/// while the scenario waited. It never goes back.
struct ScenarioClock {
  private let clock = ContinuousClock()
  private var base: Timestamp
  private var since: ContinuousClock.Instant

  init(_ time: Timestamp) {
    base = time
    since = clock.now
  }

  var now: Timestamp { Timestamp(microseconds: base.microseconds &+ microseconds(clock.now - since)) }

  /// Sets the clock to the scenario's time, if that is later.
  mutating func reach(_ time: Timestamp) {
    base = max(now, time)
    since = clock.now
  }

  private func microseconds(_ duration: Duration) -> Int64 { Int64(duration / .microseconds(1)) }
}
