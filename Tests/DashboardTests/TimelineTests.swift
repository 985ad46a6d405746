// SPDX-License-Identifier: Apache-2.0
import ClientPort
import FirestoreClientState
import FirestoreModel
import FirestoreQuery
import FirestoreTesting
import TerminalCanvas
import TerminalTesting
import Testing

@testable import Dashboard
@testable import DashboardModel
@testable import DashboardView

@Suite("Session timeline")
struct TimelineTests {
  /// A session with a listener and orders that change once a second.
  private struct Run {
    var session: DashboardSession
    var actions: [Action] = []
    /// The panes after each change.
    var screens: [[String]] = []
    /// Whether they are kept.
    var keepsScreens = true
    var now = at(0)
    private var status = "new"

    init(limit: SessionLog.Limit = .standard) {
      session = DashboardSession(Driver().state, limit: limit)
      send(.client(.collections(below: .root, ["orders"]), at: now))
      send(.listen(Query(path: ResourcePath("orders")), name: "orders", ListenerOptions(), at: now))
    }

    @discardableResult
    mutating func send(_ action: Action) -> [Effect] {
      let result = session.apply(action)
      actions += result.happened.map(\.item)
      return result.effects.map(\.item)
    }

    /// - Returns: what the last key led to.
    @discardableResult
    mutating func press(_ keys: String) -> [Effect] {
      var effects: [Effect] = []
      for name in keys.split(separator: " ") {
        Key(String(name)).map { effects = send(.input(.key($0), at: now)) }
      }
      return effects
    }

    mutating func type(_ text: String) {
      for character in text { send(.input(.key(.character(character)), at: now)) }
    }

    mutating func change(at second: Double, _ status: String) {
      now = at(second)
      let old = document("orders/a", at: second - 1, ["status": .string(self.status)])
      let new = document("orders/a", at: second, ["status": .string(status), "n": .integer(Int64(second))])
      self.status = status
      let snapshot = ListenerSnapshot(
        listener: session.live.listeners[0].tag, changes: [.init(.modified, new, previous: old)], isFromCache: false,
        syncStateChanged: false, hasPendingWrites: false, count: 1, causes: [.server(SnapshotVersion(now))])
      send(.client(.snapshot(snapshot), at: now))
      if keepsScreens { screens.append(panes(view(session.live))) }
    }

    var screen: String { view(session.shown).text }
    var header: String { view(session.shown).text(row: 0) }
    /// Without the header, the footer and the row of the whole session.
    func panes(_ canvas: Canvas) -> [String] {
      let band = session.live.layout(canvas.size).band?.y
      return (1..<(canvas.size.height - 1)).filter { $0 != band }.map { canvas.text(row: $0) }
    }
    var panes: [String] { panes(view(session.shown)) }
  }

  @Test("( and ) step through one listener's snapshots and skip other events")
  func snapshotsOfOneListener() {
    var run = Run()
    run.keepsScreens = false
    run.send(.listen(Query(path: ResourcePath("users")), name: "users", ListenerOptions(), at: run.now))
    func users(at second: Double, _ name: String) {
      let user = document("users/ada", at: second, ["name": .string(name)])
      run.now = at(second)
      run.send(
        .client(
          .snapshot(
            ListenerSnapshot(
              listener: run.session.live.listeners[1].tag, changes: [.init(.modified, user, previous: nil)],
              isFromCache: false, syncStateChanged: false, hasPendingWrites: false, count: 1,
              causes: [.server(SnapshotVersion(run.now))])),
          at: run.now))
    }
    users(at: 1, "Ada")
    run.change(at: 2, "state 2")
    users(at: 4, "Grace")
    run.change(at: 6, "state 6")
    users(at: 8, "Edsger")
    run.change(at: 9, "state 9")
    run.press("W j enter")
    #expect(run.screen.contains("Edsger"))

    run.press("(")
    #expect(run.screen.contains("Grace") && !run.screen.contains("Edsger"), "\(run.screen)")
    #expect(run.screen.contains("users: snapshot 2 of the 3 that are kept"))
    run.press("(")
    #expect(run.screen.contains("Ada") && run.screen.contains("snapshot 1 of the 3"))
    run.press("(")
    #expect(run.screen.contains("no earlier snapshot of this listener is kept"))
    run.press(")")
    #expect(run.screen.contains("Grace"))
    run.press(") )")
    #expect(run.session.shown.past == nil && run.screen.contains("Edsger"))
  }

  @Test("The ( key needs a listener's result and reports if there is none")
  func noListener() {
    var run = Run()
    run.press("1 (")
    #expect(run.screen.contains("show the result of a listener first"))
  }

