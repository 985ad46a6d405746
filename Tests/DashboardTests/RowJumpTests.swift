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

/// Rows of a collection that is larger than its window.
@Suite("Jumping to a row of a collection")
struct RowJumpTests {
  private let path = ResourcePath("events")

  private func opened(_ total: Int? = 10_000) -> Driver {
    var driver = Driver(Size(width: 120, height: 36))
    driver.client(.collections(below: .root, ["events", "others"]), at: 0)
    driver.answerWindow(Scenario.events(0..<(driver.windowQuery?.limit ?? 0)), total: total, at: 0)
    driver.press("1 j")
    return driver
  }

  private func go(_ driver: inout Driver, _ text: String) {
    driver.press(":")
    driver.type(text)
    driver.press("enter")
  }

  private func search(_ driver: Driver) -> (tag: WindowTag, offset: Int)? {
    for case .client(.locate(let tag, let query, let offset)) in driver.effects {
      #expect(query.limit == nil && query.explicitOrderBy == [OrderBy(.documentID)])
      return (tag, offset)
    }
    return nil
  }

  /// Answers the search and the window that it leads to.
  private func answer(_ driver: inout Driver, cachedCount: Int? = nil) {
    guard let (tag, offset) = search(driver) else { return }
    let key = Scenario.events(offset..<offset + 1)[0].key
    driver.client(.located(tag, key, cachedCount: cachedCount), at: 1)
    driver.answerWindow(Scenario.events(offset..<offset + (driver.windowQuery?.limit ?? 0)), at: 2)
  }

  @Test(
    "Rows and percentages refer to the collection, not to its loaded part",
    arguments: [(":5000", 4999), (":50%", 4999), ("5000G", 4999), (":9990", 9989), (":100%", 9999), (":200000", 9999)])
  func far(_ keys: String, _ row: Int) {
    var driver = opened()
    if keys.hasPrefix(":") { go(&driver, String(keys.dropFirst())) } else { driver.type(keys) }
    answer(&driver)
    #expect(driver.state.browser.cursor.id == .document(Scenario.events(row..<row + 1)[0].key))
    #expect(driver.screen.contains("\(grouped(row + 1)) of 10 000"))
  }

  @Test("Jumping to a row that is loaded or near the start needs no search")
  func near() {
    var driver = opened()
    go(&driver, "7")
    #expect(driver.effects == [])
    #expect(driver.state.browser.cursor.id == .document(Scenario.events(6..<7)[0].key))
  }

  @Test("A digit focuses its pane or starts a row number, which Esc clears")
  func digits() {
    var driver = opened()
    driver.type("50")
    #expect(driver.screen.contains("[50G"))
    #expect(driver.state.detail == nil)
    driver.press("esc")
    #expect(!driver.screen.contains("[50G"))
    driver.type("3")
    #expect(driver.state.focus == .network)
  }

  @Test("Offline, jumping to a row reports that only cached rows are counted")
  func offline() {
    var driver = opened()
    driver.client(.status(Scenario.status(1, isEnabled: false)), at: 1)
    go(&driver, "300")
    answer(&driver, cachedCount: 400)
    #expect(
      driver.state.toasts.last?.text == "offline: rows are counted in the cache, which has 400 documents of events")
    #expect(driver.state.browser.cursor.id == .document(Scenario.events(299..<300)[0].key))

    go(&driver, "5000")
    guard let tag = search(driver)?.tag else { return #expect(Bool(false), "nothing was looked for") }
    driver.client(.located(tag, nil, cachedCount: 400), at: 3)
    #expect(driver.effects == [])
    #expect(driver.state.toasts.last?.text.contains("which has 400 documents") == true)
  }

  @Test("A slow search shows its progress, and a failed search shows the reason")
  func failure() {
    var driver = opened()
    go(&driver, "5000")
    #expect(driver.screen.contains("… row 5 000"))
    guard let tag = search(driver)?.tag else { return #expect(Bool(false), "nothing was looked for") }
    driver.client(.windowFailed(tag, RPCStatus(.permissionDenied, "not yours")), at: 1)
    #expect(!driver.screen.contains("… row 5 000"))
    #expect(
      driver.state.toasts.last?.text == "row 5 000 of events cannot be found: permission-denied: not yours")
    #expect(driver.screen.contains("10 000 docs"))
  }

  @Test("The response to an abandoned search is dropped")
  func stale() {
    var driver = opened()
    go(&driver, "5000")
    let first = search(driver)?.tag
    go(&driver, "6000")
    guard let first else { return #expect(Bool(false), "nothing was looked for") }
    driver.client(.located(first, Scenario.events(4000..<4001)[0].key, cachedCount: nil), at: 1)
    #expect(driver.effects == [])
  }
}
