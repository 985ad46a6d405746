// SPDX-License-Identifier: Apache-2.0
package import ClientPort
package import DashboardModel
package import FirestoreClientState
package import FirestoreModel
package import FirestoreQuery
package import TerminalCanvas

/// An event for the dashboard. Each event contains its time, because `update` has no clock.
package enum Action: Sendable {
  /// A key, the mouse, a paste, a resize or a focus change.
  case input(InputEvent, at: Timestamp)
  /// The time `DashboardState.nextTick` has been reached.
  case tick(Timestamp)
  /// An event of the client.
  case client(ClientEvent, at: Timestamp)
  /// An event of the screen's host.
  case host(HostEvent, at: Timestamp)
  /// The terminal connection became too slow for all frames, or fast enough again.
  case link(isSlow: Bool, at: Timestamp)
  /// The bytes and frames sent to the terminal so far.
  case sent(TerminalTraffic, at: Timestamp)
  /// The program starts a listener.
  case listen(Query, name: String, ListenerOptions, at: Timestamp)
  /// The program starts the listeners of earlier sessions or files, except those that are already running.
  case open([ListenerDefinition], at: Timestamp)
  /// Replaces all listeners of the dashboard with the given ones.
  case adopt([ListenerRecord], at: Timestamp)
  /// The user's files changed, or the terminal reported its background color.
  case configured(DashboardPreferences, at: Timestamp)
  /// A script sets a caption. An empty text removes the caption.
  case caption(String, at: Timestamp)
  /// A command from the program's command line runs, as if it were typed in the palette.
  case run(String, at: Timestamp)
  /// The count of feed rows that were overwritten between two frames on a slow terminal connection.
  case overwrote(Int, at: Timestamp)
  /// The clients that share the screen; `nil` for a single client.
  case clientSet(ClientSetFacts?, at: Timestamp)
}

extension Action {
  package init(_ event: ScreenEvent, at time: Timestamp) {
    switch event {
    case .client(let event): self = .client(event, at: time)
    case .host(let event): self = .host(event, at: time)
    }
  }
}

/// The only state transition of the dashboard. Applies an action and returns its effects. It has no side effects and
/// accepts any action in any state.
package func update(_ state: inout DashboardState, _ action: Action) -> [Effect] {
  var effects: [Effect]
  switch action {
  case .tick(let time):
    state.age(to: time)
    state.headerClock.advance(to: state.now)
    effects = state.takeDueReview()
    effects += state.browser.takeDueCounts(at: state.now, isOffline: state.network.isOffline)
    effects += state.network.isOffline ? [] : state.browser.renewals.takeDue(at: state.now)
    effects += state.takeDueLifetimes()
    effects += state.takeDuePreview()
    effects += state.takeDueQuestion()
    effects += state.takeNetworkReturn()
  case .client(let event, let time):
    state.age(to: time)
    state.headerClock.advance(to: state.now, isNews: state.isNews(event))
    effects = state.receive(event)
  case .host(let event, let time):
    state.age(to: time)
    state.headerClock.advance(to: state.now, isNews: event.isNews)
    effects = state.receive(event)
  case .input(let event, let time):
    state.age(to: time)
    effects = state.handle(event)
    effects += state.previewEdited()
  case .link(let isSlow, let time):
    state.age(to: time)
    state.screen.note(isLinkSlow: isSlow)
    if !isSlow { state.feed.forgetOverwritten() }
    effects = []
  case .sent(let traffic, let time):
    state.screen.note(traffic, at: time)
    effects = []
  case .listen(let query, let name, let options, let time):
    state.age(to: time)
    effects = state.listen(to: query, name: name, options)
  case .open(let definitions, let time):
    state.age(to: time)
    effects = state.open(definitions).effects
  case .adopt(let listeners, let time):
    state.age(to: time)
    state.listening.adopt(listeners)
    effects = []
  case .configured(let preferences, let time):
    state.age(to: time)
    state.adopt(preferences)
    effects = []
  case .caption(let text, let time):
    state.age(to: time)
    effects = state.show(caption: text)
  case .run(let text, let time):
    state.age(to: time)
    effects = state.run(typed: text)
  case .overwrote(let count, _):
    state.feed.note(overwritten: count)
    effects = []
  case .clientSet(let facts, let time):
    state.age(to: time)
    state.clientSet = facts
    effects = []
  }
  effects += state.browser.leaveEmptyVisit()
  for case .terminal(.copy(let text)) in effects { state.typing.keep(copied: text) }
  state.followCoach()
  if let program = state.configuration.attached { effects = state.permitted(effects, by: program) }
  if state.configuration.isReadOnly { effects = state.withoutWrites(effects) }
  state.settle()
  return effects
}

extension DashboardState {
  /// Moves each cursor to an existing row of its list, and scrolls the list so that the row is visible.
  mutating func settle() {
    if focus == .detail, detail == nil { focus = .collections }
    let layout = layout(size)
    settleResult(height: listHeight(of: .collections, layout))
    let rows = browser.rows.map(\.item)
    browser.reachDestination(in: rows)
    browser.cursor.settle(in: rows, height: listHeight(of: .collections, layout))
    writes.cursor.settle(in: writes.rows.map(\.batch), height: listHeight(of: .writes, layout))
    settleRanges()
    if feed.isPaused { feed.cursor.settle(in: feed.shown, height: listHeight(of: .feed, layout)) }
    if detail != nil {
      detail?.keepFieldLines()
      let (lines, height) = (detailLines, listHeight(of: .detail, layout))
      detail?.cursor.settle(in: lines.lazy.map(\.id), height: height)
    }
    if showsRequests { requests.settle(height: listHeight(of: .feed, layout)) }
    if overlay == nil, let waiting = typing.editing.takeWaiting() { overlay = .fields(waiting) }
    if overlay?.fieldEditor != nil { settleEditor(layout) }
    if let list = overlay?.list {
      let height = max(1, size.height - 6)
      let count = count(of: list)
      overlay?.list?.cursor.settle(
        in: 0..<count, height: list.kind == .palette ? min(height, Palette.shownItems) : height)
    }
  }

  mutating func followCoach() {
    guard var coach else { return }
    self.coach = coach.follow(self) ? coach : nil
    if self.coach == nil, coach.step == .plug {
      toast(.info, "The tour is over. ? shows every key, : finds every command.")
    }
  }

  mutating func toast(_ kind: Toast.Kind, _ text: String) {
    notices.tell(Toast(kind, text, shownAt: now))
  }
}