  private func run(limit: SessionLog.Limit = .standard) -> Run {
    var run = Run(limit: limit)
    for second in 1...9 { run.change(at: Double(second), "state \(second)") }
    return run
  }

  @Test("Comma shows the previous event, period shows the next, and Esc shows the present")
  func steps() {
    var run = run()
    run.press(",")
    #expect(run.panes == (run.screens[7]))
    #expect(run.header.contains("[THEN 12:04:08 · 0:01 ago · +1 new]"))
    run.press(", ,")
    #expect(run.panes == (run.screens[5]))
    run.press(".")
    #expect(run.panes == (run.screens[6]))
    run.press("esc")
    #expect(view(run.session.shown) == view(run.session.live))
    #expect(run.session.past == nil)
    // Behind the last event is the present.
    run.press(", . .")
    #expect(run.session.past == nil)
  }

  @Test("Events that arrive while the past is shown appear only in the present")
  func meanwhile() {
    var run = run()
    run.press(", ,")
    let before = run.panes
    for second in 10...12 { run.change(at: Double(second), "later \(second)") }
    #expect(run.panes == before)
    #expect(run.header.contains("0:05 ago · +5 new"))
    run.press("esc")
    #expect(run.screen.contains("later 12"))
    #expect(run.session.live.feed.total == 12)
  }

  @Test(":at goes to a time of day, to a time before now or to an event number")
  func places() {
    var run = run()
    run.press(":")
    run.type("at 12:04:03")
    #expect(run.screen.contains("show all panes at 12:04:03"))
    run.press("enter")
    #expect(run.panes == (run.screens[2]))
    run.press(":")
    run.type("at -2s")
    run.press("enter")
    #expect(run.panes == (run.screens[0]))
    run.press(":")
    run.type("at 5")
    run.press("enter")
    #expect(run.panes == (run.screens[4]))
    run.press(":")
    run.type("at 77")
    run.press("enter")
    #expect(run.screen.contains("there are fewer than 77 events"))
    #expect(TimelinePlace("12:04:16.25") == .timeOfDay(milliseconds: 43_456_259))
    #expect(TimelinePlace("12:04") == .timeOfDay(milliseconds: 43_499_999))
    for text in ["", "25:00", "12:61", "12:04:16.", "-s", "-5", "x", "0", "12:04:16.1234"] {
      #expect(TimelinePlace(text) == nil, "\(text)")
    }
  }

  @Test("While the past is shown, writes and requests are rejected with a message")
  func refusal() {
    var run = run()
    run.press("1 , ,")
    for key in ["o", "u", "U", "X", "x", "e", "d"] {
      #expect(run.press(key).allSatisfy { if case .client = $0 { false } else { true } }, "\(key)")
    }
    run.press("o")
    #expect(run.screen.contains("you are viewing 12:04:07; esc returns"))
    let listeners = run.session.live.listeners.count
    run.press("4 n")
    run.type("users")
    run.press("enter")
    #expect(run.session.shown.listeners.count == listeners)
    #expect(run.screen.contains("you are viewing"))
    // The present knows nothing of these keys.
    #expect(run.session.live.overlay == nil)
    #expect(run.session.past != nil)
  }

  @Test("Moving in time keeps the viewer's focus, zoom and open document")
  func arrangement() {
    var run = run()
    run.press(", 4 +")
    run.press(",")
    #expect(run.session.shown.focus == .feed)
    #expect(run.session.shown.screen.isZoomed)
    run.press("_ ? ")
    #expect(run.session.shown.overlay?.kind == .help)
    run.press("esc")
    #expect(run.session.past != nil)
    run.press("esc")
    #expect(run.session.past == nil)
  }

  @Test("Every recorded moment shows its original screen, after any jump")
  func jumps() {
    let limit = SessionLog.Limit(segmentBytes: 1 << 20, segmentActions: 25, segments: .max)
    var run = Run(limit: limit)
    for second in 1...80 { run.change(at: Double(second) / 4, "state \(second)") }
    for step in [3, 78, 77, 1, 37, 48, 47, 80, 16, 17, 32] {
      run.press(":")
      run.type("at \(step)")
      run.press("enter")
      #expect(run.panes == (run.screens[step - 1]), "step \(step)")
    }
  }

