// SPDX-License-Identifier: Apache-2.0
import DashboardModel
import FirestoreClientState

extension DashboardState {
  mutating func adopt(_ preferences: DashboardPreferences) {
    configuration.themes = preferences.themes
    configuration.keymap = preferences.keymap
    configuration.glyphs = preferences.glyphs
    configuration.inside = preferences.inside
    screen.adopt(preferences)
  }

  /// The reason why a read-only dashboard refuses a command.
  var readOnlyReason: String {
    let backend = configuration.backend
    if let name = backend.name, backend.isReadOnly == true { return "read-only: the connection \(name) is" }
    return "read-only: hearth was started with --readonly"
  }

  /// The effects that change no data; a message tells if others were dropped. Commands refuse earlier, with the same
  /// reason; this is for effects that a command overlooks.
  mutating func withoutWrites(_ effects: [Effect]) -> [Effect] {
    let allowed = effects.filter { !$0.isWrite }
    if allowed.count < effects.count { toast(.warning, readOnlyReason) }
    return allowed
  }
}

extension Effect {
  /// Whether the effect changes documents or pending writes.
  var isWrite: Bool {
    switch self {
    case .client(.write), .client(.edit), .client(.cancelWrite), .client(.setWriteAside), .client(.undo),
      .client(.resend), .client(.dropRejected):
      true
    case .terminal(.edit): true
    case .client(.transfer(let request)): request.isImport
    case .client, .terminal, .timeline, .recording, .stage: false
    }
  }
}
