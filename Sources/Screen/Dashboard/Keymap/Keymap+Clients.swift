// SPDX-License-Identifier: Apache-2.0
import DashboardModel
import FirestoreClientState
import FirestoreText
import Spelling

/// The commands about the clients that share the screen.
extension Keymap {
  static let clients: [Command] = [
    Command(
      "next-client", "ctrl-n `", in: .screen, "let the keys act on the next client", hint: "client", 5,
      unless: { $0.reasonAgainstOtherClients }, run: { _ in [.clientSet(.focusNext)] }),
    Command(
      "zoom-client", "&", in: .screen, "let this client fill the screen, or show all clients again",
      unless: { $0.reasonAgainstOtherClients }, run: { _ in [.clientSet(.toggleZoom)] }),
  ]

  /// The palette-only command.
  static let client = Command(
    "client", "clients on this screen: go to one, add one with a separate cache and network, end one",
    CommandArgument(
      name: "NAME", hint: ClientWords.hint, completions: { ClientWords.completions($0, $1) },
      read: { text, state throws(TextError) in
        if let reason = state.reasonAgainstClients { throw TextError(column: 1, reason) }
        return try ClientWords.meaning(of: text, state)
      }))
}

extension DashboardState {
  var reasonAgainstOtherClients: String? {
    if isInScenario { return clientSet == nil ? "the scenario has one client" : nil }
    return reasonAgainstClients
      ?? (clientSet == nil ? "there is only one client; :client add NAME opens another" : nil)
  }

  /// The reason why this screen cannot have other clients.
  fileprivate var reasonAgainstClients: String? {
    if isInScenario { return nil }
    if let program = configuration.attached { return "attached: there is only the client of \(program.name)" }
    return past?.isReplay == true ? "this is a replay: it has no clients" : nil
  }
}

/// The commands that play scenarios, and the commands while a scenario plays.
extension Keymap {
  static let scenario: [Command] = [
    Command(
      "scenario-play", "space", in: .scenario, "pause before the next step, or continue; with --step, run the step",
      hint: "stop or go on", 0, run: { _ in [.clientSet(.scenario(.toggle))] }),
    Command(
      "scenario-next", "n", in: .scenario, "run the next step now", hint: "next step", 1,
      run: { _ in [.clientSet(.scenario(.next))] }),
    Command(
      "scenario-faster", "+", in: .scenario, "play faster", hint: "faster", 2,
      run: { _ in [.clientSet(.scenario(.faster))] }),
    Command(
      "scenario-slower", "-", in: .scenario, "play slower", hint: "slower", 3,
      run: { _ in [.clientSet(.scenario(.slower))] }),
    Command(
      "scenario-again", "r", in: .scenario, "play it again from its first step", hint: "again", 4,
      run: { _ in [.clientSet(.scenario(.again))] }),
  ]

  /// The palette-only commands.
  static let scenarioWords: [Command] = [
    Command(
      "scenario", "play a scenario on this screen, on a separate backend; your data is unchanged",
      CommandArgument(
        name: "NAME", hint: "the name of a shipped scenario; hearth play --list describes each",
        completions: { _, state in state.configuration.scenarios.map(\.name) },
        read: { text, state throws(TextError) in
          let all = state.configuration.scenarios
          guard let title = all.first(where: { $0.name == text }) else {
            let near = NearestName.suggestion(for: text, among: all.map(\.name)).map { "; did you mean \($0)?" } ?? ""
            throw TextError(column: 1, "no scenario is called \(text)\(near)")
          }
          return CommandArgument.Meaning(account: title.summary) { _ in
            [.terminal(.playScenario(title.name))]
          }
        })),
    Command(
      "pace", "set how long a playing scenario shows each step before it runs",
      CommandArgument(
        name: "TIME", hint: "500ms, 2s",
        read: { text, state throws(TextError) in
          guard state.isInScenario else {
            throw TextError(column: 1, "no scenario is playing here; scenario NAME plays one")
          }
          let time = try DurationText.parse(text)
          return CommandArgument.Meaning(account: "a step every \(text)") { _ in [.clientSet(.scenario(.pace(time)))] }
        })),
  ]
}

extension DashboardState {
  /// Whether the client belongs to a scenario that is being played.
  package var isInScenario: Bool { configuration.attached?.isOfScenario ?? false }

  /// Text that follows "by" and names who switched the network off.
  package var plugHolder: String {
    guard let program = configuration.attached else {
      return network.isDisabledByWatcher ? "an attached program" : "you"
    }
    guard network.isDisabledByWatcher else { return program.owner }
    return program.allowsControl ? "you" : "another attached program"
  }

  /// Whether a command is available while a scenario is on screen, and has a key in the current contexts.
  func canUse(_ command: Command) -> Bool {
    guard command.reason(self) == nil else { return false }
    return command.keys.contains { key in
      (configuration.keymap.command(for: key, in: [.scenario])?.name ?? command.name) == command.name
    }
  }
}
