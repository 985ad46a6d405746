// SPDX-License-Identifier: Apache-2.0
package import CommandOutput
package import FirestoreModel
import Synchronization

/// Plays a scenario that was made of a record, and turns expectations that are not met into remarks: the result claims
/// nothing that does not come.
package struct StoryCheck {
  /// The most runs, each of which finds one expectation that is not met.
  private static let mostRuns = 200

  package struct Checked: Sendable {
    package var text: String
    /// The expectations that are remarks now.
    package var unmet: [String]
    /// The failure of the last run; `nil` if the scenario passes.
    package var failure: CommandFailure?
  }

  /// - Parameter end: the time after which no further run begins: the lines of a damaged record can need all of them.
  package static func check(
    _ text: String, in database: DatabaseID, until end: ContinuousClock.Instant? = nil
  ) async throws(CommandFailure) -> Checked {
    var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    var unmet: [String] = []
    // The lines by their places at first, and how often those that were not met may still move.
    var names = Array(lines.indices)
    var movesLeft: [Int: Int] = [:]
    let parser = ScenarioParser(database: database)
    var failure: CommandFailure?
    for _ in 0..<mostRuns {
      if let end, ContinuousClock.now > end { break }
      let scenario = try parser.scenario(lines.joined(separator: "\n"), of: "the scenario")
      let (failed, step) = try await run(scenario, in: database)
      failure = failed
      guard failed != nil, let step, isExpectation(step.text) else { break }
      let place = step.line - 1
      // Events of one moment may come in another order: the expectation is tried before each of its neighbours.
      let first = (lines[..<place].lastIndex { !isExpectation($0) } ?? -1) + 1
      let moves = movesLeft[names[place]] ?? place - first
      if moves > 0, first < place {
        movesLeft[names[place]] = moves - 1
        lines.swapAt(place, place - 1)
        names.swapAt(place, place - 1)
        continue
      }
      lines[place] = "# not met when it was played: \(step.text)"
      unmet.append(step.text)
    }
    return Checked(text: lines.joined(separator: "\n"), unmet: unmet, failure: failure)
  }

  /// Whether a line is a step that waits for an event.
  private static func isExpectation(_ line: String) -> Bool { line.hasPrefix("expect ") || line.contains(": expect ") }

  /// - Returns: the failure, and the step at which it came, if it came at one.
  private static func run(
    _ scenario: Scenario, in database: DatabaseID
  ) async throws(CommandFailure) -> (CommandFailure?, ScenarioStep?) {
    let done = Mutex(0)
    let world = try ScenarioWorld(simulating: database, seed: scenario.seed)
    let run = ScenarioRun(scenario, in: world) { _ in
      done.withLock { $0 += 1 }
    } note: { _ in
    }
    do { try await run.run() } catch {
      let failure = error as? CommandFailure ?? CommandFailure(.failure, "\(error)")
      let count = done.withLock { $0 }
      return (failure, count < scenario.steps.count ? scenario.steps[count] : nil)
    }
    return (nil, nil)
  }
}
