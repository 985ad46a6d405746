// SPDX-License-Identifier: Apache-2.0
import DashboardModel
package import FirestoreModel

/// A part of a session that can be played again: a state, and the actions that follow it.
package struct SessionPart: Sendable {
  private let start: FrameState
  package let actions: [Action]

  package var state: DashboardState { start.state }

  package init(from state: DashboardState, _ actions: [Action]) {
    start = FrameState(state)
    self.actions = actions
  }

  /// The state after all actions.
  package var end: DashboardState {
    var state = state
    for action in actions { _ = update(&state, action) }
    return state
  }
}

extension DashboardSession {
  /// The part of the session that is kept in memory and reaches back to a moment, or as far as it is kept.
  package func part(since start: Timestamp) -> SessionPart {
    let position = log.position(at: start)
    guard let base = log.base(of: position) else { return SessionPart(from: live, []) }
    return SessionPart(from: base.state, (base.position..<log.end).compactMap { log[$0]?.action })
  }
}
