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

/// What a feed row says first, and what is done so that it can be read.
@Suite("Feed row summaries")
struct FeedTextTests {
  private static let old = document(
    "orders/a1", at: -50,
    ["at": .timestamp(at(-50)), "buyer": "ada", "status": "new", "updatedAt": .timestamp(at(-50))]
  )
  private static let new = document(
    "orders/a1", at: 2, ["at": .timestamp(at(2)), "buyer": "ada", "status": "paid", "updatedAt": .timestamp(at(2))])

  private func listening(_ size: Size = Size(width: 120, height: 36)) -> Driver {
    var driver = Driver(size)
    driver.client(.collections(below: .root, ["orders"]), at: 0)
    let others = (2..<8).map { number in
      document("orders/a\(number)", ["status": .string(number % 2 == 0 ? "new" : "paid"), "buyer": "ada"])
    }
    driver.answerWindow([Self.old] + others, at: 0)
    driver.press("space")
    Scenario.snapshot(&driver, driver.listenTag, [], count: 7, [.fromServer], synced: true, at: 0.5)
    return driver
  }

  private func hear(_ driver: inout Driver, _ change: ListenerSnapshot.Change, at seconds: Double = 2) {
    Scenario.snapshot(&driver, ListenerTag(1), [change], count: 7, [.fromServer], at: seconds)
  }

  private func newest(_ driver: Driver) -> String { driver.state.feed.rows.last?.summary ?? "" }

  @Test("Changed fields are ordered by relevance, with automatic timestamps last")
  func order() {
    var driver = listening()
    hear(&driver, .init(.modified, Self.new, previous: Self.old))
    #expect(newest(driver) == "status \"new\"→\"paid\" · at set · updatedAt set")
  }

  @Test("A new document's row shows the tree's columns, except constant fields")
  func addition() {
    var driver = listening()
    hear(&driver, .init(.added, Self.new))
    #expect(newest(driver).hasPrefix("status \"paid\""))
    #expect(!newest(driver).contains("buyer"))
  }

  @Test("Without tree columns a feed row shows fields; a new document's row says \"new\"")
  func withoutColumns() {
    var driver = Driver(Size(width: 120, height: 36))
    driver.client(.collections(below: .root, ["cities"]), at: 0)
    driver.answerWindow([], at: 0)
    driver.press("space")
    Scenario.snapshot(&driver, driver.listenTag, [], count: 0, [.fromServer], synced: true, at: 0.5)
    hear(&driver, .init(.added, document("cities/c", at: 2, ["name": "Oslo"])))
    #expect(newest(driver) == "name \"Oslo\"")
    var made = document("cities/d", pending: .local, ["name": "Bergen"])
    (made.version, made.createTime) = (nil, nil)
    Scenario.snapshot(&driver, ListenerTag(1), [.init(.added, made)], count: 2, [.localWrite(BatchID(1))], at: 3)
    #expect(newest(driver) == "new · name \"Bergen\"")
    // After a restart an old document comes with the update that still waits for it.
    var waiting = document("cities/e", pending: .local, ["name": "Moss"])
    waiting.version = nil
    Scenario.snapshot(&driver, ListenerTag(1), [.init(.added, waiting)], count: 3, [.listenerAdded], at: 4)
    #expect(newest(driver) == "name \"Moss\"")
  }

  @Test("w shows the selected row in full below the feed")
  func opened() {
    var driver = listening()
    let fields = Fields(unsorted: (0..<9).map { ("field\($0)", Value.string(String(repeating: "x", count: 30))) })
    hear(&driver, .init(.modified, document("orders/a2", at: 3, fields), previous: document("orders/a2", [:])), at: 3)
    #expect(!driver.screen.contains("field8"))
    driver.press("4 w")
    #expect(driver.screen.contains("field8"))
    driver.press("w")
    #expect(!driver.screen.contains("field8"))
  }

  @Test(
    "A message never covers the newest feed row",
    arguments: [Size(width: 120, height: 36), Size(width: 60, height: 16)])
  func messages(_ size: Size) {
    var driver = listening(size)
    driver.press("4")
    for number in 0..<40 {
      hear(&driver, .init(.modified, Self.new, previous: Self.old), at: 3 + Double(number) / 100)
    }
    let feed = driver.state.layout(size).content(of: .feed)
    let before = driver.canvas().text(row: feed.maxY - 1)
    driver.host(.notice(.error, "something went wrong"), at: 3.5)
    #expect(driver.canvas().text(row: feed.maxY - 1) == before)
    #expect(driver.canvas().text(row: size.height - 1).contains("ERROR something went wrong"))
    driver.press("/")
    #expect(driver.screen.contains("something went wrong"))
    #expect(driver.canvas().text(row: feed.maxY - 1) == before)
  }

  @Test("A long message says where its full text is shown")
  func longMessage() {
    let size = Size(width: 60, height: 16)
    var driver = listening(size)
    let text = (0..<20).map { "word\($0)" }.joined(separator: " ")
    driver.host(.notice(.error, text), at: 3)
    #expect(driver.canvas().text(row: 15).contains(":messages"))
    driver.mouse(.press, 4, 15)
    #expect(driver.screen.contains("word19"))
  }

  @Test(
    "The header counts rejected writes at every screen size",
    arguments: [(120, 36), (80, 24), (60, 16), (40, 12), (24, 4)])
  func rejected(_ width: Int, _ height: Int) {
    var driver = listening(Size(width: width, height: height))
    driver.client(.pendingWrites([pendingWrite(1, .set, "orders/a", at: at(0), .queued)]), at: 1)
    driver.client(.writeRejected(BatchID(1), RPCStatus(.permissionDenied, "no")), at: 1)
    #expect(driver.canvas().text(row: 0).contains("!1"))
  }
}
