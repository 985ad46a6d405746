// SPDX-License-Identifier: Apache-2.0

/// A change of the clients on the screen. Performed by `ClientStage`.
package enum StageEffect: Equatable, Sendable {
  /// Open a client with a cache of its own, and give it the focus.
  case add(name: String, user: String?)
  /// End a client, with what waits in its cache.
  case remove(name: String)
  /// Let the keys act on a client.
  case focus(name: String)
  case focusNext
  /// Fill the screen with the client that has the focus, or show all again.
  case toggleZoom
  /// Stop the scenario that is played, let it go on, or change its pace.
  case scenario(ScenarioControl)
}
