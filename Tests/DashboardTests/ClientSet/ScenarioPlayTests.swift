// SPDX-License-Identifier: Apache-2.0
import ClientPort
import DashboardView
import FirestoreClientState
import FirestoreModel
import FirestoreTesting
import TerminalCanvas
import TerminalTesting
import Testing

@testable import Dashboard
@testable import DashboardModel

/// A scenario on the screen: its keys, and the strip at the sizes of terminals.
@Suite struct ScenarioPlayTests {
  private static let lines = [
    "client ada", "client bob", "ada: listen counters", "bob: offline", "bob: update counters/a n={\"$increment\": 1}",
    "ada: expect nothing within 5s", "bob: online", "ada: expect modified counters/a", "expect same",
  ]

  private static let sentence =
    "Two change the same field while one of them is offline: the write that reaches the server last stays."

  private func play(
    isStepped: Bool = false, _ summary: String = "Two clients count while one of them is offline."
  ) -> ScenarioPlay {
    ScenarioPlay(
      name: "counters", summary: summary,
      steps: Self.lines.enumerated().map { ScenarioPlay.Step(line: $0.offset + 2, text: $0.element) },
      place: "a world of its own", isStepped: isStepped)
  }

  private func clientSet(
    _ size: Size = Size(width: 120, height: 36), _ names: [String] = ["ada", "bob"], isStepped: Bool = false,
    play: ScenarioPlay? = nil
  ) -> ClientSet {
    let configuration = DashboardConfiguration(
      database: database, backend: .init(.embedded, project: database.project))
    return ClientSet(
      playing: play ?? self.play(isStepped: isStepped), names, configuration, size: size, at: at(0))
  }

  /// - Returns: the requests about the scenario that the key led to.
  @discardableResult
  private func press(_ name: String, _ clientSet: inout ClientSet) -> [ScenarioControl] {
    guard let key = Key(name) else { return [] }
    return clientSet.apply(.input(.key(key), at: at(1))).effects.compactMap {
      if case .clientSet(.scenario(let control)) = $0.item { control } else { nil }
    }
  }

  /// A client set after so many steps, which ended perhaps.
  private func clientSet(
    _ size: Size, _ names: [String] = ["ada", "bob"], done: Int, _ ending: ScenarioPlay.Ending? = nil
  )
    -> ClientSet
  {
    var clientSet = clientSet(size, names)
    for index in 0..<done {
      clientSet.note(.begun(clientSet.play!.steps[index]), at: at(1))
      clientSet.note(.finished(after: .milliseconds(250 * (index + 1)), caption: nil), at: at(1))
    }
    if let ending { clientSet.note(.ended(ending), at: at(2)) }
    return clientSet
  }

  @Test("In a scenario a write's age is measured with the dashboard's clock")
  func ages() {
    var program = AttachedProgram(process: 1, name: "counters", allowsControl: false)
    program.isScenario = true
    var driver = Driver()
    driver.state.configuration.attached = program
    driver.client(.status(Scenario.status(0)), at: 10)
    let write = pendingWrite(1, .set, "orders/a", at: Timestamp(seconds: 0), .queued)
    driver.client(.pendingWrites([write]), at: 11)
    driver.client(.pendingWrites([write]), at: 15)
    driver.client(.writeAcknowledged(BatchID(1), after: .milliseconds(20)), at: 18)
    #expect(driver.state.writes.answers[BatchID(1)]?.wholeAge == .seconds(7))
  }

  private func rows(_ clientSet: ClientSet) -> [String] {
    let text = view(clientSet).text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    return text.prefix(clientSet.strip.height).map { row in
      String(row.reversed().drop { $0 == " " }.reversed())
    }
  }

  // MARK: Keys

  @Test("Space pauses a scenario, + and - change its pace, and n runs the next step")
  func keys() {
    var clientSet = clientSet()
    #expect(clientSet.play?.isPlaying == true && clientSet.play?.paceText == "1 s")
    #expect(press("space", &clientSet).isEmpty && clientSet.play?.isPlaying == false)
    #expect(press("n", &clientSet) == [.next] && clientSet.play?.isPlaying == false)
    #expect(press("space", &clientSet).isEmpty && clientSet.play?.isPlaying == true)
    _ = press("+", &clientSet)
    #expect(clientSet.play?.paceText == "500 ms")
    for _ in 0..<9 { _ = press("+", &clientSet) }
    #expect(clientSet.play?.paceText == "100 ms")
    for _ in 0..<9 { _ = press("-", &clientSet) }
    #expect(clientSet.play?.paceText == "10 s")
    #expect(press("r", &clientSet) == [.again])
    _ = clientSet.apply(.run("pace 3s", at: at(1)))
    #expect(clientSet.play?.paceText == "3 s")
  }

