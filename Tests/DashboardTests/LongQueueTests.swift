// SPDX-License-Identifier: Apache-2.0
import ClientPort
import FirestoreClientState
import FirestoreModel
import FirestoreTesting
import TerminalCanvas
import TerminalTesting
import Testing

@testable import Dashboard
@testable import DashboardModel

/// A queue of which the screen knows the ends.
@Suite struct LongQueueTests {
  private func driver(_ waiting: Int, of total: Int, online: OnlineState = .online) -> Driver {
    var driver = Driver(Size(width: 160, height: 40))
    driver.client(.status(ClientStatus(onlineState: online, since: at(0))), at: 0)
    let first = total - waiting + 1
    let rows = (first..<first + 3).map { $0 } + [total - 1, total]
    driver.client(
      .pendingWrites(
        rows.map { pendingWrite(Int64($0), .set, "orders/o\($0)", at: at(0), .queued) },
        of: QueueSize(count: waiting, total: total, byteCount: waiting * 40)), at: 1)
    return driver
  }

  @Test("The header and the pane count all pending writes, including those not listed")
  func counts() {
    let screen = driver(49_200, of: 50_000).screen
    #expect(screen.contains("49 200 · 5 shown"))
    #expect(screen.contains("#801 "))
    #expect(screen.contains("#50000 "))
    #expect(driver(49_200, of: 50_000).state.writes.waiting == 49_200)
  }

  @Test("While a long queue is sent the header shows the progress")
  func progress() {
    #expect(driver(49_200, of: 50_000).canvas().text(row: 0).contains("800 of 50 000 sent"))
    #expect(!driver(50_000, of: 50_000).canvas().text(row: 0).contains("sent"))
    #expect(!driver(49_200, of: 50_000, online: .offline).canvas().text(row: 0).contains("sent"))
    #expect(!driver(8, of: 12).canvas().text(row: 0).contains("sent"))
  }

  @Test("A document's newest batch is updated when writes are canceled or leave the queue")
  func newest() {
    var driver = Driver()
    driver.client(
      .pendingWrites([
        pendingWrite(1, .set, "orders/a", at: at(0), .queued), pendingWrite(2, .update, "orders/a", at: at(0), .queued),
        pendingWrite(3, .set, "orders/b", at: at(0), .queued),
      ]), at: 0)
    #expect(driver.state.writes.batch(touching: key("orders/a")) == BatchID(2))
    driver.client(.writeCancelled(BatchID(2)), at: 1)
    #expect(driver.state.writes.batch(touching: key("orders/a")) == BatchID(1))
    driver.client(.pendingWrites([pendingWrite(3, .set, "orders/b", at: at(0), .queued)]), at: 2)
    #expect(driver.state.writes.batch(touching: key("orders/a")) == nil)
  }

  @Test("A cache failure is distinguished from a server outage")
  func outageOfTheCache() {
    var driver = Driver()
    driver.client(.status(ClientStatus(onlineState: .online, since: at(0))), at: 0)
    driver.client(.status(ClientStatus(onlineState: .offline, reason: .storageFailed, since: at(1))), at: 1)
    #expect(driver.state.feed.rows.last?.summary.contains("the cache cannot be written") == true)
    #expect(!driver.screen.contains("server out of reach"))
  }

  @Test("In every list without text input, Q quits immediately", arguments: ["i", "F", "T", "y"])
  func quit(_ key: String) {
    var driver = Scenario.online.play(Size(width: 120, height: 36))
    driver.press(key)
    #expect(driver.state.overlay != nil)
    driver.press("Q")
    #expect(driver.effects == [.terminal(.quit(code: 0))])
  }
}
