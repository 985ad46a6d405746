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

@Suite("Query preview in the listener editor")
struct ListenerPreviewTests {
  private let orders = Query(path: ResourcePath("orders"))

  private func typed(_ kind: ConnectedBackend.Kind = .emulator) -> Driver {
    var driver = Driver(kind: kind)
    driver.press("4 n")
    driver.type("order")
    return driver
  }

  @Test("Each query change requests a cache count and shows it in the title")
  func count() {
    var driver = typed()
    #expect(driver.effects == [.client(.preview(Query(path: ResourcePath("order"))))])
    #expect(driver.screen.contains("counting"))
    driver.type("s")
    #expect(driver.effects == [.client(.preview(orders))])
    driver.client(.previewed(orders, .success(QueryPreview(query: orders, count: 17))), at: 1)
    #expect(driver.screen.contains("17 match in the cache"))
    driver.press("tab")
    #expect(driver.effects == [], "a move asks nothing")
  }

  @Test("The query preview drops a response for an outdated query")
  func stale() {
    var driver = typed()
    driver.type("s")
    let old = Query(path: ResourcePath("order"))
    driver.client(.previewed(old, .success(QueryPreview(query: old, count: 99))), at: 1)
    #expect(!driver.screen.contains("99"))
    #expect(driver.screen.contains("counting"))
  }

  @Test("The query preview is refreshed when documents change, at most once a second")
  func changes() {
    var driver = typed()
    driver.type("s")
    driver.client(.previewed(orders, .success(QueryPreview(query: orders, count: 17))), at: 1)
    driver.client(.pendingWrites([]), at: 5)
    driver.client(.pendingWrites([]), at: 5.5)
    #expect(driver.effects == [])
    #expect(driver.state.nextTick <= at(6))
    driver.tick(6)
    #expect(driver.effects == [.client(.preview(orders))])
    #expect(driver.screen.contains("17 match in the cache"))
    driver.client(.previewed(orders, .success(QueryPreview(query: orders, count: 18))), at: 6)
    #expect(driver.screen.contains("18 match in the cache"))
    driver.tick(8)
    #expect(driver.effects == [])
  }

  @Test("The query preview says if a count is unknown or limited")
  func honest() {
    var driver = typed()
    driver.type("s")
    driver.client(
      .previewed(orders, .success(QueryPreview(query: orders, count: nil, documentsToScan: 1_000_000))), at: 1)
    #expect(driver.screen.contains("too many in the cache to count"))
    driver.client(.previewed(orders, .failure(RPCStatus(.internal, "damaged"))), at: 1)
    #expect(driver.screen.contains("the cache cannot be read"))
    while driver.state.overlay?.editor?.slot != .limit { driver.press("tab") }
    driver.type("5")
    var five = orders
    five.limit = 5
    driver.client(.previewed(five, .success(QueryPreview(query: five, count: 5))), at: 1)
    #expect(driver.screen.contains("5 match in the cache (limit)"))
  }

  @Test("ctrl-g creates a missing local index and refreshes the preview")
  func localIndex() throws {
    var driver = typed()
    driver.type("s")
    driver.press("ctrl-g")
    #expect(driver.effects == [])
    let index = try FieldIndex(collectionGroup: "orders", fields: [.init(FieldPath("status"))])
    let preview = QueryPreview(query: orders, count: 17, suggestedIndexes: [index], documentsToScan: 4_000)
    driver.client(.previewed(orders, .success(preview)), at: 1)
    #expect(driver.screen.contains("looks at 4 000 documents"))
    #expect(driver.screen.contains("orders(status ascending)"))
    driver.press("ctrl-g")
    #expect(driver.effects == [.client(.createIndexes(for: orders))])
    driver.client(.indexes([IndexState(definition: index)]), at: 2)
    #expect(driver.effects == [.client(.preview(orders))])
  }

  @Test("A required composite index is shown, and is a warning only on Cloud Firestore")
  func composite() {
    for kind in [ConnectedBackend.Kind.emulator, .cloud] {
      var driver = typed(kind)
      driver.type("s")
      while driver.state.overlay?.editor?.slot != .path(0) { driver.press("tab") }
      driver.type("status")
      driver.press("tab tab")
      driver.type("paid")
      while driver.state.overlay?.editor?.slot != .order { driver.press("tab") }
      driver.type("total desc")
      let word = kind == .cloud ? "needs an index" : "would need an index"
      #expect(driver.screen.contains("Cloud Firestore \(word): orders: status ASC, total DESC"), "\(driver.screen)")
    }
  }

  @Test(
    "The editor computes the composite index that each query needs, if any",
    arguments: [
      (Query(path: ResourcePath("c")), nil),
      (Query(path: ResourcePath("c/d")), nil),
      (Self.query([("a", .equal), ("b", .equal)]), nil),
      (Self.query([("a", .greaterThan)]), nil),
      (Self.query([("a", .greaterThan)], order: ["a"]), nil),
      (Self.query([], order: ["a"]), nil),
      (Self.query([("t", .arrayContains), ("a", .equal)]), nil),
      (Self.query([("a", .equal)], order: ["a"]), nil),
      (Self.query([], order: ["a", "b"]), "c: a ASC, b ASC"),
      (Self.query([("a", .equal), ("b", .lessThan)]), "c: a ASC, b ASC"),
      (Self.query([("t", .arrayContains)], order: ["a"]), "c: t CONTAINS, a ASC"),
      (Self.query([("a", .greaterThan), ("b", .greaterThan)]), "c: a ASC, b ASC"),
      (Self.query([("a", .equal)], group: true), "collection group c: a ASC"),
      (Query(path: .root, collectionGroup: "c"), nil),
    ] as [(Query, String?)])
  func needed(_ query: Query, _ text: String?) {
    #expect(CompositeIndex.needed(for: query)?.description == text)
  }

  private static func query(
    _ filters: [(String, FieldFilter.Operator)], order: [String] = [], group: Bool = false
  ) -> Query {
    Query(
      path: group ? .root : ResourcePath("c"), collectionGroup: group ? "c" : nil,
      filters: filters.map { .field(FieldFilter(FieldPath($0.0), $0.1, 1)) },
      explicitOrderBy: order.map { OrderBy(FieldPath($0), .ascending) })
  }
}