  @Test("With --step, pressing Space runs one step")
  func stepped() {
    var clientSet = clientSet(isStepped: true)
    #expect(clientSet.play?.isPlaying == false)
    #expect(press("space", &clientSet) == [.next] && press("space", &clientSet) == [.next])
  }

  @Test("After a scenario ends, no key continues it, and q quits without asking")
  func ended() {
    var clientSet = clientSet(Size(width: 120, height: 36), done: 9, .passed)
    #expect(press("space", &clientSet).isEmpty && press("n", &clientSet).isEmpty)
    let quit = clientSet.apply(.input(.key(.character("q")), at: at(1)))
    #expect(quit.effects.map(\.item) == [.terminal(.quit(code: 0))])
  }

  @Test("During a scenario, keys that would change its data are rejected with a message")
  func refusals() {
    for command in ["toggle-network", "listen a", "client add carol", "calm", "record x"] {
      var clientSet = clientSet()
      let turn = clientSet.apply(.run(command, at: at(1)))
      let told = clientSet.focused.session.shown.toasts.map(\.text)
      #expect(turn.effects.isEmpty && told.contains { $0.contains("scenario") }, "\(command): \(told)")
    }
    var clientSet = clientSet()
    _ = press("ctrl-n", &clientSet)
    #expect(clientSet.focused.name == "bob")
  }

  @Test("'scenario NAME' plays a built-in scenario, and an unknown name gets a suggestion")
  func palette() {
    var driver = Driver()
    driver.state.configuration.scenarios = [ScenarioTitle(name: "conflict", summary: "Two write.")]
    driver.send(.run("scenario conflict", at: at(0)))
    #expect(driver.effects == [.terminal(.playScenario("conflict"))])
    driver.send(.run("scenario conflikt", at: at(0)))
    #expect(driver.effects.isEmpty)
    #expect(driver.state.toasts.map(\.text).contains { $0.contains("did you mean conflict?") })
    driver.send(.run("pace 1s", at: at(0)))
    #expect(driver.state.toasts.map(\.text).contains { $0.contains("no scenario is playing here") })
  }

  // MARK: The feed

  @Test("Feed rows show their step's line number, and the scenario's end has its own row")
  func feed() {
    var clientSet = clientSet(Size(width: 200, height: 60), done: 3)
    for batch in 1...2 {
      let rejected = ClientEvent.writeRejected(BatchID(Int64(batch)), RPCStatus(.aborted, "no"))
      _ = clientSet.apply(.client(rejected, at: at(1)), from: clientSet.members[0].number)
    }
    clientSet.note(.ended(.failed("it did not hold")), at: at(2))
    #expect(clientSet.members.map { $0.session.live.feed.rows.map(\.step) } == [[4, 4, 4], [4]])
    #expect(clientSet.members[1].session.live.feed.rows.map(\.summary) == ["failed: it did not hold"])
    let rows = view(clientSet).text.split(separator: "\n").filter { $0.contains("rejected: aborted") }
    #expect(rows.count >= 2 && rows[0].hasPrefix("    4 12:04:01") && rows[1].hasPrefix("      12:04:01"), "\(rows)")
  }

  // MARK: The strip

