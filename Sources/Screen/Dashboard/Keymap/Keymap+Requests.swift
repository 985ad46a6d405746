// SPDX-License-Identifier: Apache-2.0
import DashboardModel

/// The commands of pane 4's second list, and those that lead from one list to the other.
extension Keymap {
  static let feedTabs: [Command] = [
    Command(
      "next-tab", "]", in: .pane(.feed), "the requests that the server's rules decided on", hint: "requests", 12,
      run: { $0.turnFeed() }),
    Command(
      "previous-tab", "[", in: .pane(.feed), "the requests that the server's rules decided on", isListed: false,
      run: { $0.turnFeed() }),
    Command(
      "next-tab", "]", in: .requests, "the events", hint: "events", 1, run: { $0.turnFeed() }),
    Command("previous-tab", "[", in: .requests, "the events", isListed: false, run: { $0.turnFeed() }),
  ]

  static let requests: [Command] = [
    Command(
      "toggle-pause", "space p", in: .requests, "hold the selected request, or follow",
      hint: Wording { $0.requests.isFollowing ? "hold" : "follow" }, 4, change: { $0.toggleRequestsHeld() }),
    Command("follow", "f", in: .requests, "follow the tail", change: { $0.requests.follow() }),
    Command(
      "toggle-denied", "d", in: .requests, "only what was denied, or all", hint: "denied", 2,
      change: { $0.requests.isDeniedOnly.toggle() }),
    Command(
      "only-user", "a", in: .requests, "only requests as this user, or all again",
      unless: { $0.requests.selected == nil && $0.requests.onlyUser == nil ? "no request is selected" : nil },
      change: { $0.requests.toggleOnlyUser() }),
    Command(
      "refresh-requests", "r", in: .requests, "ask the server again", unless: { $0.reasonAgainstRequests },
      run: { $0.requests.ask(at: $0.now) }),
    Command("new", "n", in: .requests, "new listener", change: { $0.openListenerEditor(from: "") }),
  ]
}
