// SPDX-License-Identifier: Apache-2.0
import CommandOutput
import Dashboard
import DashboardModel
import FirestoreModel
package import Scenarios
import Terminal
import TerminalCanvas

/// Scenarios on the screen. The user's own clients go on meanwhile, unseen.
extension Session {
  /// The clients that the screen shows: those of a scenario, or the user's.
  var shownStage: ClientStage { scenario?.stage ?? stage }

  /// The next time at which the screen changes by itself, or a client of the user's has something to do.
  var nextTick: Timestamp {
    guard let scenario else { return stage.nextTick }
    let wait = scenario.stage.nextTick.microseconds &- scenario.now.microseconds
    return min(stage.nextTick, Timestamp(microseconds: Timestamp.now.microseconds &+ max(0, wait)))
  }

  /// Lets an action of the terminal happen to the scenario on the screen.
  /// - Returns: whether it is no matter of the user's own clients.
  func passes(_ action: Action) -> Bool {
    guard let scenario else { return false }
    scenario.apply(action)
    switch action {
    case .input(.resize, _), .tick, .sent, .link, .configured: return false
    case .input, .run, .caption: return true
    case .client, .listen, .open, .adopt, .overwrote, .staged: return false
    }
  }

  // MARK: Playing

  /// A scenario as it is shown, not begun yet.
  func shown(_ live: LiveScenario) -> ScenarioShow {
    var configuration = state.configuration
    configuration.theme = state.screen.theme
    configuration.isMouseOn = state.screen.isMouseOn
    return ScenarioShow(live, configuration, size: screen.size) { [weak self] effect in
      self?.performOfScenario(effect)
    } changed: { [weak self] in
      self?.setNeedsFrame(for: .input)
    }
  }

  /// Plays a shipped scenario in a world of its own.
  func playScenario(named name: String) {
    guard let shipped = ShippedScenario.all.first(where: { $0.name == name }) else { return }
    let database = DatabaseID(project: "scenario")
    let parsed: Scenario
    do throws(CommandFailure) {
      parsed = try ScenarioParser(database: database).scenario(shipped.text, of: name)
    } catch { return notify(.error, error.message) }
    let live = LiveScenario(parsed, in: "a world of its own: your data is left alone") { scenario in
      try ScenarioWorld(simulating: database, seed: scenario.seed)
    }
    closeScenario()
    let show = shown(live)
    scenario = show
    show.begin()
  }

  /// Plays a scenario that has changed, in place of the one on the screen.
  package func play(_ changed: Scenario) { scenario?.begin(changed) }

  /// Tells a message about the file of the scenario on the screen.
  package func tellOfScenario(_ text: String) { scenario?.tell(text) }

  private func closeScenario() {
    guard let show = scenario else { return }
    show.close()
    leaving.append(Task { await show.end() })
    scenario = nil
  }

  private func leaveScenario() {
    if options.live != nil {
      scenarioFailure = scenario?.failure
      return perform([.terminal(.quit(code: scenarioFailure?.status.rawValue ?? 0))])
    }
    closeScenario()
    notify(.info, "the scenario is over; this is your own data again")
    setNeedsFrame(for: .input)
  }

  private func performOfScenario(_ effect: Effect) {
    switch effect {
    case .terminal(.quit): leaveScenario()
    case .client, .timeline, .stage: break
    case .terminal, .recording: perform([effect])
    }
  }
}
