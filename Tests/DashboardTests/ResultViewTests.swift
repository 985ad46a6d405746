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

/// A result in the place of the tree: in the order of its query, with what came in, changed and left.
@Suite("Listener and query results")
struct ResultViewTests {
  private static let query = Query(
    path: ResourcePath("orders"), filters: [.field(FieldFilter(FieldPath("status"), .notEqual, "sent"))],
    explicitOrderBy: [OrderBy(FieldPath("total"), .descending)], limit: 3)

  private static func order(_ id: String, _ total: Int64, _ status: String = "new") -> Document {
    document("orders/\(id)", ["total": .integer(total), "status": .string(status), "user": "ada"])
  }

  private static let first = [order("b", 50), order("a", 90), order("c", 10, "paid")]

  private func snapshot(
    _ changes: [ListenerSnapshot.Change], count: Int = 3, isFromCache: Bool = false, omitted: Int? = nil
  ) -> ClientEvent {
    .snapshot(
      ListenerSnapshot(
        listener: ListenerTag(1), changes: changes, isFromCache: isFromCache, syncStateChanged: false,
        hasPendingWrites: false, count: count, causes: [.fromServer], omitted: omitted))
  }

  /// A dashboard with one listener, whose result is shown.
  private func opened(_ size: Size = Size(width: 220, height: 60), _ query: Query = query) -> Driver {
    var driver = Driver(size)
    driver.client(.collections(below: .root, ["orders"]), at: 0)
    driver.send(.listen(query, name: "orders?", ListenerOptions(), at: at(0)))
    driver.client(snapshot(Self.first.map { .init(.added, $0) }), at: 1)
    driver.press("1 R")
    return driver
  }

  private func shown(_ driver: Driver) -> [String] {
    driver.state.resultDocuments?.documents.map(\.key.documentID) ?? []
  }

  /// The row of the screen about a document.
  private func row(_ driver: Driver, _ id: String) -> String {
    let canvas = driver.canvas()
    let area = driver.state.layout(driver.state.size).content(of: .collections)
    return (area.y..<area.maxY).map { String(canvas.text(row: $0).dropFirst().prefix(area.width)) }
      .first { $0.contains(" \(id) ") } ?? ""
  }

  @Test("Result rows are numbered in query order, and the query's fields come first")
  func order() {
    let driver = opened()
    #expect(shown(driver) == ["a", "b", "c"])
    #expect(driver.screen.contains("total▼  status"))
    #expect(row(driver, "a").contains(" 1  a"))
    #expect(row(driver, "c").contains(" 3  c"))
    #expect(driver.screen.contains("◉ live · first 3"))
    #expect(driver.screen.contains("╌ limit 3 ╌"))
  }

  @Test("A field with an equality condition is in the title of a result and has no column")
  func equality() {
    var driver = Driver(Size(width: 120, height: 36))
    driver.client(.collections(below: .root, ["orders"]), at: 0)
    let query = Query(
      path: ResourcePath("orders"), filters: [.field(FieldFilter(FieldPath("status"), .equal, "paid"))])
    driver.send(.listen(query, name: "orders?", ListenerOptions(), at: at(0)))
    let orders = ["a", "b"].map {
      document("orders/\($0)", ["status": "paid", "total": 5, "user": .string("user \($0)")])
    }
    Scenario.snapshot(
      &driver, ListenerTag(1), orders.map { .init(.added, $0) }, count: 2, [.listenerAdded], synced: true, at: 1)
    driver.press("1 R")
    let head = driver.screen.split(separator: "\n").first { $0.contains("user") && $0.contains("total") }
    #expect(head?.contains("status") == false, "\(driver.screen)")
    #expect(driver.screen.contains("orders where status == \"paid\""), "\(driver.screen)")
  }

  @Test("A result briefly marks additions, changes and removals (with their reason)")
  func changes() {
    var driver = opened()
    let new = Self.order("d", 70)
    driver.client(snapshot([.init(.removed, Self.first[2]), .init(.added, new)]), at: 2)
    #expect(shown(driver) == ["a", "d", "b"])
    #expect(row(driver, "d").contains("+"))
    #expect(row(driver, "d").contains("came in"))
    #expect(driver.screen.contains("c (was 3rd): beyond the limit"))

    let changed = Self.order("b", 95, "paid")
    driver.client(snapshot([.init(.modified, changed, previous: Self.first[0])]), at: 3)
    #expect(shown(driver) == ["b", "a", "d"])
    #expect(row(driver, "b").contains("~"))
    #expect(row(driver, "b").contains("was 3rd"))
    #expect(driver.state.browser.result?.marks[changed.key]?.names == ["status", "total"])
    #expect(driver.state.nextTick <= at(6))
    driver.tick(6)
    #expect(driver.state.browser.result?.marks.isEmpty == true)
    #expect(!row(driver, "b").contains("was 3rd"))
    #expect(driver.screen.contains("c (was 3rd)"), "who left last stays named, with the time")
  }