  @Test("At 120×36 the scenario strip shows the sentence, progress and nearby steps")
  func medium() {
    #expect(
      rows(clientSet(Size(width: 120, height: 36), done: 4)) == [
        " counters  Two clients count while one of them is offline.                 ███····· step 4/9  1.000 s  a step every 1 s",
        " ✓    5  bob: offline",
        " ▸    6  bob: update counters/a n={\"$increment\": 1}",
        " ·    7  ada: expect nothing within 5s",
        " ·    8  bob: online",
      ])
  }

  @Test(
    "The scenario's sentence is shown in full and wraps onto more rows if needed",
    arguments: [(200, 60), (120, 36), (80, 24)])
  func sentence(_ width: Int, _ height: Int) {
    let clientSet = clientSet(Size(width: width, height: height), play: play(Self.sentence))
    let strip = rows(clientSet)
    let words = strip.joined(separator: " ").split(separator: " ")
    let sentence = Self.sentence.split(separator: " ")
    #expect(strip[0].contains("0/9") && strip.contains { $0.hasPrefix(" ▸    2  client ada") })
    #expect(words.filter { sentence.contains($0) }.count >= sentence.count, "\(strip)")
    if width >= 120 { #expect(strip[0].contains(Self.sentence), "\(strip)") }
  }

  @Test("On a small screen the sentence fills both rows until the first step is done")
  func smallSentence() {
    let size = Size(width: 60, height: 16)
    var clientSet = clientSet(size, play: play(Self.sentence))
    let words = rows(clientSet).joined(separator: " ").split(separator: " ")
    #expect(Self.sentence.split(separator: " ").allSatisfy { words.contains($0) }, "\(words)")
    #expect(clientSet.strip.height == 2)
    clientSet.note(.finished(after: .milliseconds(250), caption: nil), at: at(1))
    #expect(rows(clientSet)[0].contains("1/9") && rows(clientSet)[1] == " ▸    3  client bob")
  }

  @Test("Each visible client has one header, and hidden clients share a row of names")
  func headers() {
    for size in [Size(width: 200, height: 60), Size(width: 120, height: 36)] {
      var clientSet = clientSet(size)
      #expect(clientSet.layout.line.isEmpty && clientSet.layout.places[0].y == clientSet.strip.height)
      #expect(view(clientSet).text.split(separator: "\n").count { $0.contains("SCENARIO counters") } <= 2)
      _ = press("&", &clientSet)
      #expect(clientSet.layout.line.height == 1)
    }
  }

  @Test("The scenario strip's height fits the screen, down to a single row or none")
  func sizes() {
    let heights = [(200, 60, 8), (120, 36, 5), (80, 24, 3), (60, 16, 2), (24, 4, 1), (10, 2, 1), (1, 1, 0)]
    for (width, height, rows) in heights {
      let clientSet = clientSet(Size(width: width, height: height), done: 3)
      #expect(clientSet.strip.height == rows, "\(width)×\(height)")
      let canvas = view(clientSet)
      #expect(canvas.size == Size(width: width, height: height))
    }
    let small = rows(clientSet(Size(width: 60, height: 16), done: 4))
    #expect(small[1] == " ▸    6  bob: update counters/a n={\"$increment\": 1}")
    let line = rows(clientSet(Size(width: 24, height: 6), done: 4))
    #expect(line.count == 1 && line[0].hasPrefix(" 4/9 ▸ bob: update"), "\(line)")
  }

  @Test("The scenario strip keeps the final result, with the reason for a failure")
  func endings() {
    let reason = "counters, line 9, ada: expect modified counters/a: it did not happen within 10.0 seconds."
    let failed = rows(clientSet(Size(width: 80, height: 24), done: 7, .failed(reason)))
    #expect(failed[0].contains("✗ failed") && failed[1].hasPrefix(" ✗    9  ada: expect modified"), "\(failed)")
    #expect(failed[2].hasPrefix(" ✗ counters, line 9"), "\(failed)")
    let large = rows(clientSet(Size(width: 200, height: 60), done: 7, .failed(reason)))
    #expect(large.contains(" ✗ " + reason) && large.last == " q leaves; the clients keep their state", "\(large)")
    let passed = rows(clientSet(Size(width: 120, height: 36), done: 9, .passed))
    #expect(
      passed[0].contains("✓ passed") && passed.last?.contains("all 9 steps passed; q leaves") == true, "\(passed)")
  }

  @Test("A caption remains until the next caption; a paused scenario is labeled stopped")
  func captions() {
    var clientSet = clientSet()
    clientSet.note(.finished(after: .zero, caption: "Ada counts."), at: at(1))
    #expect(rows(clientSet).last == " \u{201C}Ada counts.\u{201D}")
    _ = press("space", &clientSet)
    #expect(rows(clientSet)[0].contains(" stopped"))
    clientSet.note(.notice("own.scenario, line 3: no step"), at: at(1))
    #expect(rows(clientSet).last == " own.scenario, line 3: no step")
  }

  @Test("A single client fills the screen below the scenario strip and receives clicks")
  func single() {
    var clientSet = clientSet(Size(width: 80, height: 24), ["client"])
    #expect(clientSet.layout.places == [Rect(x: 0, y: 3, width: 80, height: 21)])
    _ = clientSet.apply(.input(.mouse(MouseEvent(kind: .press, x: 60, y: 21)), at: at(1)))
    #expect(clientSet.focused.session.shown.focus == .feed)
  }

  @Test(
    "Simulated time is shown in seconds below a minute, else as hours or days",
    arguments: [
      (0.25, "0.250 s"), (59, "59.000 s"), (65, "00:01:05"), (3_600, "01:00:00"), (259_210, "3 d 00:00:10"),
    ] as [(Double, String)])
  func time(seconds: Double, text: String) {
    var play = play()
    play.finish(after: .milliseconds(Int(seconds * 1000)))
    #expect(play.timeText == text)
  }
}
