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

@Suite("Searching a whole collection")
struct CollectionSearchTests {
  private let path = ResourcePath("events")

  private func opened() -> Driver {
    var driver = Driver(Size(width: 120, height: 36))
    driver.client(.collections(below: .root, ["events"]), at: 0)
    driver.answerWindow(Scenario.events(0..<driver.state.windowLimit), total: 100_000, at: 0)
    driver.press("1 /")
    return driver
  }

  private func searched(_ text: String) throws -> (Driver, WindowTag, SearchRequest) {
    var driver = opened()
    driver.type(text)
    driver.press("enter")
    for case .client(.search(let tag, let request)) in driver.effects { return (driver, tag, request) }
    throw RPCStatus(.notFound, "no search: \(driver.effects)")
  }

  private func news(_ hits: Range<Int>, _ looked: Int, _ found: Int, isDone: Bool = false) -> SearchUpdate {
    SearchUpdate(
      hits: Scenario.events(hits), looked: looked, found: found, isDone: isDone, isFromCache: false)
  }

  @Test("A search selects its first hit immediately and shows the progress")
  func progress() throws {
    var (driver, tag, request) = try searched("needle")
    #expect(request.query.filters.isEmpty && request.query.limit == nil)
    driver.client(.searched(tag, news(0..<0, 2_000, 0)), at: 1)
    #expect(driver.screen.contains("looking 2 000 of 100 000 · 0 found"))
    #expect(driver.state.browser.cursor.id == .collection(path))
    driver.client(.searched(tag, news(7..<8, 41_000, 1)), at: 2)
    #expect(driver.state.selectedKey == Scenario.events(7..<8)[0].key)
    #expect(driver.screen.contains("looking 41 000 of 100 000 · 1 found"))
    driver.press("k")
    driver.client(.searched(tag, news(9..<10, 43_000, 2)), at: 3)
    #expect(driver.state.browser.cursor.id == .collection(path), "the next hits leave the cursor alone")
    driver.client(.searched(tag, news(0..<0, 100_000, 2, isDone: true)), at: 4)
    #expect(driver.screen.contains("2 of 100 000"))
    #expect(!driver.screen.contains("looking"))
  }

  @Test("Esc stops the search and keeps its hits, and Esc again shows all rows")
  func stopping() throws {
    var (driver, tag, _) = try searched("needle")
    driver.client(.searched(tag, news(7..<8, 41_000, 1)), at: 2)
    driver.press("esc")
    #expect(driver.effects == [.client(.closeWindow(tag))])
    #expect(driver.screen.contains("stopped at 41 000 of 100 000 · 1 found"))
    driver.client(.searched(tag, news(8..<9, 43_000, 2)), at: 3)
    #expect(driver.state.browser.windows[path]?.loaded.count == 1, "news of a stopped search are none")
    driver.press("esc")
    #expect(driver.windowQuery?.filters == [])
    #expect(driver.state.browser.windows[path]?.filter == nil)
  }

  @Test("A failed search and a search without hits show how many rows were searched")
  func endings() throws {
    var (driver, tag, _) = try searched("needle")
    driver.client(.searched(tag, news(0..<0, 100_000, 0, isDone: true)), at: 2)
    #expect(driver.screen.contains("none of 100 000 passes the filter"))
    (driver, tag, _) = try searched("needle")
    driver.client(.searched(tag, news(0..<0, 4_000, 0)), at: 2)
    driver.client(.windowFailed(tag, RPCStatus(.unavailable, "The line is cut.")), at: 2)
    #expect(driver.screen.contains("ended at 4 000"))
  }

  @Test("Offline, the search covers the cache and shows how many documents are cached")
  func cached() throws {
    var driver = opened()
    driver.press("esc")
    driver.client(.status(Scenario.status(1, isEnabled: false)), at: 1)
    driver.press("/")
    driver.type("needle")
    #expect(driver.screen.contains("⏎ reads the cache"))
    driver.press("enter")
    guard case .client(.search(let tag, _))? = driver.effects.last else {
      Issue.record("no search")
      return
    }
    let news = SearchUpdate(hits: Scenario.events(7..<8), looked: 2_341, found: 1, isDone: true, isFromCache: true)
    driver.client(.searched(tag, news), at: 2)
    #expect(driver.screen.contains("1 of 2 341 cached"))
    #expect(!driver.screen.contains("of 100 000"))
  }

