// SPDX-License-Identifier: Apache-2.0
import DashboardModel
package import FirestoreModel
import TerminalCanvas

/// An earlier state of the session, with the viewer's changes to the screen.
struct Past: Sendable {
  /// The count of actions between two stored states. Stored states shorten the replay when the user steps backward.
  private static let spacing = 64
  private static let mostKept = 32

  private(set) var position: Int
  /// The recorded state.
  @Boxed private(set) var state: DashboardState
  /// The state on screen.
  @Boxed var shown: DashboardState
  /// Whether the viewer has rearranged the panes. If not, the recorded arrangement is shown.
  var isArranged: Bool
  /// The messages to the viewer. Their times are those of the running clock, not of the recording.
  var toasts: [Toast] = []
  private var passed: [(position: Int, frame: FrameState)] = []

  /// Creates an earlier state. Call `move` before showing it.
  /// - Parameter viewer: the state with the screen's size, theme and keys.
  init(_ state: DashboardState, at position: Int, viewer: DashboardState, isArranged: Bool) {
    self.position = position
    self.state = state
    self.isArranged = isArranged
    shown = viewer
  }

  /// Moves to a position of a log.
  mutating func move(to target: Int, in log: SessionLog) {
    let target = max(log.start, min(target, log.end))
    let isFar = target - position > 4 * Self.spacing || position < log.start
    if isFar || target < position, let base = nearest(to: target, in: log),
      target < position || base.position > position
    {
      (state, position) = (base.state, base.position)
    }
    while position < target, let entry = log[position] { pass(entry.action) }
    compose()
  }

  private mutating func pass(_ action: Action) {
    if position.isMultiple(of: Self.spacing), passed.last.map({ $0.position < position }) ?? true {
      passed.append((position, FrameState(state)))
      if passed.count > Self.mostKept { passed.removeFirst() }
    }
    _ = update(&state, action)
    position += 1
  }

  private func nearest(to target: Int, in log: SessionLog) -> (state: DashboardState, position: Int)? {
    let base = log.base(of: target)
    let near = passed.last { $0.position <= target }
    guard let near, near.position > base?.position ?? -1 else { return base }
    return (near.frame.state, near.position)
  }

  // MARK: The shown state

  /// The recorded state and arrangement, on a screen of the viewer's size.
  var asItWas: DashboardState {
    var was = state
    was.screen.adoptTerminal(of: shown.screen)
    was.configuration.glyphs = shown.configuration.glyphs
    was.configuration.themes = shown.configuration.themes
    was.configuration.keymap = shown.configuration.keymap
    was.clientSet = shown.clientSet ?? was.clientSet
    was.settle()
    return was
  }

  /// Creates the state that the viewer's screen shows.
  mutating func compose() {
    let before = shown
    shown = asItWas
    shown.past = before.past
    shown.typing.adoptPressed(of: before.typing)
    // The keys of the timeline replace the guide.
    shown.coach = nil
    if isArranged { arrange(as: before) }
    showToasts()
    shown.settle()
  }

  /// Restores the viewer's arrangement of the screen.
  private mutating func arrange(as before: DashboardState) {
    shown.focus = before.focus
    shown.screen.adoptArrangement(of: before.screen)
    shown.overlay = before.overlay
    shown.browser.cursor = before.browser.cursor
    shown.browser.result = before.browser.result?.withoutNews
    shown.writes.cursor = before.writes.cursor
    shown.typing.adoptUnfinished(of: before.typing)
    shown.feed.tab = before.feed.tab
    shown.feed.follow()
    shown.feed.filter = before.feed.filter
    shown.feed.onlyListener = before.feed.onlyListener
    shown.feed.onlyDocument = before.feed.onlyDocument
    shown.feed.showsDeltas = before.feed.showsDeltas
    guard var detail = before.detail else {
      shown.detail = nil
      return
    }
    let then = state.detail?.key == detail.key ? state.detail : nil
    detail.remote = then?.remote
    detail.overlay = then?.overlay
    detail.local = then.map(\.local) ?? state.document(detail.key)
    detail.isLoaded = then?.isLoaded ?? (detail.local != nil)
    shown.detail = detail
  }

  mutating func showToasts() {
    shown.notices.show((isArranged ? [] : state.toasts) + toasts)
  }

  /// - Returns: whether a message has disappeared.
  mutating func age(to now: Timestamp) -> Bool {
    shown.typing.age(to: now)
    guard toasts.contains(where: { $0.expiry <= now }) else { return false }
    toasts.removeAll { $0.expiry <= now }
    showToasts()
    return true
  }
}

/// The earlier time that the screen shows instead of the present.
package struct PastMoment: Hashable, Sendable {
  package struct Replay: Hashable, Sendable {
    /// The count of events up to the time that is shown, and the total count.
    package var position: Int
    package var count: Int
    package var isPlaying: Bool
    /// The speed of the replay as text: `x2`, `max`.
    package var speed: String
    package var isAtEnd: Bool
  }

  /// The time that the screen shows.
  package var time: Timestamp
  /// The seconds between the time that is shown and the present. Used only for the running session.
  package var secondsBehind: Int64 = 0
  /// The count of the client's events since the time that is shown. Used only for the running session.
  package var newEvents = 0
  /// The state of the replay; `nil` for the running session.
  package var replay: Replay?

  package var isReplay: Bool { replay != nil }

  /// Explains why no data is written at an earlier time, and how to return to the present.
  func refusal(_ state: DashboardState) -> String {
    if isReplay { return "this is a replay: no client is open, nothing is written" }
    return "you are viewing \(clock(state)); esc returns"
  }

  func clock(_ state: DashboardState) -> String { TimeText.clock(time, offset: state.configuration.utcOffset) }

  /// The badges for the header, longest first.
  package func badges(_ state: DashboardState) -> [String] {
    let clock = clock(state)
    let glyphs = state.configuration.glyphs
    if let replay {
      let shown = "\(grouped(replay.position)) of \(grouped(replay.count))"
      let way = replay.isAtEnd ? "end" : replay.isPlaying ? replay.speed : "\(replay.speed) stopped"
      return [
        "[REPLAY \(clock) \(glyphs.bullet) \(shown) \(glyphs.bullet) \(way)]", "[REPLAY \(clock) \(way)]", "[REPLAY]",
      ]
    }
    let behind = TimeText.elapsed(seconds: secondsBehind)
    let new = newEvents > 0 ? " \(glyphs.bullet) +\(grouped(newEvents)) new" : ""
    return ["[THEN \(clock) \(glyphs.bullet) \(behind) ago\(new)]", "[THEN \(clock)]", "[THEN]"]
  }
}
