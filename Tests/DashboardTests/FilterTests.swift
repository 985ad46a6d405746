// SPDX-License-Identifier: Apache-2.0
import ClientPort
import FirestoreModel
import FirestoreQuery
import FirestoreTesting
import FirestoreText
import LinearPatterns
import TerminalCanvas
import TerminalTesting
import Testing

@testable import Dashboard
@testable import DashboardModel

@Suite("Filter syntax")
struct FilterTests {
  private let order = document(
    "orders/7Qf3",
    [
      "status": "packed", "total": 18.5, "n": 42, "name": "Ada Smith", "isGift": true, "coupon": .null,
      "at": .timestamp(at(0)), "tags": .array(["big", "red"]), "shipTo": .map(["city": "Bern"]),
    ])

  private func passes(_ text: String) throws -> Bool {
    try RowFilter(text, in: database).matches(order.rowText, in: [order])
  }

  @Test(
    "Each filter matches the example row",
    arguments: [
      "", "packed", "pack !shipped", "7Q", "^7Qf", "\"ada smith\"", "status:packed", "status:\"packed\"", "n:42",
      "n:42.0", "n:=42", "n:==42", "n:>41", "n:>:41", "n:>=42", "n:<=42", "n:!=41", "total:>=10.5", "total:<19",
      "name:~smi", "name:/^Ada .*h$/", "isGift:true", "coupon:null", "at:>2026-03-02T12:00:00Z",
      "at:<2026-03-02T13:04:01+01:00", "at:>timestamp:2026-03-02", "name:'Ada Smith'", "tags:[big, red]",
      "name:!=x", "total:double:18.5", "tags:~big", "shipTo.city:Bern", "!status:paid", "!missing:1", "/pack.d/",
      "/7q.3/ status:packed n:>1", "!/zzz/", "`status`:packed", "!", "! packed", "~pckd", "~7f3 ~smth", "~", "~Smh",
      "!~zz", "~18.5",
    ])
  func holding(_ text: String) throws { #expect(try passes(text)) }

  @Test(
    "Each filter excludes the example row",
    arguments: [
      "paid", "!packed", "Packed", "^packed", "packed paid", "status:pack", "status:Packed", "n:>42", "n:>\"41\"",
      "n:\"42\"", "total:>20", "name:~Smi !name:~Smi", "isGift:false", "isGift:\"true\"", "coupon:!=1", "missing:!=1",
      "at:>2026-03-02T13:00:00Z", "/PACKED/", "/^packed$/", "!/p.c/", "name:>1", "~dekcap", "!~pckd", "~Pckd",
      "~adasmith", "~p.d",
    ])
  func failing(_ text: String) throws { #expect(try !passes(text)) }

  @Test(
    "A word is found in any script, whatever the Unicode form of its letters",
    arguments: [
      ("gent", "in Gent", true), ("gent", "Gen", false), ("gent", "gen gengent", true), ("Gent", "gent", false),
      ("uhr", "Zürich, 9 UHR ✓", true), ("zürich", "Zu\u{308}rich", true), ("zurich", "Zürich", false),
      ("ΑΒ", "αβ ΑΒ", true), ("αβ", "ΑΒ", true), ("a", "", false), ("✓", "9 Uhr ✓", true),
    ])
  func words(_ word: String, _ text: String, _ isPart: Bool) {
    #expect(RowFilter.Word(word).isPart(of: text) == isPart)
  }

  @Test("A word with a colon but no field name is plain text")
  func colons() throws {
    #expect(try RowFilter("12:04", in: database).terms.map(\.condition) == [.contains(.init("12:04"))])
    #expect(try RowFilter(":42", in: database).terms.map(\.condition) == [.contains(.init(":42"))])
  }

  @Test(
    "A syntax error in a filter reports its column",
    arguments: [
      ("paid status:", 13, "a value is missing"), ("n:>=", 5, "a value is missing after >="),
      ("a /b", 3, "a pattern ends with /"), ("/(a/", 2, "this group has no )"), ("x /a)/", 5, "there is no ("),
      ("/[a/", 2, "this set has no ]"), ("/*/", 2, "there is nothing to repeat before *"),
      ("//", 1, "the pattern is empty"),
      ("/a{9,2}/", 3, "2 is less than 9"), ("/a{2000}/", 3, "at most 100 repeats"), ("/(?=a)/", 2, "lookaround"),
      ("/\\p/", 2, "\\p is not a known escape"), ("/a/b", 4, "a space must follow"), ("a..b:1", 1, ""),
      ("__name__:x", 1, "ids are words"), ("/((((a{50}){50}){50}){50})/", 2, "the pattern is too long"),
      ("/((((){100}){100}){100}){100}/", 2, "the pattern is too long"), ("n:/(/", 4, "this group has no )"),
      ("a name:True", 8, "Did you mean true?"), ("at:2026-03-02", 4, "For a time, write"),
      ("n:[1", 5, "Expected \"]\""),
    ])
  func errors(_ text: String, _ column: Int, _ reason: String) {
    do throws(TextError) {
      _ = try RowFilter(text, in: database)
      Issue.record("\(text) is no filter")
    } catch {
      #expect(error.column == column, "\(error)")
      #expect(error.reason.hasPrefix(reason), "\(error)")
    }
  }
}

@Suite("Regular expressions")
struct PatternTests {
  @Test(
    "A regular expression finds matches at their positions",
    arguments: [
      ("a+", "baac", [1..<3]), ("a|ab", "xab", [1..<3]), ("abcd|b", "abcx", [1..<2]), ("[b-d]+", "abcde", [1..<4]),
      ("[^a]", "aba", [1..<2]), ("\\d{2,3}", "1 22 333 4444", [2..<4, 5..<8, 9..<12]), ("^a", "aa", [0..<1]),
      ("a$", "aa", [1..<2]), ("\\bon\\b", "on only on", [0..<2, 8..<10]), ("x*", "aaa", []),
      ("(ab)+", "ababa", [0..<4]),
      ("a.c", "abc a\u{e4}c", [0..<3, 4..<7]), ("\u{e4}", "\u{c4}", [0..<1]), ("A", "aA", [1..<2]),
      ("\\S+@\\w+", "x ada@home y", [2..<10]), ("a{2}", "aaaa", [0..<2, 2..<4]), ("a??b", "ab", [0..<2]),
      ("{", "a{", [1..<2]), ("[]x]+", "]x", [0..<2]), ("\\.", "a.b", [1..<2]), ("(a|b)*c", "ababc", [0..<5]),
    ])
  func ranges(_ pattern: String, _ text: String, _ expected: [Range<Int>]) throws {
    let pattern = try Pattern(pattern)
    #expect(pattern.ranges(in: Array(text.unicodeScalars)) == expected)
    #expect(pattern.matches(text) == !expected.isEmpty || expected.isEmpty)
  }

  @Test(
    "A pattern that hangs backtracking engines finishes quickly",
    arguments: ["(a+)+$", "(a|a)+$", "(a*)*b", "(.*)*x", "(a?){50}a{50}$"])
  func hostile(_ pattern: String) throws {
    let text = String(repeating: "a", count: 3000) + "!"
    let pattern = try Pattern(pattern)
    #expect(!pattern.matches(text))
    #expect(pattern.ranges(in: Array(text.prefix(200).unicodeScalars) + ["!"]).isEmpty)
  }
}

@Suite("Pane filters")
struct PaneFilterTests {
  private let size = Size(width: 120, height: 36)

  private func opened(_ count: Int = 30, total: Int? = nil) -> Driver {
    var driver = Driver(size)
    driver.client(.collections(below: .root, ["events"]), at: 0)
    driver.answerWindow(Scenario.events(0..<count), total: total, at: 0)
    driver.press("1 j")
    return driver
  }

  private func shown(_ driver: Driver) -> Int {
    driver.state.browser.windows[ResourcePath("events")]?.documents.count ?? 0
  }

  @Test("The tree is filtered as you type, and the count says if data is partly loaded")
  func live() {
    var driver = opened((Driver(size).state.windowLimit), total: 10_000)
    let loaded = driver.state.windowLimit
    driver.press("/")
    driver.type("type:click")
    let clicks = (0..<loaded).count { $0.isMultiple(of: 3) }
    #expect(shown(driver) == clicks)
    #expect(driver.effects == [])
    #expect(driver.screen.contains("\(clicks) of \(loaded) loaded, ⏎ requests all"))
    driver.type(" !0000003")
    #expect(driver.screen.contains("\(clicks - 1) of \(loaded) loaded, ⏎ reads up to 10 000"))
  }

  @Test("In a fully loaded collection the filter's count is shown without a note")
  func whole() {
    var driver = opened(12)
    driver.press("/")
    driver.type("value:>9")
    #expect(driver.screen.contains("2 of 12"))
    #expect(!driver.screen.contains("of 12 loaded"))
    driver.press("enter")
    #expect(driver.windowQuery?.filters.count == 1 && driver.windowQuery?.limit == driver.state.windowLimit)
    driver.answerWindow(Scenario.events(10..<12), at: 1)
    #expect(driver.screen.contains("2 of 12"))
  }

  @Test("Invalid text keeps the previous filter and shows the reason with its column")
  func invalid() {
    var driver = opened(30)
    driver.press("/")
    driver.type("value:>27")
    driver.type(" /[")
    #expect(shown(driver) == 2)
    #expect(driver.screen.contains("column 11: a pattern ends with /"))
    driver.press("enter")
    #expect(driver.state.overlay?.kind == .filter)
    driver.press("esc")
    #expect(shown(driver) == 30)
  }

  @Test("A query filtered by id contains only equalities; ranges are applied locally")
  func asked() throws {
    let filter = try #require(try BrowserFilter(RowFilter("n:>5 status:paid n:!=1 coupon:null", in: database)))
    #expect(
      filter.filters == [
        .field(FieldFilter(FieldPath("status"), .equal, "paid")),
        .field(FieldFilter(FieldPath("coupon"), .equal, .null)),
      ])
    #expect(filter.rest.count == 2)
    let query = CollectionWindow.query(
      ResourcePath("orders"), filter: filter, at: .start, limit: 10, in: database)
    #expect(throws: Never.self) { try query.validate() }
    #expect(query.orderBy.map(\.path) == [.documentID])
  }

  @Test("Filter hits are highlighted in rows, including the selected row")
  func hits() {
    var driver = opened(30)
    driver.press("/")
    driver.type("/00001\\d/")
    let canvas = driver.canvas()
    let rows = (0..<size.height).filter { y in canvas.row(y).contains { $0.role == .match } }
    #expect(rows.count == 10)
    for y in rows {
      let text = canvas.row(y).filter { $0.role == .match }.map(\.text).joined()
      #expect(text.hasPrefix("00001"), "\(text)")
    }
  }

  @Test("A filtered field is the first column, and the opened document highlights it")
  func fieldColumn() {
    var driver = Driver(size)
    driver.client(.status(Scenario.status(0)), at: 0)
    driver.client(.collections(below: .root, ["orders"]), at: 0)
    let orders = (0..<8).map { number in
      DashboardTests.document(
        "orders/o\(number)",
        [
          "city": .string("city \(number)"), "note": .null, "state": .string(number % 2 == 0 ? "new" : "paid"),
          "zip": 7,
        ])
    }
    driver.answerWindow(orders, total: 8, at: 0)
    #expect(!driver.screen.contains("zip"))
    driver.press("/")
    driver.type("zip:>5")
    driver.press("enter")
    driver.answerWindow(orders, total: 8, at: 1)
    let head = driver.screen.split(separator: "\n").first { $0.contains("id") && $0.contains("zip") } ?? ""
    let names = head.split(separator: " ").map(String.init)
    #expect(
      names.firstIndex { $0.hasPrefix("zip") } == names.firstIndex { $0.hasPrefix("id") }.map { $0 + 1 }, "\(head)")

    driver.press("j enter")
    driver.client(
      .detail(orders[0].key, remote: orders[0], overlay: nil, local: orders[0]), at: 2)
    let canvas = driver.canvas()
    let area = driver.state.layout(size).content(of: .detail)
    let hits = (area.y..<area.maxY).map { y in
      canvas.row(y).dropFirst(area.x).prefix(area.width).filter { $0.role == .match }.map(\.text).joined()
    }.filter { !$0.isEmpty }
    #expect(hits == ["7"], "\(hits)")
    driver.press("esc esc")
    #expect(!driver.screen.contains("zip"))
  }

  @Test("Filters of the feed and the queue accept conditions on document fields")
  func fields() {
    var driver = Scenario.online.play(size)
    driver.press("2 /")
    driver.type("n:>=1")
    #expect(driver.screen.contains("2 of 3 writes") || driver.screen.contains("3 of 3 writes"))
    driver.press("ctrl-u")
    driver.type("n:>1")
    #expect(driver.screen.contains("0 of 3 writes"))
    driver.press("esc 4 /")
    driver.type("nosuchfield:1")
    #expect(driver.screen.contains("0 of "))
  }

  @Test("A search in an open document accepts field conditions")
  func document() {
    var driver = Scenario.detail.play(size)
    driver.press("g /")
    driver.type("total:>0")
    #expect(driver.state.detail?.cursor.id == ["field", "total"])
    #expect(driver.screen.contains("1 of "))
  }

  @Test("A search in the help accepts keys that are not valid filters")
  func help() {
    var driver = Driver(size)
    driver.press("?")
    driver.type("/")
    #expect(driver.screen.contains("filter this pane"))
    driver.press("ctrl-u")
    driver.type("/pa(us|lett)e/")
    #expect(driver.screen.contains("pause or resume"))
    #expect(!driver.screen.contains("filter this pane"))
  }
}
