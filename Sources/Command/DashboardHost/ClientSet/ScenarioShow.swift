// SPDX-License-Identifier: Apache-2.0
import ClientPort
import CommandOutput
import Dashboard
import DashboardModel
import Dispatch
import FirestoreBackend
import FirestoreClientState
import FirestoreModel
import FirestoreSync
package import Scenarios
import Synchronization
import Terminal
import TerminalCanvas

import class Hearth.Client

/// A scenario on the screen: its run at a readable pace, and its clients. It exists from the first step until the user
/// leaves the scenario.
@MainActor
final class ScenarioShow {
  /// The result of the run; `nil` while it is running.
  enum Result: Hashable, Sendable {
    case passed
    case failed(CommandFailure)
  }

  private(set) var clientSet: ClientSet
  private(set) var live: LiveScenario
  private(set) var result: Result?
  private let configuration: DashboardConfiguration
  /// Performs effects on the terminal. Called after the screen has changed.
  private let perform: @MainActor (Effect) -> Void
  private let changed: @MainActor () -> Void

  private var clock: ScenarioClock
  private var run: ScenarioPlayback?
  private var numbers: [String: ClientNumber] = [:]
  private var bridges: [ClientNumber: ClientBridge] = [:]
  /// The runs that the user has left and that have not ended yet.
  private var leaving: [Task<Void, Never>] = []

  /// - Parameter configuration: the configuration of the user's dashboard.
  init(
    _ live: LiveScenario, _ configuration: DashboardConfiguration, size: Size,
    perform: @escaping @MainActor (Effect) -> Void, changed: @escaping @MainActor () -> Void
  ) {
    var configuration = configuration
    if !live.isReal { configuration.backend = .init(.embedded, project: configuration.database.project) }
    (self.live, self.configuration, self.perform, self.changed) = (live, configuration, perform, changed)
    clock = ScenarioClock(live.isReal ? .now : ScenarioWorld.beginning)
    clientSet = ClientSet(playing: live.play, live.scenario.clientNames, configuration, size: size, at: clock.now)
    numberClients()
  }

  private func numberClients() {
    numbers = Dictionary(clientSet.members.map { ($0.name, $0.number) }, uniquingKeysWith: { first, _ in first })
  }

  /// The time that the screen shows.
  var now: Timestamp { clock.now }

  // MARK: The run

  /// Starts playing.
  func begin() {
    let world: ScenarioWorld
    do { world = try live.world(live.scenario) } catch {
      return end(.failed(error as? CommandFailure ?? CommandFailure(.failure, "\(error)")))
    }
    let run = ScenarioPlayback(live.scenario, in: world) { [weak self] news in self?.take(news) }
    self.run = run
    for name in live.scenario.clientNames.dropFirst(ClientSetFacts.mostClients) {
      let notice = "\(name) is not shown: the screen has room for \(ClientSetFacts.mostClients) clients"
      clientSet.note(.notice(notice), at: now)
    }
    run.begin()
    changed()
  }

  /// Plays a scenario from its first step. It replaces the previous scenario.
  func begin(_ scenario: Scenario) {
    stopRun()
    let size = clientSet.size
    live.scenario = scenario
    if let play = clientSet.play { live.pace = play.pace }
    clock = ScenarioClock(live.isReal ? .now : ScenarioWorld.beginning)
    result = nil
    clientSet = ClientSet(playing: live.play, scenario.clientNames, configuration, size: size, at: now)
    numberClients()
    begin()
  }

  /// Shows a message about the scenario's file.
  func tell(_ text: String) {
    clientSet.note(.notice(text), at: now)
    changed()
  }

  private func take(_ news: ScenarioPlayback.Event) {
    switch news {
    case .waiting(let time):
      if let time { clock.reach(time) }
      for bridge in bridges.values { bridge.reportListeners() }
      schedule()
    case .finished(let done):
      let caption: String? = if case .world(.caption(let text)) = done.step.action { text } else { nil }
      clientSet.note(.finished(after: done.elapsed, caption: caption), at: now)
    case .begun(let step): clientSet.note(.begun(.init(line: step.line, text: step.text)), at: now)
    case .opened(let name, let client, let faults, let tap): adopt(name, client, faults, tap)
    case .listened(let name): if let number = numbers[name] { bridges[number]?.reportListeners() }
    case .ended(let error, let time):
      if let time { clock.reach(time) }
      for bridge in bridges.values { bridge.reportListeners() }
      end(error.map { .failed($0) } ?? .passed, after: time.map { $0 - ScenarioWorld.beginning })
    }
    changed()
  }

  /// The reason for the failure, without the text of the step, because the step is on the screen.
  private func reason(of failure: CommandFailure) -> String {
    guard let play = clientSet.play, play.steps.indices.contains(play.doneCount) else { return failure.message }
    let step = play.steps[play.doneCount]
    let place = "\(play.name), line \(step.line), \(step.text): "
    return failure.message.hasPrefix(place) ? String(failure.message.dropFirst(place.count)) : failure.message
  }

  private func end(_ result: Result, after elapsed: Duration? = nil) {
    self.result = result
    switch result {
    case .passed: clientSet.note(.ended(.passed, after: elapsed), at: now)
    case .failed(let failure): clientSet.note(.ended(.failed(reason(of: failure)), after: elapsed), at: now)
    }
    changed()
  }

  private func adopt(_ name: String, _ client: Client, _ faults: FaultInjector, _ tap: ListenerTap) {
    guard let number = numbers[name], let run else { return }
    if let before = bridges[number] { leave(before) }
    bridges[number] = ClientBridge(
      showing: client, faults, ObservedListeners(tap, server: run.server), of: configuration.database
    ) {
      [weak self] event in
      guard let self else { return }
      apply(Action(event, at: now), from: number)
    }
  }

