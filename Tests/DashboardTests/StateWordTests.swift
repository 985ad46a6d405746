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

/// The words that state what is known, each with the time of it.
@Suite("Status labels")
struct StateWordTests {
  private static let order = document("orders/a", at: 1, ["n": 1])

  private func opened() -> Driver {
    var driver = Driver(Size(width: 120, height: 36))
    driver.client(.status(Scenario.status(0)), at: 0)
    driver.client(.collections(below: .root, ["orders"]), at: 0)
    driver.answerWindow([Self.order], total: 1, at: 0)
    driver.press("1 j enter")
    return driver
  }

  private func tell(_ driver: inout Driver, isFromCache: Bool?, at seconds: Double) {
    driver.client(
      .detail(Self.order.key, remote: Self.order, overlay: nil, local: Self.order, isFromCache: isFromCache),
      at: seconds)
  }

  @Test("An open document shows whether it is from the server or cache, and since when")
  func source() {
    var driver = opened()
    tell(&driver, isFromCache: true, at: 2)
    #expect(driver.screen.contains("cache, not answered yet"))
    tell(&driver, isFromCache: false, at: 3)
    #expect(driver.screen.contains("server's, as of 12:04:03"))
    driver.client(.status(Scenario.status(9, isEnabled: false)), at: 9)
    #expect(driver.screen.contains("cache, not asked since 12:04:09"))
    // Where that was not told nothing is claimed.
    driver.client(.status(Scenario.status(12)), at: 12)
    tell(&driver, isFromCache: nil, at: 13)
    #expect(!driver.screen.contains("as of 12:04") && !driver.screen.contains("not asked since"))
  }

  @Test("The header reports an unresponsive server only while a write awaits a response")
  func silence() {
    var driver = opened()
    driver.tick(40)
    #expect(!driver.screen.contains("silent"))
    driver.client(.pendingWrites([pendingWrite(1, .update, "orders/a", at: at(41), .inFlight)]), at: 41)
    driver.tick(45)
    #expect(driver.screen.contains("ONLINE  rtt 184ms") && !driver.screen.contains("silent"))
    driver.tick(72)
    #expect(driver.screen.contains("ONLINE silent 0:31") && driver.screen.contains("⇡1 pending 0:31"))
    // Whatever else the server sends ends its silence, but not the wait for the answer.
    driver.client(.status(Scenario.status(72)), at: 72)
    #expect(driver.screen.contains("ONLINE  rtt 184ms") && driver.screen.contains("⇡1 pending 0:31"))
  }

  @Test("Only data changes count as events in the header, not key presses or messages")
  func idle() {
    var driver = opened()
    driver.tick(20)
    let since = driver.state.headerClock.lastNews
    tell(&driver, isFromCache: false, at: 30)
    driver.press("esc 1 g l")
    driver.host(.notice(.info, "copied"), at: 40)
    driver.client(.counted(ResourcePath("orders"), 1), at: 41)
    #expect(driver.state.headerClock.lastNews == since)
    let tag = driver.state.browser.windows[ResourcePath("orders")]?.shown?.tag ?? WindowTag(0)
    let changed = document("orders/a", at: 50, ["n": 2])
    driver.client(.windowLoaded(tag, [changed], isFromCache: false, total: nil), at: 50)
    #expect(driver.state.headerClock.lastNews == at(50))
  }

  @Test("Every sign and status word is explained in the help")
  func legend() {
    var driver = opened()
    driver.press("esc ?")
    for entry in SignLegend(.unicode).entries { #expect(driver.screen.contains(entry.text), "\(entry.sign)") }
    driver.press("?")
    for word in StateWord.allCases { #expect(driver.screen.contains("\(word.text): \(word.meaning)"), "\(word)") }
  }

  @Test("The network pane counts the listeners that do not fit in its list of reads")
  func reads() {
    var driver = Driver(Size(width: 80, height: 24))
    var meters: [ReadMeter] = []
    for name in ["a", "b", "c", "d", "e", "f"] {
      let query = Query(path: ResourcePath(name))
      _ = driver.state.listen(to: query, name: name)
      meters.append(ReadMeter(target: query.target, sent: 1, kept: 0))
    }
    driver.client(.reads(meters), at: 1)
    let shown = driver.screen.split(separator: "\n").count { $0.contains("1 sent") }
    let left = 6 - shown
    #expect(left > 0 && driver.screen.contains("\(left) sent to \(left) \(shown > 0 ? "more " : "")listeners"))
  }

  @Test("The feed title never counts fewer rows than shown")
  func count() {
    var driver = opened()
    _ = driver.state.listen(to: Query(path: ResourcePath("orders")), name: "orders")
    Scenario.snapshot(
      &driver, ListenerTag(1), [.init(.added, Self.order)], count: 1, [.listenerAdded], synced: true, at: 1)
    #expect(!driver.screen.contains("0 events"))
    driver.tick(3)
    #expect(driver.screen.contains("2 events"))
  }
}
