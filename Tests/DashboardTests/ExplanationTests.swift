// SPDX-License-Identifier: Apache-2.0
import ClientPort
import FirestoreClientState
import FirestoreModel
import FirestoreQuery
import FirestoreTesting
import TerminalCanvas
import Testing

@testable import Dashboard
@testable import DashboardModel

@Suite("Cache query explanations")
struct ExplanationTests {
  private let scan: QueryExplanation
  private let ready: IndexState

  init() throws {
    let index = try FieldIndex(collectionGroup: "orders", fields: [.init(FieldPath("status"))])
    ready = IndexState(definition: index)
    scan = QueryExplanation(
      query: Query(path: ResourcePath("orders")), plan: .scan, documentsScanned: 10_000, documentsReturned: 200,
      duration: .microseconds(12_345), suggestedIndexes: [index])
  }

  /// The dashboard with the explanation of `orders`, filtered, open and answered.
  private func opened(_ size: Size = Size(width: 120, height: 36)) -> (Driver, Query) {
    var driver = Scenario.online.play(size)
    driver.press("1 g j j /")
    driver.type("status:paid")
    driver.press("enter i")
    let query = Query(
      path: ResourcePath("orders"), filters: [.field(FieldFilter(FieldPath(segments: ["status"]), .equal, "paid"))])
    return (driver, query)
  }

  @Test("i explains the selected collection and filter: plan, cost and suggestion")
  func facts() {
    var (driver, query) = opened()
    #expect(driver.effects == [.client(.explain(query))])
    #expect(driver.screen.contains("asking the cache"))

    driver.client(.explained(query, .success(scan)), at: 20)
    for text in [
      "Explain · orders where status == \"paid\"", "all documents of the collection", "10 000 documents",
      "200 documents", "12.3 ms", "orders(status ascending)",
    ] {
      #expect(driver.screen.contains(text), "\(text) is missing:\n\(driver.screen)")
    }
  }

  @Test("The explain page says so if no index would help the query")
  func nothingHelps() {
    var (driver, query) = opened()
    let whole = QueryExplanation(
      query: query, plan: .scan, documentsScanned: 20, documentsReturned: 20, duration: .zero, suggestedIndexes: [])
    driver.client(.explained(query, .success(whole)), at: 20)
    #expect(driver.screen.contains("no index would help this query"))
    driver.press("c")
    #expect(driver.effects.isEmpty)
  }

  @Test("An explanation that arrives for another query is dropped")
  func stale() {
    var (driver, _) = opened()
    driver.client(.explained(Query(path: ResourcePath("users")), .success(scan)), at: 20)
    #expect(driver.screen.contains("asking the cache"))
  }

  @Test("c creates the suggested index and measures the query again with the index")
  func create() {
    var (driver, query) = opened()
    driver.press("c")
    #expect(driver.effects == [])
    driver.client(.explained(query, .success(scan)), at: 20)
    driver.press("c")
    #expect(driver.effects == [.client(.createIndexes(for: query))])
    var filling = ready
    filling.backfill = IndexProgress(documentsIndexed: 100, documentsTotal: 10_000)
    driver.client(.indexes([filling]), at: 21)
    #expect(driver.effects == [])
    #expect(driver.screen.contains("configured, 100 of 10 000"))
    driver.client(.indexes([ready]), at: 22)
    #expect(driver.effects == [.client(.explain(query))])
    #expect(driver.screen.contains("configured, ready"))
  }

  @Test("The keys a, x, r and q toggle indexing, delete indexes, measure again and close")
  func rows() {
    var (driver, query) = opened()
    driver.press("a")
    #expect(driver.effects == [.client(.setIndexAutoCreation(true))])
    driver.press("a")
    #expect(driver.effects == [.client(.setIndexAutoCreation(false))])
    driver.press("x")
    #expect(driver.effects == [])
    driver.client(.indexes([ready]), at: 21)
    driver.press("x")
    #expect(driver.effects == [.client(.deleteIndexes)])
    driver.press("r")
    #expect(driver.effects == [.client(.explain(query))])
    driver.press("q")
    #expect(driver.state.overlay == nil)
  }

  @Test("A query in the editor can be explained, and Esc returns to the editor")
  func editor() {
    var driver = Scenario.online.play(Size(width: 120, height: 36))
    driver.press("4 n")
    driver.type("orders")
    driver.press("ctrl-o")
    guard case .client(.explain(let query))? = driver.effects.first else {
      Issue.record("nothing was explained: \(driver.effects)")
      return
    }
    #expect(query.path == ResourcePath("orders"))
    driver.press("esc")
    #expect(driver.state.overlay?.kind == .listener)
  }

  @Test("The explain page reports queries that the cache cannot answer")
  func failure() {
    var (driver, query) = opened(Size(width: 60, height: 16))
    driver.client(.explained(query, .failure(RPCStatus(.internal, "the cache is damaged"))), at: 20)
    #expect(driver.screen.contains("the cache is damaged"))
  }

  @Test(
    "The explained query is shown as one line in command-line notation",
    arguments: [
      (Query(path: ResourcePath("cities")), "cities"),
      (Query(path: .root, collectionGroup: "cities", limit: 3), "**/cities limit 3"),
      (
        Query(
          path: ResourcePath("cities"),
          filters: [
            .or([
              .field(FieldFilter(FieldPath(segments: ["a"]), .equal, 1)),
              .and([
                .field(FieldFilter(FieldPath(segments: ["b"]), .greaterThan, "x")),
                .field(FieldFilter(FieldPath(segments: ["c"]), .arrayContains, true)),
              ]),
            ])
          ],
          explicitOrderBy: [OrderBy(FieldPath(segments: ["b"]), .descending)]),
        "cities where a == 1 or (b > \"x\" and c array-contains true) order b desc"
      ),
    ])
  func line(_ query: Query, _ text: String) {
    #expect(QueryText.line(query) == text)
  }
}
