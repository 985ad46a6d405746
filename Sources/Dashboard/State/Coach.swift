// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState

/// Three steps for somebody who sees the dashboard for the first time, in one line that goes by itself: pull the plug,
/// write, plug in again. Each step ends when what it asks for has happened, however it was brought about.
package struct Coach: Hashable, Sendable {
  package enum Step: Int, Hashable, Sendable, CaseIterable { case unplug, write, plug }

  package private(set) var step = Step.unplug

  package init() {}

  /// - Returns: whether there is more to do.
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

  /// What to do, with the key for it, and what will be seen then.
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
