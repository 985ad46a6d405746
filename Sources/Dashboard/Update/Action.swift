// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
package import TerminalCanvas

/// Everything that can happen to the dashboard. Each carries when it happened: `update` has no clock.
package enum Action: Sendable {
  /// A key, the mouse, a paste, a resize or a focus change.
  case input(InputEvent, at: Timestamp)
  /// The moment that `DashboardState.nextTick` named has come.
  case tick(Timestamp)
  /// News from the client.
  case client(ClientEvent, at: Timestamp)
}
