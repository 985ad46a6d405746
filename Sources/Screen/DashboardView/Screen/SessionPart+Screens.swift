// SPDX-License-Identifier: Apache-2.0
package import Dashboard
import DashboardModel
package import FirestoreModel
package import TerminalCanvas

extension SessionPart {
  /// A screen that differs from the one before it.
  package struct Screen: Sendable {
    /// The seconds from the first screen on.
    package var seconds: Double
    package var canvas: Canvas
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
