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

/// How the room of the screen is used, and moved by hand.
@Suite("Pane sizes")
struct RoomTests {
  private func opened(_ size: Size) -> Driver {
    var driver = Driver(size)
    driver.client(.collections(below: .root, ["orders"]), at: 0)
    driver.answerWindow(Scenario.orders, at: 0)
    driver.press("1 j")
    return driver
  }

  @Test("On screens of at least 160 columns the selected document has a separate column")
  func wide() {
    var driver = opened(Size(width: 160, height: 40))
    #expect(driver.screen.contains("0 orders/4hT0q9Lm"))
    #expect(driver.screen.contains("2 Pending writes"))
    driver.press("j")
    #expect(driver.screen.contains("0 orders/7Qf3xAzP"))
    #expect(driver.screen.contains("kettle"))
    #expect(driver.effects == [])
    driver.press("enter")
    #expect(driver.state.focus == .detail)
    #expect(driver.effects == [.client(.openDetail(key("orders/7Qf3xAzP")))])
    #expect(driver.screen.contains("2 Pending writes"))

    let narrow = opened(Size(width: 159, height: 40))
    #expect(!narrow.screen.contains("0 orders/4hT0q9Lm"))
  }

  @Test("An empty queue pane has one line, grows with a write and later shrinks again")
  func queue() {
    let size = Size(width: 120, height: 36)
    var driver = opened(size)
    func height(_ driver: Driver) -> Int { driver.state.layout(size).panes[.writes]?.height ?? 0 }
    #expect(height(driver) == 3)
    #expect(driver.screen.contains("every write is acknowledged"))
    driver.client(.pendingWrites([pendingWrite(1, .set, "orders/a", at: at(1), .queued)]), at: 1)
    #expect(height(driver) > 6)
    driver.client(.writeAcknowledged(BatchID(1), after: .milliseconds(8)), at: 2)
    driver.client(.pendingWrites([]), at: 2)
    driver.tick(5)
    #expect(height(driver) > 6)
    #expect(driver.state.nextTick <= at(15))
    driver.tick(15)
    #expect(height(driver) == 3)
  }

  @Test("The network pane shows reads, and updates terminal traffic every ten seconds")
  func meters() {
    var driver = opened(Size(width: 120, height: 36))
    driver.press("g space")
    Scenario.snapshot(&driver, driver.listenTag, [], count: 3, [.fromServer], synced: true, at: 1)
    driver.client(.status(Scenario.status(1)), at: 1)
    driver.client(
      .reads([ReadMeter(target: Query(path: ResourcePath("orders")).target, sent: 1204, kept: 17)]), at: 1)
    #expect(driver.screen.contains("reads  orders  1 204 sent, 17 from"))

    driver.send(.sent(TerminalTraffic(bytes: 46_080, frames: 256), at: at(2)))
    #expect(!driver.screen.contains("tty"))
    driver.press("3 w")
    #expect(driver.screen.contains("tty    45 kB in 256 frames, 180 B each"))
    driver.send(.sent(TerminalTraffic(bytes: 90_000, frames: 300), at: at(11)))
    #expect(driver.screen.contains("45 kB"))
    driver.send(.sent(TerminalTraffic(bytes: 90_000, frames: 300), at: at(12)))
    #expect(driver.screen.contains("88 kB"))
  }

  @Test("Pane borders can be dragged, and the next layout resets them")
  func borders() {
    let size = Size(width: 120, height: 36)
    var driver = opened(size)
    let before = driver.state.layout(size)
    let edge = before.panes[.collections]?.maxX ?? 0
    driver.mouse(.press, edge, 8)
    driver.mouse(.drag, 70, 8)
    driver.mouse(.release, 70, 8)
    #expect((69...71).contains(driver.state.layout(size).panes[.collections]?.maxX ?? 0))
    driver.mouse(.drag, 30, 8)
    #expect((69...71).contains(driver.state.layout(size).panes[.collections]?.maxX ?? 0))

    let top = driver.state.layout(size).panes[.feed]?.y ?? 0
    driver.mouse(.press, 40, top)
    driver.mouse(.drag, 40, 15)
    #expect((14...16).contains(driver.state.layout(size).panes[.feed]?.y ?? 0))
    driver.mouse(.release, 40, 15)
    driver.press("| | |")
    #expect(driver.state.layout(size) == before)
  }

  @Test("Answers in dialogs and rows in lists can be clicked")
  func dialogs() {
    let size = Size(width: 120, height: 36)
    var driver = opened(size)
    func click(_ text: String) {
      let canvas = driver.canvas()
      let place = (0..<size.height).lazy.compactMap { y in
        let row = canvas.text(row: y)
        return row.firstRange(of: text).map { (row.distance(from: row.startIndex, to: $0.lowerBound), y) }
      }.first
      #expect(place != nil, "\(text) is not on the screen")
      if let (x, y) = place { driver.mouse(.press, x + 1, y) }
    }
    driver.press("d")
    click("Cancel")
    #expect(driver.state.overlay == nil && driver.effects == [])
    driver.press("d")
    click("  Delete  ")
    #expect(driver.effects == [.client(.write([Mutation(key: key("orders/4hT0q9Lm"), operation: .delete)]))])
    driver.press("T")
    click("Paper")
    #expect(driver.effects == [.terminal(.setTheme("paper"))])
    driver.press("esc c")
    click("[x] total")
    #expect(driver.screen.contains("[ ] total"))
  }

  @Test("Fold signs, tabs, badges, the network switch and key hints can be clicked")
  func buttons() {
    let size = Size(width: 120, height: 36)
    var driver = opened(size)
    func click(_ text: String, after part: String = "") {
      let canvas = driver.canvas()
      for y in 0..<size.height {
        let row = canvas.text(row: y)
        guard let start = part.isEmpty ? row.startIndex : row.firstRange(of: part)?.upperBound,
          let range = row[start...].firstRange(of: text)
        else { continue }
        driver.mouse(.press, row.distance(from: row.startIndex, to: range.lowerBound), y)
        return
      }
      Issue.record("\(text) is not on the screen")
    }

    click("▸")
    #expect(driver.state.browser.expanded.contains(ResourcePath("orders/4hT0q9Lm")))
    click("▾ 4hT0q9Lm")
    #expect(!driver.state.browser.expanded.contains(ResourcePath("orders/4hT0q9Lm")))
    click("go offline", after: "[ o:")
    #expect(driver.effects == [.client(.setNetwork(enabled: false))])
    click("faults", after: "f ")
    #expect(driver.state.overlay?.kind == .faults)
    driver.press("esc 1 j enter")
    driver.client(
      .detail(key("orders/7Qf3xAzP"), remote: Scenario.orders[1], overlay: nil, local: Scenario.orders[1]), at: 1)
    click("Diff")
    #expect(driver.state.detail?.tab == .diff)
    click("▶ follow")
    #expect(driver.state.feed.isPaused)
    click("[PAUSED]")
    #expect(!driver.state.feed.isPaused)
    click("NOT CONNECTED")
    #expect(driver.state.focus == .network)
    driver.client(.status(Scenario.status(2, isEnabled: false)), at: 2)
    click("[OFFLINE")
    #expect(driver.effects == [.client(.setNetwork(enabled: true))])
  }
}