  @Test("A removed row is reported as deleted, or with the value that no longer matches")
  func departures() {
    var driver = opened()
    let gone = Document(key: Self.first[1].key, version: nil, state: .missing)
    driver.client(snapshot([.init(.removed, Self.first[1], now: gone)], count: 2), at: 2)
    #expect(driver.state.browser.result?.departure?.reason == "deleted")
    #expect(driver.state.browser.result?.departure?.place == 1)
    let sent = Self.order("b", 50, "sent")
    driver.client(snapshot([.init(.removed, Self.first[0], now: sent)], count: 1), at: 3)
    #expect(driver.state.browser.result?.departure?.reason == "status \"new\"→\"sent\"")
    #expect(driver.screen.contains("◉ live · 1 doc"))
    #expect(!driver.screen.contains("╌ limit 3"), "fewer than the limit have no edge")
  }

  @Test("In a result the cursor follows its document, and Esc returns to the tree")
  func keys() {
    var driver = Driver(Size(width: 160, height: 40))
    driver.client(.collections(below: .root, ["orders"]), at: 0)
    driver.answerWindow(Self.first.sorted { $0.key < $1.key }, at: 0)
    driver.send(.listen(Self.query, name: "orders?", ListenerOptions(), at: at(0)))
    driver.client(snapshot(Self.first.map { .init(.added, $0) }), at: 1)
    driver.press("1 j j")
    let before = driver.state.browser.cursor.id
    driver.press("W enter j")
    #expect(driver.state.selectedKey == Self.first[0].key)
    driver.client(snapshot([.init(.modified, Self.order("b", 99), previous: Self.first[0])]), at: 2)
    #expect(driver.state.selectedKey == Self.first[0].key)
    #expect(driver.state.browser.result?.cursor.index == 0)
    driver.press("d")
    #expect(driver.screen.contains("Delete document"))
    #expect(driver.screen.contains("orders/b"))
    driver.press("esc enter")
    #expect(driver.state.detail?.key == Self.first[0].key)
    driver.press("esc esc")
    #expect(driver.state.browser.result == nil)
    #expect(driver.state.browser.cursor.id == before)
  }

  @Test("If the selected row disappears, the next one is selected")
  func selectedLeaves() {
    var driver = opened()
    driver.press("j")
    driver.client(snapshot([.init(.removed, Self.first[0])], count: 2), at: 2)
    #expect(driver.state.selectedKey == Self.first[2].key)
  }

  @Test("A failed listener's view shows the reason, and a stopped listener's view closes")
  func failure() {
    var driver = opened()
    driver.client(.listenerFailed(ListenerTag(1), RPCStatus(.permissionDenied, "No reading here.")), at: 2)
    #expect(driver.screen.contains("the listener has ended: permission-denied"))
    #expect(driver.screen.contains("No reading here."))
    #expect(driver.screen.contains("✗ ended"))
    #expect(row(driver, "a").isEmpty)
    driver.press("W x")
    #expect(driver.state.browser.result == nil)
  }

  @Test("Cached results are labeled, and an empty cached result names the cache")
  func offline() {
    var driver = opened()
    driver.client(.status(Scenario.status(2, isEnabled: false)), at: 2)
    #expect(driver.screen.contains("◌ cache · first 3"))
    driver.client(
      snapshot(Self.first.map { .init(.removed, $0) }, count: 0, isFromCache: true), at: 3)
    #expect(driver.screen.contains("the cache has none that match"))
  }

