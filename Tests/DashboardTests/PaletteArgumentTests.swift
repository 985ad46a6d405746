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

@Suite("Palette commands with arguments")
struct PaletteArgumentTests {
  private let size = Size(width: 120, height: 36)

  private func typed(_ text: String, in driver: Driver? = nil) -> Driver {
    var driver = driver ?? Scenario.online.play(size)
    driver.press(":")
    driver.type(text)
    return driver
  }

  @Test("'offline 30s' goes offline, counts down and goes online again automatically")
  func offline() {
    var driver = typed("offline 30s")
    #expect(driver.screen.contains("go offline, and online again after 30 s"))
    driver.press("enter")
    #expect(driver.effects.first == .client(.setNetwork(enabled: false)))
    let begin = driver.now
    driver.client(.status(Scenario.status(1, isEnabled: false)), at: 1)
    #expect(driver.state.nextTick <= begin.advanced(seconds: 31))
    driver.tick(at(10).seconds == begin.seconds ? 10 : Double(driver.now.seconds - at(0).seconds) + 10)
    #expect(driver.screen.contains("back in 0:"))
    driver.send(.tick(begin.advanced(seconds: 30)))
    #expect(driver.effects == [.client(.setNetwork(enabled: true))])
    driver.send(.tick(begin.advanced(seconds: 31)))
    #expect(!driver.effects.contains(.client(.setNetwork(enabled: true))))
  }

  @Test("Going online early cancels the scheduled return")
  func earlier() {
    var driver = typed("offline 30s")
    driver.press("enter")
    let begin = driver.now
    driver.client(.status(Scenario.status(1, isEnabled: false)), at: 1)
    driver.client(.status(Scenario.status(2)), at: 2)
    #expect(driver.state.outages.networkReturn == nil)
    driver.send(.tick(begin.advanced(seconds: 40)))
    #expect(!driver.effects.contains(.client(.setNetwork(enabled: true))))
  }

  @Test("Without a duration, 'offline' lasts until you go online")
  func alone() {
    var driver = typed("offline")
    driver.press("enter")
    #expect(driver.effects.first == .client(.setNetwork(enabled: false)))
    #expect(driver.state.outages.networkReturn == nil)
  }

  @Test(
    "Each palette command runs with its argument",
    arguments: [
      ("theme nord", Effect.terminal(.setTheme("nord"))),
      ("go orders/4hT0q9Lm", .client(.openDetail(key("orders/4hT0q9Lm")))),
      (
        "latency 200ms",
        .client(
          .setFaults(
            {
              var faults = FaultSettings()
              faults.latency = .milliseconds(200)
              return faults
            }()))
      ),
    ])
  func effects(_ text: String, _ effect: Effect) {
    var driver = typed(text)
    driver.press("enter")
    #expect(driver.effects.first == effect)
    #expect(driver.state.overlay == nil)
  }

