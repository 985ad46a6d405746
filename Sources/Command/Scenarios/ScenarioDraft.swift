// SPDX-License-Identifier: Apache-2.0
package import ClientPort
package import CommandOutput
package import FirestoreClientState
package import FirestoreModel
package import FirestoreQuery
import Synchronization

/// The requests and events in a recording that a scenario can express. A recording is first converted to a draft, and
/// the draft to a scenario.
package struct ScenarioDraft: Sendable {
  package enum Event: Sendable {
    /// A listener starts. The tag is unique for its client.
    case listen(tag: Int, name: String, FirestoreQuery.Query, ListenerOptions)
    case stop(tag: Int)
    case network(isOn: Bool)
    case fault(FaultChange)
    /// A write is added to the queue. The event with its outcome has the same number.
    case write(Int, [Mutation])
    /// The outcome of a write: the error code, or `nil` if the write was acknowledged.
    case answer(Int, StatusCode?)
    case snapshot(ListenerSnapshot)
    case listenerFailed(tag: Int, StatusCode)
    /// A document on the server that is known from the recording, although no listener reported it.
    case seen(DocumentKey, Fields)
    /// An event that a step cannot express, or that the recording does not contain.
    case gap(String)
  }

  package struct Moment: Sendable {
    package var time: Timestamp
    /// The client; `nil` for the only client.
    package var client: String?
    package var event: Event

    package init(_ time: Timestamp, _ client: String? = nil, _ event: Event) {
      (self.time, self.client, self.event) = (time, client, event)
    }
  }

  /// A sentence about the recording. It becomes the first comment of the scenario.
  package var summary: String
  package var database: DatabaseID
  /// The clients with their signed-in users. Empty if there is only one client, without a name and a user.
  package var clients: [(name: String, user: String?)] = []
  package var moments: [Moment] = []

  package init(_ summary: String, in database: DatabaseID) { (self.summary, self.database) = (summary, database) }

  package mutating func add(_ event: Event, at time: Timestamp, of client: String? = nil) {
    moments.append(Moment(time, client, event))
  }
}

/// Runs a scenario that was converted from a recording. Expectations that are not met become comments, so that the
/// resulting scenario passes.
package struct ScenarioDraftCheck {
  /// The maximum number of runs. Each run finds at most one expectation that is not met.
  private static let mostRuns = 200

  package struct Checked: Sendable {
    package var text: String
    /// The expectations that were changed to comments.
    package var unmet: [String]
    /// The failure of the last run; `nil` if the scenario passes.
    package var failure: CommandFailure?
  }

  /// - Parameter end: no more runs are started after this time. A damaged recording may need all runs.
  package static func check(
    _ text: String, in database: DatabaseID, until end: ContinuousClock.Instant? = nil
  ) async throws(CommandFailure) -> Checked {
    var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    var unmet: [String] = []
    // `names` has the original position of each line, and `movesLeft` how often an unmet line may still move up.
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
      // Events of one moment can arrive in another order, so the expectation first moves up past its neighbors, one by
      // one.
      let first = (lines[..<place].lastIndex { !isExpectation($0) } ?? -1) + 1
      let moves = movesLeft[names[place]] ?? place - first
      if moves > 0, first < place {
        movesLeft[names[place]] = moves - 1
        lines.swapAt(place, place - 1)
        names.swapAt(place, place - 1)
        continue
      }
      lines[place] = "# not met when played: \(step.text)"
      unmet.append(step.text)
    }
    return Checked(text: lines.joined(separator: "\n"), unmet: unmet, failure: failure)
  }

  /// Whether a line is a step that waits for an event.
  private static func isExpectation(_ line: String) -> Bool { line.hasPrefix("expect ") || line.contains(": expect ") }

  /// - Returns: the failure and the step that failed. The step is `nil` if the failure occurred after the last step.
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