  @Test("A result is shown as partial if a program's snapshot omitted changes")
  func partly() {
    var kept = CachedResult(Self.query)
    let all = ListenerSnapshot(
      listener: ListenerTag(1), changes: [.init(.modified, Self.first[0])], isFromCache: false,
      syncStateChanged: false, hasPendingWrites: false, count: 40, causes: [], omitted: 3)
    kept.apply(all, isTold: false)
    #expect(!kept.isWhole && kept.documents.count == 1 && kept.count == 40)

    var driver = opened()
    driver.client(snapshot([.init(.modified, Self.first[0], previous: Self.first[0])], count: 9, omitted: 5), at: 2)
    #expect(driver.screen.contains("3 of 9 sent"))
  }

  @Test("A result of 10,000 rows can be drawn, and row 5,000 can be selected")
  func large() {
    var driver = opened(Size(width: 120, height: 36), Query(path: ResourcePath("orders")))
    let documents = (0..<10_000).map { Self.order("x\(10_000 + $0)", Int64($0)) }
    driver.client(snapshot(documents.map { .init(.added, $0) }, count: 10_003), at: 2)
    #expect(driver.state.browser.result?.marks.isEmpty == true, "a catch-up is not news of each")
    driver.press("G")
    #expect(driver.state.selectedKey?.documentID == "x19999")
    #expect(driver.screen.contains("10003"))
    driver.press(":")
    driver.type("5000")
    driver.press("enter")
    #expect(driver.state.browser.result?.cursor.index == 4999)
  }

  @Test("A query runs once, shows its time and runs again when r is pressed")
  func question() {
    var driver = Driver(Size(width: 160, height: 40))
    driver.client(.collections(below: .root, ["orders"]), at: 0)
    driver.press(":")
    driver.type("query orders where total >= 40 order by total desc")
    driver.press("enter")
    guard
      case .client(.ask(let tag, let query))? = driver.effects.first(where: { effect in
        if case .client(.ask) = effect { true } else { false }
      })
    else {
      Issue.record("nothing is asked")
      return
    }
    #expect(query.explicitOrderBy == [OrderBy(FieldPath("total"), .descending)])
    #expect(driver.screen.contains("asking"))
    driver.client(.windowLoaded(tag, Array(Self.first.prefix(2)), isFromCache: false, total: nil), at: 3)
    #expect(shown(driver) == ["a", "b"])
    #expect(driver.screen.contains("asked 12:04:03 · 2 docs"))
    driver.client(.windowLoaded(WindowTag(99), [], isFromCache: false, total: nil), at: 4)
    #expect(shown(driver) == ["a", "b"], "another window's answer is none")

    driver.press("r")
    guard case .client(.ask(let again, _))? = driver.effects.first else {
      Issue.record("nothing is asked again")
      return
    }
    driver.client(.windowFailed(tag, RPCStatus(.internal, "late")), at: 5)
    #expect(!driver.screen.contains("late"))
    driver.client(.windowFailed(again, RPCStatus(.failedPrecondition, "needs an index")), at: 5)
    #expect(driver.screen.contains("needs an index"))
    driver.press("esc")
    #expect(driver.state.browser.result == nil)
  }

  @Test("A result keeps its columns as values change, and appends fields that change")
  func columns() {
    var driver = opened()
    let before = driver.state.browser.result?.columns.columns.map(\.name)
    #expect(before?.prefix(2) == ["total", "status"])
    let changed = document("orders/b", ["total": 51, "status": "a very long status indeed", "zz": 1])
    driver.client(snapshot([.init(.modified, changed, previous: Self.first[0])]), at: 2)
    #expect(driver.state.browser.result?.columns.columns.map(\.name) == (before ?? []) + ["zz"])
  }

  @Test("In the feed, listener rows open the result, and document rows open the document")
  func feed() {
    var driver = opened()
    driver.press("esc 4 R")
    #expect(driver.state.browser.result?.source == .listener(ListenerTag(1)))
    driver.press("R")
    #expect(driver.state.browser.result == nil)

    let canvas = driver.canvas()
    let area = driver.state.layout(driver.state.size).content(of: .feed)
    guard let y = (area.y..<area.maxY).first(where: { canvas.text(row: $0).contains("orders?") }),
      let name = canvas.text(row: y).firstRange(of: "orders?")
    else {
      Issue.record("no row of the listener\n\(canvas.text)")
      return
    }
    let x = canvas.text(row: y).distance(from: canvas.text(row: y).startIndex, to: name.lowerBound)
    driver.mouse(.press, x + 1, y)
    #expect(driver.state.browser.result == nil)
    driver.mouse(.press, x + 1, y)
    #expect(driver.state.browser.result?.source == .listener(ListenerTag(1)))
  }
}
