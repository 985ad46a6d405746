// SPDX-License-Identifier: Apache-2.0
import ClientPort
import FirestoreModel
import FirestoreQuery
import FirestoreTesting
import TerminalCanvas
import TerminalTesting
import Testing

@testable import Dashboard
@testable import DashboardModel

/// The values beside the documents of the tree, while they change.
@Suite("Tree columns")
struct TreeColumnsTests {
  private static let ids = (0..<12).map { "aaaaaaaaaaaaaaaaaa\($0 + 10)" }
  private static let states = ["paid", "new", "packed"]

  private static func order(_ index: Int, _ status: String) -> Document {
    document(
      "orders/\(ids[index])",
      [
        "at": .timestamp(at(Double(index))), "currency": "EUR", "status": .string(status),
        "total": .integer(Int64(index * 7)),
      ])
  }

  private static let orders = ids.indices.map { order($0, states[$0 % 3]) }

  private func opened(_ documents: [Document] = orders, _ size: Size = Size(width: 120, height: 36)) -> Driver {
    var driver = Driver(size)
    driver.client(.collections(below: .root, ["orders"]), at: 0)
    driver.answerWindow(documents, at: 0)
    return driver
  }

  private func load(_ documents: [Document], into driver: inout Driver, at seconds: Double) {
    driver.client(.windowLoaded(WindowTag(1), documents, isFromCache: false, total: nil), at: seconds)
  }

  /// The row of the tree about a document, by the end of its id.
  private func row(_ driver: Driver, _ index: Int) -> String {
    let canvas = driver.canvas()
    let end = String(Self.ids[index].suffix(4))
    let y = (0..<canvas.size.height).first { canvas.text(row: $0).prefix(46).contains(end) } ?? 0
    return String(canvas.text(row: y).dropFirst(1).prefix(68))
  }

  private func roles(_ driver: Driver, _ index: Int) -> Set<Role> {
    let canvas = driver.canvas()
    let end = String(Self.ids[index].suffix(4))
    let y = (0..<canvas.size.height).first { canvas.text(row: $0).prefix(46).contains(end) } ?? 0
    return Set(canvas.row(y).dropFirst(1).prefix(68).map(\.role))
  }

  @Test("Tree columns are the fields whose values differ between documents")
  func choice() {
    var documents = Self.orders
    documents[0] = document("orders/\(Self.ids[0])", ["hello": "world"])
    let driver = opened(documents)
    let names = driver.state.browser.columns[ResourcePath("orders")]?.columns.map(\.name) ?? []
    #expect(names.first == "status")
    #expect(names.contains("total"))
    #expect(!names.contains("currency"))
    #expect(row(driver, 1).contains("new"))
  }

