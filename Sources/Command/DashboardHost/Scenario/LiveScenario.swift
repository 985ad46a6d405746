// SPDX-License-Identifier: Apache-2.0
import DashboardModel
package import Scenarios

/// A scenario that is to be played on the screen, and how.
package struct LiveScenario: Sendable {
  package var scenario: Scenario
  /// The time for which a step is shown before it is done.
  package var pace = Duration.seconds(1)
  /// Whether a key does each step.
  package var isStepped = false
  /// The world and its time, in words.
  package var place: String
  /// Whether it is played with the backend that was named, in real time.
  package var isReal = false
  package var world: @Sendable (Scenario) throws -> ScenarioWorld

  package init(
    _ scenario: Scenario, in place: String,
    world: @escaping @Sendable (Scenario) throws -> ScenarioWorld
  ) { (self.scenario, self.place, self.world) = (scenario, place, world) }

  var play: ScenarioPlay {
    let steps = scenario.steps.map { ScenarioPlay.Step(line: $0.line, text: $0.text) }
    return ScenarioPlay(
      name: scenario.name, summary: scenario.summary, steps: steps, place: place, pace: pace, isStepped: isStepped)
  }
}
