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

@Suite("Tree order")
struct SortingTests {
  private let path = ResourcePath("orders")

  private static func order(_ id: String, _ total: Int64?, at seconds: Double, pending: Document.PendingWrites = .none)
    -> Document
  {
    var fields: Fields = ["status": "new", "user": .string("u\(id)")]
    if let total { fields["total"] = .integer(total) }
    return document("orders/\(id)", at: seconds, pending: pending, fields)
  }

  private static let few = [order("a", 5, at: 3), order("b", 9, at: 1), order("c", nil, at: 2), order("d", 5, at: 0)]

  private func opened(_ documents: [Document] = few, total: Int? = nil) -> Driver {
    var driver = Driver(Size(width: 160, height: 40))
    driver.client(.collections(below: .root, ["orders"]), at: 0)
    driver.answerWindow(documents, total: total, at: 0)
    driver.press("1")
    return driver
  }

  private func ids(_ driver: Driver) -> String {
    driver.state.browser.windows[path]?.documents.map(\.key.documentID).joined() ?? ""
  }

  /// Chooses orders until one is reached, whose window is still to be answered.
  private func sort(by words: String, _ driver: inout Driver, _ documents: [Document] = few) {
    for _ in 0..<12 {
      driver.press("s")
      if driver.state.browser.windows[path]?.shownOrder.words == words { return }
      driver.answerWindow(documents, at: 1)
    }
  }

  @Test("s sorts by id, columns and times in turn, S reverses, and ties sort by id")
  func keys() {
    var driver = opened()
    #expect(ids(driver) == "abcd")
    sort(by: "total", &driver)
    driver.answerWindow(Self.few, at: 1)
    #expect(ids(driver) == "bdac", "the largest first, in the reverse order of ids; one without the field last")
    driver.press("S")
    #expect(ids(driver) == "cadb")
    sort(by: "last changed", &driver)
    #expect(ids(driver) == "acbd")
    sort(by: "created", &driver)
    sort(by: "id", &driver)
    #expect(ids(driver) == "abcd")
  }

  @Test("Sorting keeps the cursor on its document, and reopening keeps the order")
  func cursor() {
    var driver = opened()
    driver.press("j j j")
    let selected = driver.state.browser.cursor.id
    sort(by: "total", &driver)
    #expect(driver.state.browser.cursor.id == selected)
    driver.press("k k k k h")
    driver.press("l")
    driver.answerWindow(Self.few, at: 2)
    #expect(driver.state.browser.windows[path]?.shownOrder.words == "total")
    #expect(driver.screen.contains("total▼"))
  }

  @Test("A partly loaded collection is queried in the chosen order")
  func large() {
    let first = (0..<60).map { Self.order("x\(100 + $0)", Int64($0), at: 0) }
    var driver = opened(first, total: 100_000)
    sort(by: "total", &driver, first)
    let query = driver.windowQuery
    #expect(query?.explicitOrderBy == [OrderBy(FieldPath("total"), .descending), OrderBy(.documentID, .descending)])
    let largest = (0..<60).map { Self.order("y\(100 + $0)", 100_000 - Int64($0), at: 0) }
    driver.answerWindow(largest, at: 1)
    #expect(driver.state.browser.windows[path]?.documents.first?.key == largest[0].key)
    driver.press("j j")
    #expect(driver.screen.contains("total▼ by query"))
    #expect(!driver.screen.contains(" of 100 000 ·"), "those without the field are none of these")

    driver.press("G")
    #expect(driver.windowQuery?.limitType == .last)
    driver.answerWindow(largest.reversed(), at: 2)
    driver.press("g")
    driver.press("G")
    #expect(driver.state.browser.windows[path]?.total == 100_000)
  }

  @Test("Changing the order discards the previous order's row number")
  func places() {
    let first = (0..<60).map { Self.order("x\(100 + $0)", Int64(60 - $0), at: 0) }
    var driver = opened(first, total: 100_000)
    driver.press("j j j j j")
    sort(by: "total", &driver, first)
    #expect(driver.windowQuery?.start?.values.count == 2)
    driver.answerWindow([first[4], first[9]], at: 1)
    #expect(driver.state.browser.windows[path]?.offset == nil)
    #expect(driver.state.selectedKey == first[4].key)
    #expect(!driver.screen.contains("0 before"))
  }