  @Test("A session log is limited and reports moments that are no longer stored")
  func bound() {
    let limit = SessionLog.Limit(segmentBytes: 20_000, segmentActions: 50, segments: 3)
    var run = Run(limit: limit)
    run.keepsScreens = false
    for second in 1...600 { run.change(at: Double(second) / 100, "state \(second)") }
    #expect(run.session.log.byteCount <= 60_000)
    #expect(run.session.log.end - run.session.log.start <= 150)
    #expect(run.session.log.all == nil)
    run.press(":")
    run.type("at 12:04:01")
    run.press("enter")
    #expect(run.screen.contains("nothing of that time is stored anymore"))
    #expect(run.session.past == nil)
    // What is shown stays when it falls out of the log; from there one goes on to what is kept.
    run.press(", ,")
    let before = run.panes
    for second in 601...900 { run.change(at: Double(second) / 100, "state \(second)") }
    #expect(run.panes == before)
    run.press(".")
    #expect(run.screen.contains("state "))
    run.press("esc")
    #expect(run.screen.contains("state 900"))
  }

  @Test("Keys pressed while the past is shown do not change the present")
  func happened() {
    var run = run()
    for keys in [", ,", "4 + j", "? esc", "T down enter", "1 l j", ". .", "esc", "% ,", "esc", "j"] {
      run.press(keys)
      run.change(at: Double(run.actions.count), keys)
    }
    var state = Driver().state
    for action in run.actions { _ = update(&state, action) }
    #expect(view(state) == view(run.session.live))
    #expect(state.screen.theme == run.session.live.screen.theme)
  }

  // MARK: Replay

  private func replay(_ playback: Playback, _ size: Size = Size(width: 120, height: 36)) -> (Run, DashboardSession) {
    let run = run()
    let viewer = Driver(size).state
    return (run, DashboardSession(replaying: Driver().state, run.actions, viewer: viewer, playback, at: at(1000)))
  }

  @Test("A replay plays at its speed, pauses, steps and shows its position")
  func playback() {
    var (run, replay) = replay(Playback(speed: .times(2), isPlaying: true))
    #expect(view(replay.shown).text(row: 0).contains("[REPLAY 12:04:00 · 0 of 9 · x2]"))
    _ = replay.apply(.tick(at(1002.6)))
    run.session = replay
    #expect(run.panes == (run.screens[4]))
    #expect(replay.nextTick == at(1003).advanced(by: 1))
    func press(_ key: String) { Key(key).map { _ = replay.apply(.input(.key($0), at: at(1002.6))) } }
    press("space")
    #expect(view(replay.shown).text(row: 0).contains("5 of 9 · x2 stopped"))
    _ = replay.apply(.tick(at(1100)))
    #expect(view(replay.shown).text(row: 0).contains("5 of 9"))
    press(",")
    press(">")
    #expect(view(replay.shown).text(row: 0).contains("[REPLAY 12:04:04 · 4 of 9 · x5 stopped]"))
    press("end")
    #expect(view(replay.shown).text(row: 0).contains("9 of 9 · end]"))
    run.session = replay
    #expect(run.panes == (run.screens[8]))
    press("q")
    #expect(
      replay.apply(.input(.key(.character("q")), at: at(1003))).effects.map(\.item) == [.terminal(.quit(code: 0))])
  }

  @Test("A replay at maximum speed stops at its end with a message")
  func fastest() {
    var (_, replay) = replay(Playback(speed: .max, isPlaying: true))
    for step in 1...5 { _ = replay.apply(.tick(at(1000 + Double(step) / 100))) }
    let screen = view(replay.shown).text
    #expect(screen.contains("9 of 9 · end"))
    #expect(screen.contains("The recording ends here"))
  }

  @Test("A replay opens no client, and commands that need a client report this")
  func noClient() {
    var (_, replay) = replay(Playback(speed: .times(1), isPlaying: false))
    for key in ["o", "u", "n"] {
      Key(key).map { key in
        let effects = replay.apply(.input(.key(key), at: at(1000))).effects
        #expect(effects.isEmpty)
      }
      _ = replay.apply(.input(.key(Key(.escape)), at: at(1000)))
    }
    #expect(view(replay.shown).text.contains("this is a replay: no client is open, nothing is written"))
  }

  @Test("While the past is shown, the first text on the screen says so at every size")
  func sizes() {
    for (width, height) in [(200, 60), (120, 36), (80, 24), (60, 16), (40, 12), (30, 6), (24, 3)] {
      let (_, replay) = replay(Playback(speed: .times(1), isPlaying: false), Size(width: width, height: height))
      #expect(view(replay.shown).text(row: 0).contains("[REPLAY"), "\(width)x\(height)")
    }
    var run = run()
    run.press(",")
    for (width, height) in [(200, 60), (120, 36), (80, 24), (60, 16), (40, 12), (30, 6), (24, 3)] {
      run.send(.input(.resize(Size(width: width, height: height)), at: run.now))
      #expect(run.header.contains("[THEN"), "\(width)x\(height)")
    }
  }
}

extension Timestamp {
  fileprivate func advanced(by microseconds: Int64) -> Timestamp {
    Timestamp(microseconds: self.microseconds + microseconds)
  }
}
