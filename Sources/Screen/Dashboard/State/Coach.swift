// SPDX-License-Identifier: Apache-2.0
import DashboardModel
import FirestoreClientState

/// A guide in three steps for first-time users, in one line that disappears by itself: unplug the network, write, plug
/// it in again. Each step ends when its action has happened, in any way.
package struct Coach: Hashable, Sendable {
  package enum Step: Int, Hashable, Sendable, CaseIterable { case unplug, write, plug }

  package private(set) var step = Step.unplug

  package init() {}

  /// - Returns: whether there are more steps.
  mutating func follow(_ state: DashboardState) -> Bool {
    let network = state.network
    switch step {
    case .unplug: if !network.isNetworkEnabled { step = .write }
    case .write:
      if network.isNetworkEnabled { return false }
      if state.writes.waiting > 0 { step = .plug }
    case .plug: return !(network.isNetworkEnabled && network.onlineState == .online && state.writes.waiting == 0)
    }
    return true
  }

  /// The instruction of the step, with its key and its visible effect.
  func text(of key: (String) -> String) -> (short: String, rest: String) {
    let number = "\(step.rawValue + 1) of \(Step.allCases.count)  "
    return switch step {
    case .unplug:
      (number + key("toggle-network") + " pulls the plug", ": the shop goes on, this screen keeps what it has")
    case .write: (number + key("new") + " writes a document", ": it shows at once, and waits in pane 2")
    case .plug:
      (number + key("toggle-network") + " plugs in again", ": what waited leaves, and what was missed arrives")
    }
  }
}
