// SPDX-License-Identifier: Apache-2.0
import ClientPort
package import DashboardModel
package import FirestoreModel
import TerminalCanvas

/// The dashboard over time: the current state, its history, and the time that the screen shows. Free of side effects,
/// like `update`. A running session and a replayed session differ only in where their actions come from.
package struct DashboardSession: Sendable {
  /// The current state and its history.
  @Boxed package private(set) var live: DashboardState
  package private(set) var log: SessionLog
  private var moment = Moment.present
  /// The playback of a replayed session; `nil` for a running session.
  private(set) var playback: Playback?
  /// The session band of the whole replayed session.
  private var wholeBand: SessionBand?
  private var now: Timestamp
  /// The actions that have changed the current state during this call of `apply`.
  private var happened: [Action] = []

  /// Starts a running session.
  package init(_ live: DashboardState, limit: SessionLog.Limit = .standard) {
    self.live = live
    log = SessionLog(limit)
    now = live.now
  }

  /// The time that the screen shows. Indirect, so that a session contains one state instead of three.
  private indirect enum Moment: Sendable { case present, past(Past) }

  /// The earlier state on screen; `nil` while the screen shows the current state.
  private(set) var past: Past? {
    get { if case .past(let past) = moment { past } else { nil } }
    _modify {
      // Moved out, so that the changed value is uniquely referenced.
      var past = past
      moment = .present
      defer { moment = past.map(Moment.past) ?? .present }
      yield &past
    }
  }

  /// The state on screen.
  package var shown: DashboardState { past?.shown ?? live }

  /// The shown state with its recorded arrangement, on a screen of the viewer's size.
  package var asItWas: DashboardState { past?.asItWas ?? live }

  /// The next time when the screen changes although no event occurs.
  package var nextTick: Timestamp {
    guard let past else { return live.nextTick }
    var moments = past.toasts.map(\.expiry) + [past.shown.typing.pressed?.expiry].compactMap(\.self)
    if let playback {
      if playback.isPlaying, let next = log[past.position] {
        moments.append(playback.due(of: next.action.time, after: now))
      }
    } else {
      moments += [live.nextTick, now.nextSecond]
    }
    return moments.reduce(now.nextMinute) { min($0, max($1, now.nextMillisecond)) }
  }

  /// Applies an action.
  /// - Parameter client: the client of this dashboard.
  package mutating func apply(_ action: Action, of client: ClientNumber = .first) -> UpdateResult {
    (now, happened) = (action.time, [])
    var effects: [Effect] = []
    if past == nil {
      effects = happen(action)
    } else if case .input(let event, _) = action, !event.isResize {
      effects = look(event)
    } else {
      if playback == nil { effects = happen(action) }
      pass(action)
    }
    for case .timeline(let effect) in effects { perform(effect) }
    effects.removeAll { if case .timeline = $0 { true } else { false } }
    if past != nil { tell() }
    return UpdateResult(
      effects: effects.map { OfClient(client, $0) }, happened: happened.map { OfClient(client, $0) })
  }

  /// Applies an action to the current state.
  private mutating func happen(_ action: Action) -> [Effect] {
    log.append(action, to: live)
    happened.append(action)
    return update(&live, action)
  }

  // MARK: The past

  /// Handles a key or the mouse while the screen shows an earlier time.
  private mutating func look(_ event: InputEvent) -> [Effect] {
    guard var past else { return [] }
    var state = past.shown
    // A recorded overlay is visible but not usable.
    if !past.isArranged { state.overlay = nil }
    let before = state
    state.notices.dismiss()
    state.now = now
    let effects = state.handle(event)
    let isMove = !effects.isEmpty && effects.allSatisfy { if case .timeline = $0 { true } else { false } }
    let refused = effects.contains { !$0.isPossibleInThePast }
    if refused { state = before } else { past.toasts += state.toasts }
    if refused { past.toasts.append(Toast(.warning, past.shown.past?.refusal(before) ?? "", shownAt: now)) }
    state.now = before.now
    if !isMove || state.overlay?.kind != before.overlay?.kind || past.isArranged {
      past.isArranged = true
      past.shown = state
      past.shown.coach = nil
    }
    past.showToasts()
    past.shown.settle()
    self.past = past
    return refused ? [] : effects.filter { if case .client = $0 { false } else { true } }
  }

  /// Handles all other actions while the screen shows an earlier time.
  private mutating func pass(_ action: Action) {
    let now = now
    switch action {
    case .input(.resize(let size), _): past?.shown.screen.resize(to: size)
    case .host(.notice(let kind, let text), _): past?.toasts.append(Toast(kind, text, shownAt: now))
    case .configured(let preferences, _): past?.shown.adopt(preferences)
    case .link(let isSlow, _): past?.shown.screen.note(isLinkSlow: isSlow)
    case .clientSet(let facts, _): past?.shown.clientSet = facts
    case .input, .client, .host, .tick, .sent, .listen, .open, .adopt, .caption, .run, .overwrote: break
    }
    _ = past?.age(to: now)
    past?.showToasts()
    past?.shown.settle()
    play()
  }

  private mutating func play() {
    guard let playback, playback.isPlaying, let past else { return }
    var position = past.position
    if let target = playback.target(at: now) {
      while let entry = log[position], entry.action.time <= target { position += 1 }
    } else {
      position += Playback.batch
    }
    let log = log
    if position != past.position { self.past?.move(to: position, in: log) }
    guard position >= log.end else { return }
    self.playback?.stop()
    say(.info, "The recording ends here. Press , to go back or q to quit.")
  }

  private mutating func say(_ kind: Toast.Kind, _ text: String) {
    let toast = Toast(kind, text, shownAt: now)
    past?.toasts.append(toast)
    past?.showToasts()
  }

  /// Updates the header's information about the time that is shown.
  private mutating func tell() {
    guard let past else { return }
    var moment = PastMoment(time: past.state.now)
    if let playback {
      let shown = log.steps(in: log.start..<past.position)
      moment.replay = PastMoment.Replay(
        position: shown, count: log.steps, isPlaying: playback.isPlaying, speed: playback.speed.text,
        isAtEnd: past.position >= log.end)
    } else {
      moment.secondsBehind = now.wholeSeconds(since: past.state.now)
      moment.newEvents = log.steps(in: max(log.start, past.position)..<log.end)
    }
    self.past?.shown.past = moment
    let band = wholeBand ?? live.feed.band
    self.past?.shown.feed.show(band)
  }

  // MARK: Moving

  private mutating func perform(_ effect: TimelineEffect) {
    switch effect {
    case .earlier:
      let from = past?.position ?? log.end
      guard let target = log.earlier(than: from) else {
        return nothing("nothing earlier is kept")
      }
      move(to: target)
    case .later:
      guard let past else { return }
      guard let target = log.later(than: past.position) else {
        if playback != nil { return move(to: log.end) }
        return leave()
      }
      move(to: target)
    case .earlierSnapshot(let tag):
      guard let target = log.earlier(than: past?.position ?? log.end, of: tag) else {
        return nothing("no earlier snapshot of this listener is kept")
      }
      move(to: target)
      tellSnapshot(of: tag)
    case .laterSnapshot(let tag):
      guard let past else { return }
      guard let target = log.later(than: past.position, of: tag) else {
        if playback != nil { return move(to: log.end) }
        return leave()
      }
      move(to: target)
      tellSnapshot(of: tag)
    case .seek(let place): seek(place)
    case .leave: if playback == nil { leave() }
    case .togglePlaying: togglePlaying()
    case .faster, .slower:
      guard let past else { return }
      playback?.change(by: effect == .faster ? 1 : -1, shown: past.state.now, at: now)
    }
  }

  /// Shows in the title which of the listener's stored snapshots is on screen.
  private mutating func tellSnapshot(of tag: ListenerTag) {
    guard let past else { return }
    let shown = log.snapshots(of: tag, in: log.start..<past.position).count
    let all = shown + log.snapshots(of: tag, in: past.position..<log.end).count
    let name = past.state.listening[tag]?.name ?? "listener"
    say(.info, "\(name): snapshot \(grouped(shown)) of the \(grouped(all)) that are kept")
  }

  private mutating func seek(_ place: TimelinePlace) {
    let moment = past?.state.now ?? now
    switch place {
    case .start: move(to: log.start)
    case .end: playback == nil ? leave() : move(to: log.end)
    case .event(let number):
      guard number <= log.steps(in: log.start..<log.end) else {
        return nothing("there are fewer than \(number) events")
      }
      move(to: log.position(ofStep: number))
    case .ago(let seconds): move(to: log.position(at: moment.advanced(seconds: -Int64(seconds))))
    case .moment(let time):
      let position = log.position(at: time)
      guard position > log.start || log.start == 0 else { return nothing("nothing of that time is stored anymore") }
      if playback == nil, position >= log.end { return leave() }
      move(to: position)
    case .timeOfDay(let milliseconds):
      let time = latest(milliseconds)
      let position = log.position(at: time)
      guard position > log.start || log.start == 0 else { return nothing("nothing of that time is stored anymore") }
      if playback == nil, position >= log.end { return nothing("nothing has happened since then: this is the present") }
      move(to: position)
    }
  }

  /// The latest moment that has the given time of day and is at most about a minute after the last event.
  private func latest(_ milliseconds: Int) -> Timestamp {
    let last = (log[log.end - 1]?.action.time ?? now).advanced(seconds: 1)
    let offset = Int64(live.configuration.utcOffset)
    let day = (last.seconds &+ offset) / 86_400 * 86_400 &- offset
    let time = Timestamp(microseconds: day &* 1_000_000 &+ Int64(milliseconds) * 1000 + 999)
    let isAhead = time.seconds > last.seconds &+ 60
    return isAhead ? time.advanced(seconds: -86_400) : time
  }

  private mutating func move(to position: Int) {
    if past == nil {
      guard let base = log.base(of: log.end) else { return nothing("nothing has happened yet") }
      past = Past(base.state, at: base.position, viewer: live, isArranged: true)
    }
    let log = log
    past?.move(to: position, in: log)
    if let shown = past?.state.now, playback?.isPlaying == true { playback?.play(from: shown, at: now) }
  }

  private mutating func leave() {
    guard let past else { return }
    let shown = past.shown
    // A theme that was chosen in the past also applies to the present.
    if shown.screen.theme != live.screen.theme || shown.screen.isMouseOn != live.screen.isMouseOn {
      let preferences = DashboardPreferences(
        themes: live.configuration.themes, theme: shown.screen.theme, keymap: live.configuration.keymap,
        glyphs: live.configuration.glyphs, isMouseOn: shown.screen.isMouseOn, inside: live.configuration.inside)
      _ = happen(.configured(preferences, at: now))
    }
    self.past = nil
  }

  private mutating func togglePlaying() {
    guard let past, let playback else { return }
    if playback.isPlaying { return self.playback?.stop() ?? () }
    if past.position >= log.end { move(to: log.start) }
    let start = self.past?.state.now ?? now
    self.playback?.play(from: start, at: now)
  }

  private mutating func nothing(_ text: String) {
    if past == nil {
      _ = happen(.host(.notice(.info, text), at: now))
    } else {
      say(.info, text)
    }
  }
}

