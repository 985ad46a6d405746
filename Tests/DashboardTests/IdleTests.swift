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

/// What the screen says of times, and that it is so.
@Suite("Displayed times")
struct IdleTests {
  @Test("The header shows since when the client is idle; ticks and keys do not redraw it")
  func idle() {
    var driver = Driver()
    driver.client(.status(Scenario.status(0)), at: 0)
    driver.client(.collections(below: .root, ["orders"]), at: 3)
    driver.answerWindow(Scenario.orders, at: 4)
    driver.tick(20)
    #expect(driver.canvas().text(row: 0).contains("idle since 12:04:03"))
    let before = driver.canvas()
    driver.tick(60)
    driver.tick(120)
    // The outage ruler moves along, once a minute.
    let changed = (0..<36).filter { driver.canvas().text(row: $0) != before.text(row: $0) }
    #expect(changed.allSatisfy { before.text(row: $0).contains("online ···") })
    driver.press("j k")
    #expect(driver.canvas().text(row: 0) == before.text(row: 0))
    // A resume token is no news.
    driver.client(.status(Scenario.status(0)), at: 130)
    #expect(driver.canvas().text(row: 0).contains("idle since 12:04:03"))
    driver.press("space")
    Scenario.snapshot(&driver, driver.listenTag, [.init(.added, Scenario.orders[0])], count: 1, [.fromServer], at: 140)
    #expect(driver.canvas().text(row: 0).contains(" 12:06:20 "))
    #expect(!driver.canvas().text(row: 0).contains("idle"))
  }

  @Test("Past outages keep their width as they move along the outage ruler")
  func ruler() {
    var history = OnlineHistory()
    history.note(isOffline: false, isKnown: true, at: at(0))
    history.note(isOffline: true, isKnown: true, at: at(125))
    history.note(isOffline: false, isKnown: true, at: at(131))
    history.note(isOffline: true, isKnown: true, at: at(166))
    history.note(isOffline: false, isKnown: true, at: at(167))
    var shapes: Set<String> = []
    for second in 200..<400 {
      let parts = history.ruler(columns: 30, at: at(Double(second)))
      #expect(parts.count == 30)
      let known = parts.drop { $0 == .unknown }.map { $0 == .outage ? "x" : "." }.joined()
      shapes.insert(String(known.prefix(10)))
    }
    #expect(shapes == ["......x.x."])
  }

  @Test("Texts use singular and plural correctly")
  func words() {
    var driver = Driver()
    driver.client(.collections(below: .root, ["orders"]), at: 0)
    driver.answerWindow(Scenario.orders, at: 0)
    driver.press("space")
    let waiting = pendingWrite(1, .set, "orders/a", at: at(0), .backoff(until: at(30)))
    driver.client(.pendingWrites([waiting]), at: 1)
    driver.client(.status(Scenario.status(1, isEnabled: false)), at: 1)
    #expect(driver.screen.contains("1 write · 1 listener resumes"))
    #expect(driver.screen.contains("0:01 retry 29s"), "\(driver.screen)")
    driver.press("?")
    driver.type("layout")
    #expect(driver.screen.contains(" 1 key "))
  }

  @Test("The program name is in the header once")
  func name() {
    let backend = ConnectedBackend(.embedded, project: "hearth")
    let configuration = DashboardConfiguration(database: DatabaseID(project: "hearth"), backend: backend)
    let state = DashboardState(configuration, size: Size(width: 120, height: 36), now: at(0))
    #expect(view(state).text(row: 0).hasPrefix(" hearth  LOCAL DATABASE"))
  }
}
