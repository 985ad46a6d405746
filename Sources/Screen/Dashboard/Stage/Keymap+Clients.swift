// SPDX-License-Identifier: Apache-2.0
import DashboardModel
import FirestoreText

/// The commands about the clients that share the screen.
extension Keymap {
  static let clients: [Command] = [
    Command(
      "next-client", "ctrl-n `", in: .screen, "let the keys act on the next client", hint: "client", 5,
      unless: { $0.reasonAgainstOtherClients }, run: { _ in [.stage(.focusNext)] }),
    Command(
      "zoom-client", "&", in: .screen, "let this client fill the screen, or show all clients again",
      unless: { $0.reasonAgainstOtherClients }, run: { _ in [.stage(.toggleZoom)] }),
  ]

  /// The command that is in the palette only.
  static let client = Command(
    "client", "clients on this screen: go to one, add one with a cache and a plug of its own, end one",
    CommandArgument(
      name: "NAME", hint: ClientWords.hint, completions: { ClientWords.completions($0, $1) },
      read: { text, state throws(TextError) in
        if let reason = state.reasonAgainstClients { throw TextError(column: 1, reason) }
        return try ClientWords.meaning(of: text, state)
      }))
}

extension DashboardState {
  var reasonAgainstOtherClients: String? {
    if isInScenario { return stage == nil ? "the scenario has one client" : nil }
    return reasonAgainstClients
      ?? (stage == nil ? "there is one client; :client add NAME opens another beside it" : nil)
  }

  /// The reason why this screen can have no other clients.
  fileprivate var reasonAgainstClients: String? {
    if isInScenario { return nil }
    if let program = configuration.attached { return "attached: the client is \(program.name)'s, and alone here" }
    return past?.isReplay == true ? "this is a replay: there is no client here" : nil
  }
}