  @Test("'listen' accepts a query in command-line syntax")
  func listen() throws {
    var driver = typed(
      "listen cities where population >= 1000 and state = \"CA\", tags in [\"a\", \"b\"] order by population desc, name "
        + "limit 10")
    driver.press("enter")
    let query = try #require(driver.state.listeners.last?.query)
    #expect(
      QueryText.line(query)
        == "cities where population >= 1000, state == \"CA\", tags in [\"a\", \"b\"] order population desc order name limit 10"
    )
    #expect(driver.listenTag != nil)
  }

  @Test("The word \"as\" names a listener, and a name in use is an error with its column")
  func named() throws {
    var driver = typed("listen orders where total > 5 as big")
    driver.press("enter")
    #expect(driver.state.listeners.last?.name == "big")
    driver = typed("listen orders where total > 6 as big", in: driver)
    #expect(driver.screen.contains("another listener is called big"))
  }

  @Test("'listen' accepts alternatives, parentheses and types")
  func alternatives() throws {
    var driver = typed(
      "listen orders where (status == new or status == paid) and at < timestamp:2026-03-02 order by at:desc")
    driver.press("enter")
    let query = try #require(driver.state.listeners.last?.query)
    #expect(
      QueryText.line(query)
        == "orders where status == \"new\" or status == \"paid\", at < 2026-03-02 00:00:00Z order at desc")
  }

  @Test("A caret marks the column of an error, and a hint has no caret")
  func caret() throws {
    let lines = typed("listen orders where n >> 5").screen.split(separator: "\n")
    let line = try #require(lines.firstIndex { $0.contains(":listen") || $0.contains(": listen") })
    let place = try #require(lines[line].firstRange(of: ">>"))
    let column = lines[line].distance(from: lines[line].startIndex, to: place.lowerBound)
    #expect(Array(lines[line + 1])[column] == "^", "\(lines[line])\n\(lines[line + 1])")
    #expect(!typed("latency ").screen.contains("^"))
  }

  @Test("A duration without a unit is in seconds")
  func seconds() {
    #expect(typed("offline 30").screen.contains("online again after 30 s"))
  }

  @Test(
    "An error shows its column, and the palette stays open",
    arguments: [
      ("offline 1h30", "column 13: 30 has no unit"), ("offline soon", "column 9: Expected a number with a unit"),
      ("latency 3x", "column 10: \"x\" is not a unit"), ("latency 2h", "column 9: Expected at most 1 min"),
      ("theme nrod", "column 7: no theme is called nrod"), ("go a//b", "column 4: "),
      ("listen cities where n >> 5", "column 23: Expected one of ==, !="),
      ("listen cities where n >=", "column 25: Expected a value after >="),
      ("listen cities limit no", "column 21: Expected a number from 1"),
      ("listen cities what", "column 15: Expected where, order by, limit or last here, found \"what\""),
      ("stop x", "column 6: no listener is called x"),
      ("filter-by /(", "column 11: "),
    ])
  func errors(_ text: String, _ reason: String) {
    var driver = typed(text)
    #expect(driver.screen.contains(reason))
    driver.press("pgdn enter")
    #expect(driver.state.overlay?.kind == .palette)
    #expect(driver.state.overlay?.field?.text == text)
  }

  @Test("Completions are shown after the cursor and accepted with Tab or Right")
  func completion() {
    var driver = typed("theme n")
    #expect(driver.screen.contains("theme nord"))
    let canvas = driver.canvas()
    let ghost = (0..<size.height).flatMap { canvas.row($0).filter { $0.role == .inputGhost } }.map(\.text).joined()
    #expect(ghost == "ord")
    driver.press("tab")
    #expect(driver.state.overlay?.field?.text == "theme nord")
    driver.press("enter")
    #expect(driver.state.screen.theme == "nord")

    driver = typed("go ord")
    driver.press("right")
    #expect(driver.state.overlay?.field?.text == "go orders")
    driver = typed("late")
    driver.press("tab")
    #expect(driver.state.overlay?.field?.text == "latency ")
    #expect(driver.screen.contains("how much: 200ms, 2s; 0ms ends it"))
  }

  @Test("Listener names, fields and operators are completed")
  func names() {
    var driver = typed("listen orders where st")
    #expect(driver.screen.contains("listen orders where status"))
    driver.press("esc")
    driver = typed("stop ", in: driver)
    #expect(driver.screen.contains("stop orders"))
  }

  @Test("Choosing a command that needs an argument inserts the command's name")
  func chosen() {
    var driver = typed("latency")
    driver.press("enter")
    #expect(driver.state.overlay?.field?.text == "latency ")
  }

  @Test("Up from the first row recalls earlier commands, and Down returns to the input")
  func history() {
    var driver = typed("latency 200ms")
    driver.press("enter : ")
    driver.type("theme nord")
    driver.press("enter :")
    driver.type("x")
    driver.press("up")
    #expect(driver.state.overlay?.field?.text == "theme nord")
    driver.press("up")
    #expect(driver.state.overlay?.field?.text == "latency 200ms")
    driver.press("up down")
    #expect(driver.state.overlay?.field?.text == "theme nord")
    driver.press("down")
    #expect(driver.state.overlay?.field?.text == "x")
  }

  @Test("The palette history keeps 100 unique commands across restarts, newest last")
  func kept() {
    var driver = Scenario.online.play(size)
    for count in 1...104 {
      driver = typed("latency \(count)ms", in: driver)
      driver.press("enter")
    }
    driver = typed("latency 30ms", in: driver)
    driver.press("enter")
    #expect(driver.state.commandHistory.count == 100)
    #expect(driver.state.commandHistory.count { $0 == "latency 30ms" } == 1)
    #expect(driver.effects.last == .terminal(.rememberCommands(driver.state.commandHistory)))
    var configuration = driver.state.configuration
    configuration.commandHistory = driver.state.commandHistory
    #expect(DashboardState(configuration, size: size, now: at(0)).commandHistory.last == "latency 30ms")
  }

  @Test("Typing the start of another command's title selects that command")
  func titles() {
    var driver = typed("go off")
    #expect(driver.screen.contains("go offline"))
    driver.press("enter")
    #expect(driver.effects.first == .client(.setNetwork(enabled: false)))
  }

  @Test("'filter-by' filters the focused pane")
  func filter() {
    var driver = Scenario.online.play(size)
    driver.press("4")
    driver = typed("filter-by orders !SERVER", in: driver)
    driver.press("enter")
    #expect(driver.state.feed.filter.text == "orders !SERVER")
    #expect(driver.state.overlay == nil)
  }

  @Test("'glyphs' accepts a glyph set or auto and rejects anything else")
  func glyphs() {
    var driver = Scenario.online.play(Size(width: 120, height: 36))
    func run(_ text: String) {
      driver.press(":")
      driver.type(text)
      driver.press("enter")
    }
    run("glyphs ascii")
    #expect(driver.state.configuration.glyphs == .ascii && !driver.screen.contains("╭"))
    run("glyphs unicode")
    #expect(driver.state.configuration.glyphs == .unicode && driver.screen.contains("╭"))
    run("glyphs auto")
    #expect(driver.effects.contains(.terminal(.adoptGlyphs)))
    run("glyphs emoji")
    #expect(driver.screen.contains("use auto, unicode or ascii"))
  }
}
