// SPDX-License-Identifier: Apache-2.0
import Dashboard

/// News that may wait for the frame that shows it. It happens in the order in which it came: a status that waited must
/// never follow, and undo, a newer one that did not.
@MainActor
final class HeldNews {
  private var actions: [Action] = []
  private var isHappening = false
  private let happen: (Action) -> Void

  /// - Parameter happen: applies an action; news that it causes waits for its turn.
  init(happen: @escaping (Action) -> Void) { self.happen = happen }

  var isEmpty: Bool { actions.isEmpty }

  /// Puts an action behind those that wait, and lets all of them happen unless they are held.
  func take(_ action: Action, isHeld: Bool) {
    actions.append(action)
    if !isHeld { release() }
  }

  /// Lets everything that waits happen.
  func release() {
    if isHappening { return }
    isHappening = true
    defer { isHappening = false }
    while !actions.isEmpty { happen(actions.removeFirst()) }
  }
}
