// SPDX-License-Identifier: Apache-2.0
import CommandOptions
import CommandOutput
import FirestoreClientState
import FirestoreModel
import Scenarios
import Synchronization

/// Plays scenarios one after the other, and prints what comes of them.
struct PlayRun: Sendable {
  let form: ScenarioReport.Form
  let headless: HeadlessOptions
  /// The seed of chance in place of that in the scenario.
  let seed: UInt64?
  /// Whether steps are printed as they are done.
  var tellsSteps = true
  /// Whether each step waits for enter on the terminal.
  var asks = false
  /// The place where a scenario is played.
  let world: @Sendable (Scenario) throws(CommandFailure) -> ScenarioWorld

  private var isQuiet: Bool { (headless.quiet || !tellsSteps) && form == .text }

  /// - Returns: the first failure.
  func play(_ chosen: [Scenario]) async throws -> CommandFailure? {
    var report = ScenarioReport(form)
    var first: CommandFailure?
    for scenario in chosen {
      let failure = try await play(scenario, isAlone: chosen.count == 1, &report)
      if let failure, chosen.count > 1, form == .text, tellsSteps { headless.note(ShownText(failure.message)) }
      first = first ?? failure
    }
    for line in report.finish() { try Self.print(line) }
    return first
  }

  /// Plays scenarios several times each, in worlds of their own, and compares what they print.
  /// - Parameter faults: the faults with which each client begins.
  /// - Returns: the first failure, or the first difference.
  func play(
    _ chosen: [Scenario], _ times: Int, in database: DatabaseID, faults: [FaultChange]
  ) async throws -> CommandFailure? {
    var report = ScenarioReport(form)
    var first: CommandFailure?
    for var scenario in chosen {
      if let seed { scenario.seed = seed }
      let repetition = ScenarioRepetition(scenario, in: database, faults: faults)
      var (lines, failure) = ([String](), CommandFailure?.none)
      do throws(CommandFailure) { lines = try await repetition.play(times) } catch { failure = error }
      if form == .text, failure == nil, !isQuiet {
        try Self.print("\(scenario.name): \(times) times the same \(lines.count) lines.")
      }
      for line in report.end(scenario, after: .zero, failure) { try Self.print(line) }
      if let failure, chosen.count > 1, form == .text { headless.note(ShownText(failure.message)) }
      first = first ?? failure
    }
    for line in report.finish() { try Self.print(line) }
    return first
  }

  private func play(
    _ given: Scenario, isAlone: Bool, _ report: inout ScenarioReport
  ) async throws -> CommandFailure? {
    var scenario = given
    if let seed { scenario.seed = seed }
    for line in isQuiet ? [] : report.begin(scenario, isAlone: isAlone) { try Self.print(line) }
    let (headless, writer, played, isQuiet) = (headless, report, scenario, isQuiet)
    let last = LastStep()
    var place = try world(scenario)
    if asks { place.follower = StepQuestion(scenario: scenario).follower }
    let run = ScenarioRun(scenario, in: place) { done in
      last.note(done.elapsed)
      if isQuiet { return }
      // One at a time, as it happens.
      for line in writer.lines(done, of: played) { try Self.print(line) }
    } note: {
      headless.note(ShownText($0))
    }
    var failure: CommandFailure?
    do { try await run.run() } catch let error as CommandFailure { failure = error }
    for line in report.end(scenario, after: last.elapsed, failure) { try Self.print(line) }
    return failure
  }

  private static func print(_ line: String) throws { try OutputFile.print("\(ShownText(line))\n") }
}

/// The time of the last step of a run, which is told by the step itself.
private final class LastStep: Sendable {
  private let time = Mutex(Duration.zero)
  var elapsed: Duration { time.withLock { $0 } }
  func note(_ elapsed: Duration) { time.withLock { $0 = elapsed } }
}
