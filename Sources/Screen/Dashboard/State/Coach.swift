// SPDX-License-Identifier: Apache-2.0
import DashboardModel
import FirestoreClientState

/// A three-step guide for first-time users: switch the network off, write, switch it on again. It is one line that
/// disappears automatically. A step is complete when its action has happened, whatever caused the action.
package struct Coach: Hashable, Sendable {
  package enum Step: Int, Hashable, Sendable, CaseIterable { case unplug, write, plug }

  package private(set) var step = Step.unplug
  /// Whether the user asked to end the guide. Pressing the same key again ends it.
  package private(set) var isAsked = false

  package init() {}

  /// Moves to the step that fits the state.
  /// - Returns: whether the guide continues.
  mutating func follow(_ state: DashboardState) -> Bool {
    let network = state.network
    switch step {
    case .unplug: if !network.isNetworkEnabled { step = .write }
    case .write:
      // The network was plugged in again before a write, so the guide returns to the previous step.
      if network.isNetworkEnabled { step = .unplug } else if state.writes.waiting > 0 { step = .plug }
    case .plug: return !(network.isNetworkEnabled && network.onlineState == .online && state.writes.waiting == 0)
    }
    return true
  }

  /// Ends the guide on the second request.
  /// - Returns: the continued guide; `nil` if it ended.
  func ended() -> Coach? {
    guard !isAsked else { return nil }
    var coach = self
    coach.isAsked = true
    return coach
  }

  /// Cancels the first request to end the guide, because another key was pressed.
  mutating func goOn() { isAsked = false }

  /// The instruction of the current step. It names the key and what the user will see.
  package func text(of key: (String) -> String) -> (short: String, rest: String) {
    let number = "\(step.rawValue + 1) of \(Step.allCases.count)  "
    return switch step {
    case .unplug:
      (number + key("toggle-network") + " goes offline", ": the shop continues, this screen keeps its data")
    case .write:
      (
        number + key("edit-fields") + " on an order, \(key("open")) on its status, type paid",
        ", ctrl-s \(key("open")): it shows at once, pending in pane 2"
      )
    case .plug:
      (number + key("toggle-network") + " goes online again", ": pending writes are sent, missed changes arrive")
    }
  }
}