  @Test("A few thousand hits are listed, and further hits are only counted")
  func bounded() throws {
    let filter = try #require(BrowserFilter(try RowFilter("!zzz", in: database)))
    var query = Query(path: path)
    query.explicitOrderBy = [OrderBy(.documentID)]
    var run = try SearchRun(SearchRequest(query, filter.text, in: database))
    var (kept, last): (Int, SearchUpdate?) = (0, nil)
    for page in 0..<5 {
      let documents = Scenario.events(page * 1000..<(page + 1) * 1000)
      let news = run.look(at: documents, of: documents.count, isLast: page == 4, isFromCache: true)
      kept += news.hits.count
      last = news
    }
    #expect(kept == CollectionSearch.mostKept)
    #expect(last?.looked == 5000 && last?.found == 5000 && last?.isDone == true)

    let next = run.page(after: Scenario.events(3..<4)[0].key, limit: 2000)
    #expect(next.limit == 2000 && next.start?.isInclusive == false)
    #expect(throws: Never.self) { try next.validate() }
  }

  @Test("A range filter becomes a query ordered by its field; the title shows the order")
  func ranges() throws {
    var driver = opened()
    driver.type("value:>90 value:<=95")
    #expect(driver.screen.contains("requests all, by value"))
    driver.press("enter")
    let query = driver.windowQuery
    #expect(driver.state.browser.windows[path]?.documents.isEmpty == true, "none of the loaded ones passes")
    #expect(driver.state.browser.windows[path]?.found == nil, "no answer has come yet")
    #expect(query?.filters.count == 2)
    #expect(query?.explicitOrderBy.first == OrderBy(FieldPath("value")))
    driver.answerWindow(Scenario.events(91..<96), at: 1)
    driver.press("j")
    #expect(driver.screen.contains("value▲"))
    driver.press("S")
    #expect(driver.windowQuery?.explicitOrderBy.first == OrderBy(FieldPath("value"), .descending))
    #expect(driver.windowQuery?.start == nil, "all of them are in one window")
    driver.answerWindow(Scenario.events(91..<96).reversed(), at: 2)
    #expect(driver.screen.contains("5 of 100 000"))
    #expect(!driver.screen.contains(" before"))
  }

  @Test("A range is applied locally if the query already has an equality or prefix")
  func parts() throws {
    func filter(_ text: String) throws -> BrowserFilter {
      try #require(BrowserFilter(try RowFilter(text, in: database)))
    }
    let equal = try filter("status:paid n:>5")
    #expect(equal.filters.count == 1 && equal.rest.count == 1 && equal.range == nil)
    let begun = try filter("^o07 n:>5")
    #expect(begun.prefix == "o07" && begun.range == nil && begun.searches)
    let two = try filter("n:>5 m:<3 n:<9")
    #expect(two.range == FieldPath("n") && two.filters.count == 2 && two.rest.count == 1)
    let excluded = try filter("!n:>5")
    #expect(excluded.range == nil && excluded.searches)
  }

  @Test("Search results show listener updates of the found documents")
  func following() throws {
    var (driver, tag, _) = try searched("needle")
    var hit = Scenario.events(7..<8)[0]
    hit.state = .found(DocumentData(["note": "needle"]))
    driver.client(
      .searched(tag, SearchUpdate(hits: [hit], looked: 100_000, found: 1, isDone: true, isFromCache: false)), at: 1)
    var changed = hit
    changed.state = .found(DocumentData(["note": "hay"]))
    driver.send(.listen(Query(path: path), name: "events", ListenerOptions(), at: at(1)))
    driver.client(
      .snapshot(
        ListenerSnapshot(
          listener: ListenerTag(1), changes: [.init(.modified, changed, previous: hit)], isFromCache: false,
          syncStateChanged: false, hasPendingWrites: false, count: 1, causes: [.fromServer])), at: 2)
    #expect(driver.state.browser.windows[path]?.documents.isEmpty == true)
    #expect(driver.state.browser.windows[path]?.search?.found == 0)
  }
}