  @Test("When sorted by a field, a window starts at the anchor document's value and id")
  func bounds() {
    let anchor = Self.order("k", 7, at: 0)
    let query = CollectionWindow.query(
      path, filter: nil, order: RowOrder(.field(FieldPath("total"))), at: .from(anchor.key), anchor: anchor, limit: 20,
      in: database)
    #expect(query.start?.values == [.integer(7), .reference(database, anchor.key)])
    #expect(throws: Never.self) { try query.validate() }
  }

  @Test("In a very large collection only loaded documents are sorted by change time")
  func known() {
    let documents = (0..<1000).map { Self.order("x\(1000 + $0)", 1, at: Double($0)) }
    var driver = opened(Array(documents.prefix(60)), total: 100_000)
    sort(by: "last changed", &driver, Array(documents.prefix(60)))
    #expect(driver.windowQuery?.limit == RowOrder.mostSortedHere)
    driver.answerWindow(documents, at: 1)
    #expect(driver.state.browser.windows[path]?.documents.first?.key == documents.last?.key)
    driver.press("j")
    #expect(driver.screen.contains("of 1 000+ · last changed▼"))
    driver.press("j G")
    #expect(driver.screen.contains("99 000 more not looked at"))
    #expect(driver.windowQuery == nil)
    driver.press(":")
    driver.type("5000")
    driver.press("enter")
    #expect(driver.screen.contains("only loaded rows can be reached"))
  }

  @Test("With a listener, documents with generated ids are sorted newest change first")
  func automatic() {
    let ids = (0..<5).map { "aaaaaaaaaaaaaaaaaaa\($0)" }
    var documents = ids.enumerated().map { Self.order($1, Int64($0), at: Double($0)) }
    var driver = opened(documents)
    driver.press("j j")
    let selected = driver.state.browser.cursor.id
    #expect(self.ids(driver).hasPrefix(ids[0]))
    driver.send(.listen(Query(path: path), name: "orders", ListenerOptions(), at: at(1)))
    driver.client(
      .snapshot(
        ListenerSnapshot(
          listener: ListenerTag(1), changes: documents.map { .init(.added, $0) }, isFromCache: false,
          syncStateChanged: true, hasPendingWrites: false, count: 5, causes: [.listenerAdded])), at: 1)
    #expect(driver.state.browser.windows[path]?.shownOrder == .newest)
    #expect(self.ids(driver).hasPrefix(ids[4]))
    #expect(driver.state.browser.cursor.id == selected)

    documents.append(Self.order("AAAAAAAAAAAAAAAAAAAA", 1, at: 9, pending: .local))
    let shown = driver.state.browser.windows[path]?.shown?.tag ?? WindowTag(0)
    driver.client(.windowLoaded(shown, documents, isFromCache: false, total: nil), at: 9)
    #expect(self.ids(driver).hasPrefix("AAAA"))
    #expect(driver.state.browser.cursor.id == selected)

    var named = opened()
    named.send(.listen(Query(path: path), name: "orders", ListenerOptions(), at: at(1)))
    named.client(
      .snapshot(
        ListenerSnapshot(
          listener: ListenerTag(1), changes: [], isFromCache: false, syncStateChanged: true, hasPendingWrites: false,
          count: 4, causes: [.listenerAdded])), at: 1)
    #expect(named.state.browser.windows[path]?.shownOrder == .id, "ids that were chosen say something")
  }

  @Test("Clicking a column heading sorts by it, and a second click reverses the order")
  func heads() {
    var driver = opened()
    let canvas = driver.canvas()
    let area = driver.state.layout(driver.state.size).content(of: .collections)
    let text = Array(canvas.text(row: area.y))
    guard let column = text.indices.first(where: { String(text[$0...].prefix(5)) == "total" }) else {
      Issue.record("no head\n\(canvas.text)")
      return
    }
    driver.mouse(.press, column + 1, area.y)
    #expect(driver.state.browser.windows[path]?.shownOrder == RowOrder(.field(FieldPath("total")), isDescending: true))
    driver.answerWindow(Self.few, at: 1)
    driver.tick(5)
    driver.mouse(.press, column + 1, area.y)
    #expect(driver.state.browser.windows[path]?.shownOrder == RowOrder(.field(FieldPath("total"))))
  }
}