  /// Closes the bridge to a client when the client has ended.
  private func leave(_ bridge: ClientBridge) {
    bridge.reportEnd()
    bridge.close()
  }

  /// Schedules the waiting step after the delay between steps, if steps run automatically.
  private func schedule() {
    guard let play = clientSet.play, play.ending == nil else { return }
    run?.goOn(after: play.isPlaying ? play.pace : nil)
  }

  // MARK: Actions

  /// Applies an action to the clients of the scenario.
  /// - Parameter client: the client that the action is for; `nil` for actions of the terminal.
  func apply(_ action: Action, from client: ClientNumber? = nil) {
    let before = clientSet.play
    var control: ScenarioControl?
    for effect in clientSet.apply(client == nil ? action.at(now) : action, from: client).effects {
      switch effect.item {
      case .client(let request): bridges[effect.client]?.perform(request)
      case .clientSet(.scenario(let wanted)): control = wanted
      default: perform(effect.item)
      }
    }
    if control == .again {
      begin(live.scenario)
    } else if control == .next {
      run?.step()
    } else if before?.isPlaying != clientSet.play?.isPlaying || before?.pace != clientSet.play?.pace {
      schedule()
    }
    changed()
  }

  // MARK: The end

  private func stopRun() {
    for bridge in bridges.values { leave(bridge) }
    bridges = [:]
    if let task = run?.leave() { leaving.append(task) }
    run = nil
  }

  /// Leaves the scenario. Its clients and its server end.
  func close() { stopRun() }

  /// Waits until all runs have ended.
  func end() async {
    close()
    for task in leaving { await task.value }
  }

  /// The failure that the same run without a screen would report. A run that the user left early counts as failed.
  var failure: CommandFailure? {
    switch result {
    case .passed?: return nil
    case .failed(let failure)?: return failure
    case nil:
      let play = clientSet.play
      return CommandFailure(
        .failure,
        "\(live.scenario.name) was stopped before its end, after \(play?.doneCount ?? 0) of \(play?.steps.count ?? 0) steps."
      )
    }
  }
}

extension Action {
  /// A copy of the action with another time.
  fileprivate func at(_ time: Timestamp) -> Action {
    switch self {
    case .input(let event, _): .input(event, at: time)
    case .tick: .tick(time)
    case .link(let isSlow, _): .link(isSlow: isSlow, at: time)
    case .sent(let traffic, _): .sent(traffic, at: time)
    case .configured(let preferences, _): .configured(preferences, at: time)
    case .caption(let text, _): .caption(text, at: time)
    case .run(let text, _): .run(text, at: time)
    case .client(let event, _): .client(event, at: time)
    case .host(let event, _): .host(event, at: time)
    case .listen, .open, .adopt, .overwrote, .clientSet: self
    }
  }
}

/// A scenario that can be played on the screen, with its settings.
package struct LiveScenario: Sendable {
  package var scenario: Scenario
  /// The time for which a step is shown before it runs.
  package var pace = Duration.seconds(1)
  /// Whether each step waits for a key.
  package var isStepped = false
  /// Describes where the scenario runs and whether its time is simulated.
  package var place: String
  /// Whether the scenario runs in real time with the backend that the options name.
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

/// Scenarios on the screen. The user's own clients continue to run in the background.
extension Session {
  /// The clients that are shown: those of the scenario, or the user's own clients.
  var shownClients: ClientSet { scenario?.clientSet ?? clientSet }

  /// The next time when the screen changes without input, or when one of the user's clients must do something.
  var nextTick: Timestamp {
    guard let scenario else { return clientSet.nextTick }
    let wait = scenario.clientSet.nextTick.microseconds &- scenario.now.microseconds
    return min(clientSet.nextTick, Timestamp(microseconds: Timestamp.now.microseconds &+ max(0, wait)))
  }

  /// Applies an action of the terminal to the scenario on the screen.
  /// - Returns: whether the action is only for the scenario and must not be applied to the user's own clients.
  func passes(_ action: Action) -> Bool {
    guard let scenario else { return false }
    scenario.apply(action)
    switch action {
    case .input(.resize, _), .tick, .sent, .link, .configured: return false
    case .input, .run, .caption: return true
    case .client, .host, .listen, .open, .adopt, .overwrote, .clientSet: return false
    }
  }

  // MARK: Playing

  /// Prepares a scenario for the screen without starting it.
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

  /// Plays a shipped scenario with a separate server and separate clients.
  func playScenario(named name: String) {
    guard let shipped = ShippedScenario.all.first(where: { $0.name == name }) else { return }
    let database = DatabaseID(project: "scenario")
    let parsed: Scenario
    do throws(CommandFailure) {
      parsed = try ScenarioParser(database: database).scenario(shipped.text, of: name)
    } catch { return notify(.error, error.message) }
    let live = LiveScenario(parsed, in: "a separate backend: your data is unchanged") { scenario in
      try ScenarioWorld(simulating: database, seed: scenario.seed)
    }
    closeScenario()
    let show = shown(live)
    scenario = show
    show.begin()
  }

  /// Plays a scenario that has been changed. It replaces the scenario on the screen.
  package func play(_ changed: Scenario) { scenario?.begin(changed) }

  /// Shows a message about the file of the scenario on the screen.
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
    notify(.info, "the scenario is over; this is your data again")
    setNeedsFrame(for: .input)
  }

  private func performOfScenario(_ effect: Effect) {
    switch effect {
    case .terminal(.quit): leaveScenario()
    case .client, .timeline, .clientSet: break
    case .terminal, .recording: perform([effect])
    }
  }
}