extension DashboardSession {
  /// Starts the replay of a recorded session at its beginning.
  /// - Parameters:
  ///   - recorded: the state at the recording's start.
  ///   - viewer: the state with the screen's size, theme and keys.
  package init(
    replaying recorded: DashboardState, _ actions: some Sequence<Action>, viewer: DashboardState, _ playback: Playback,
    at now: Timestamp
  ) {
    self.init(recorded, limit: .none)
    self.now = now
    var state = recorded
    for action in actions {
      log.append(action, to: state)
      _ = update(&state, action)
    }
    wholeBand = state.feed.band
    var playback = playback
    if playback.isPlaying { playback.play(from: recorded.now, at: now) }
    self.playback = playback
    past = Past(recorded, at: 0, viewer: viewer, isArranged: false)
    past?.compose()
    tell()
  }

  package mutating func go(to place: TimelinePlace) {
    perform(.seek(place))
    tell()
  }
}

extension InputEvent {
  fileprivate var isResize: Bool { if case .resize = self { true } else { false } }
}

extension Effect {
  /// Whether the effect is allowed while the screen shows an earlier time. Some allowed effects are dropped without a
  /// message.
  fileprivate var isPossibleInThePast: Bool {
    switch self {
    case .client(.openDetail), .client(.closeDetail), .client(.closeWindow), .client(.listCollections),
      .client(.listMissing), .client(.count):
      true
    case .client, .terminal(.edit), .clientSet(.add), .clientSet(.remove): false
    case .terminal, .timeline, .recording, .clientSet: true
    }
  }
}
