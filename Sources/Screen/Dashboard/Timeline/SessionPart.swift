// SPDX-License-Identifier: Apache-2.0
import DashboardModel
package import FirestoreModel
package import TerminalCanvas

/// A part of a session that is played again, to see its screens: a state, and the actions that follow it.
package struct SessionPart: Sendable {
  /// A screen that differs from the one before it.
  package struct Screen: Sendable {
    /// The seconds from the first screen on.
    package var seconds: Double
    package var canvas: Canvas
  }

  private var state: DashboardState
  private let actions: [Action]

  package init(from state: DashboardState, _ actions: [Action]) {
    self.state = state
    self.actions = actions
  }

  /// The state after all actions.
  package var end: DashboardState {
    var state = state
    for action in actions { _ = update(&state, action) }
    return state
  }

  /// The screens between two moments.
  /// - Parameter step: the seconds between two looks at the screen.
  package func screens(from start: Timestamp, to end: Timestamp, step: Double) -> [Screen] {
    var state = state
    var screens: [Screen] = []
    var next = actions.startIndex
    let count = max(0, Int(Double(end.milliseconds(since: start)) / (step * 1000)))
    for look in 0...count {
      let seconds = Double(look) * step
      let moment = Timestamp(microseconds: start.microseconds + Int64(seconds * 1_000_000))
      while next < actions.endIndex, actions[next].time <= moment {
        _ = update(&state, actions[next])
        next += 1
      }
      let canvas = view(state)
      if screens.last?.canvas != canvas { screens.append(Screen(seconds: seconds, canvas: canvas)) }
    }
    return screens
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