  @Test("Column headings are above their values")
  func heads() {
    let driver = opened()
    let canvas = driver.canvas()
    let head = canvas.text(row: 2)
    let row = canvas.text(row: 4)
    #expect(canvas.text(row: 3).contains("▾ orders") && canvas.text(row: 3).contains("12 docs"))
    guard let name = head.firstRange(of: "status"), let value = row.firstRange(of: "paid") else {
      Issue.record("no column\n\(canvas.text)")
      return
    }
    #expect(
      head.distance(from: head.startIndex, to: name.lowerBound)
        == row.distance(from: row.startIndex, to: value.lowerBound))
  }

  @Test("A longer value moves no column and does not shorten other ids")
  func stillness() {
    var driver = opened()
    let before = (0..<12).map { row(driver, $0) }
    var documents = Self.orders
    documents[3] = Self.order(3, "delivered to the neighbours")
    load(documents, into: &driver, at: 1)
    driver.tick(10)
    for index in 0..<12 where index != 3 { #expect(row(driver, index) == before[index]) }
    #expect(row(driver, 3).prefix(17) == before[3].prefix(17))
  }

  @Test("A changed row has a sign and a tint for 3 s, and a new row has another sign")
  func marks() {
    var driver = opened()
    driver.press("g")
    var documents = Self.orders
    documents[2] = Self.order(2, "paid")
    load(documents, into: &driver, at: 1)
    #expect(row(driver, 2).contains("~"))
    #expect(roles(driver, 2).contains(.diffModified))
    #expect(driver.state.nextTick <= at(4))
    driver.tick(4)
    #expect(!row(driver, 2).contains("~"))
    #expect(!roles(driver, 2).contains(.diffModified))
    #expect(driver.state.nextTick >= at(60))

    load(Array(documents.dropLast()), into: &driver, at: 5)
    load(documents, into: &driver, at: 6)
    #expect(row(driver, 11).contains("+"))
    #expect(roles(driver, 11).contains(.diffAdded))
    driver.tick(9)
    #expect(!row(driver, 11).contains("+"))
  }

  @Test("Documents missing from the cache are not marked as new")
  func caughtUp() {
    var driver = Driver()
    driver.client(.collections(below: .root, ["orders"]), at: 0)
    driver.answerWindow(Array(Self.orders.prefix(4)), isFromCache: true, at: 0)
    load(Self.orders, into: &driver, at: 1)
    #expect(!(0..<12).contains { row(driver, $0).contains("+") })
  }

  @Test("A constant field that starts to change moves to the first column only once")
  func stability() {
    let documents = Self.ids.enumerated().map { index, id in
      document("orders/\(id)", ["kind": .string(["a", "b"][index % 2]), "name": .string("n\(index)"), "hits": 0])
    }
    var driver = opened(documents)
    let path = ResourcePath("orders")
    let before = driver.state.browser.columns[path]?.columns.map(\.name) ?? []
    #expect(before == ["kind", "name"])
    var heads: [String] = []
    for step in 1...4 {
      var changed = documents
      changed[1] = document(
        "orders/\(Self.ids[1])", ["kind": "b", "name": "n1", "hits": .integer(Int64(step))])
      load(changed, into: &driver, at: Double(step))
      #expect(driver.state.browser.columns[path]?.columns.map(\.name) == ["hits", "kind", "name"])
      heads.append(driver.canvas().text(row: 2))
    }
    #expect(Set(heads).count == 1)
  }

  @Test("Columns that you picked stay when values change")
  func picked() {
    let documents = Self.ids.enumerated().map { index, id in
      document("orders/\(id)", ["kind": .string(["a", "b"][index % 2]), "hits": 0])
    }
    var driver = opened(documents)
    driver.press("j c space esc")
    driver.press("c space enter")
    let path = ResourcePath("orders")
    let before = driver.state.browser.columns[path]?.columns.map(\.name)
    var changed = documents
    changed[1] = document("orders/\(Self.ids[1])", ["kind": "b", "hits": 1])
    load(changed, into: &driver, at: 1)
    #expect(driver.state.browser.columns[path]?.picked != nil)
    #expect(driver.state.browser.columns[path]?.columns.map(\.name) == before)
  }

  @Test("The columns of a single document keep their order through edits and additions")
  func oneDocument() {
    var driver = opened([document("orders/SF", ["a": "red", "b": "b", "c": 1])])
    let path = ResourcePath("orders")
    let before = driver.state.browser.columns[path]?.columns.map(\.name) ?? []
    #expect(before.count == 3)
    load([document("orders/SF", ["a": "red", "b": .integer(9), "c": 1])], into: &driver, at: 1)
    #expect(driver.state.browser.columns[path]?.columns.map(\.name) == before)
    let more = (0..<6).map { document("orders/T\($0)", ["a": .string("x\($0)"), "d": .string("long text \($0)")]) }
    load([document("orders/SF", ["a": "red", "b": .integer(9), "c": 1])] + more, into: &driver, at: 2)
    #expect(driver.state.browser.columns[path]?.columns.map(\.name).starts(with: before) == true)
  }

  @Test("Repeated values have a stable color in every row")
  func hues() {
    var driver = opened()
    let columns = driver.state.browser.columns[ResourcePath("orders")]
    let hues = Self.states.map { columns?.hue(of: .string($0), in: "status") }
    #expect(Set(hues).count == 3 && !hues.contains(nil))
    #expect(columns?.hue(of: 7, in: "total") == nil)
    var documents = Self.orders
    documents[5] = Self.order(5, "shipped")
    load(documents, into: &driver, at: 1)
    let after = driver.state.browser.columns[ResourcePath("orders")]
    #expect(Self.states.map { after?.hue(of: .string($0), in: "status") } == hues)
    #expect(after?.hue(of: "shipped", in: "status") != nil)
  }

  @Test("c picks columns: Space toggles, a resets to automatic, and Esc cancels")
  func picking() {
    var driver = opened()
    driver.press("1 j c")
    #expect(driver.screen.contains("Columns of orders"))
    #expect(driver.screen.contains("[x] status"))
    #expect(driver.screen.contains("in 12 of 12 · 3 values"))
    driver.press("space")
    #expect(driver.screen.contains("[ ] status"))
    driver.press("enter")
    #expect(!row(driver, 1).contains("new"))
    driver.press("c")
    driver.press("a")
    #expect(driver.screen.contains("[x] status"))
    driver.press("esc")
    #expect(!row(driver, 1).contains("new"))
  }

  @Test(
    "The selected row is highlighted up to its id and keeps its value colors",
    arguments: [Size(width: 120, height: 36), Size(width: 60, height: 16)])
  func selection(_ size: Size) {
    var driver = opened(Self.orders, size)
    driver.press("1 j j")
    let canvas = driver.canvas()
    let area = driver.state.layout(size).content(of: .collections)
    let selected = (area.y..<area.maxY).filter { y in
      let highlighted = (area.x..<area.maxX).filter { canvas[$0, y].role == .selection }
      return (8...28).contains(highlighted.count) && canvas[area.x, y].role == .cursorGutter
    }
    #expect(selected.count == 1)
    let roles = selected.first.map { y in (area.x..<area.maxX).map { canvas[$0, y].role } } ?? []
    #expect(roles.contains { $0.rawValue.hasPrefix("value.") }, "\(roles)")
  }
}

/// What the tree says of documents that the server no longer shows.
@Suite("Denied rows")
struct DeniedRowTests {
  @Test("If reads are denied, the collection's rows lose the sign of server data")
  func denied() {
    var driver = Driver(Size(width: 120, height: 36))
    driver.client(.collections(below: .root, ["orders"]), at: 0)
    driver.answerWindow([document("orders/a", ["n": 1])], at: 0)
    func row() -> String { driver.screen.split(separator: "\n").first { $0.contains("▸ a ") }.map(String.init) ?? "" }
    #expect(row().contains(" S "))
    let tag = driver.state.browser.windows[ResourcePath("orders")]?.shown?.tag ?? WindowTag(0)
    driver.client(.windowFailed(tag, RPCStatus(.permissionDenied, "no")), at: 1)
    #expect(!row().contains(" S ") && driver.screen.contains("denied"), "\(driver.screen)")
  }
}
