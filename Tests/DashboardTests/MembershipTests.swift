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

@Suite("Membership in a listener's result")
struct MembershipTests {
  private let order = document("orders/o5", ["status": "paid", "total": 18.5])

  private func membership(
    _ query: Query, of document: Document?, results: [Document]? = nil, count: Int? = 1
  ) -> Membership {
    var listener = ListenerRecord(tag: ListenerTag(1), name: "l", query: query, options: ListenerOptions())
    listener.count = count
    return Membership(
      listener, key("orders/o5"), document,
      results: results.map { Dictionary($0.map { ($0.key, $0) }, uniquingKeysWith: { $1 }) })
  }

  private func field(_ name: String, _ op: FieldFilter.Operator, _ value: Value) -> Filter {
    .field(FieldFilter(FieldPath(name), op, value))
  }

  @Test("Membership shows each condition with the document's value")
  func conditions() {
    let query = Query(
      path: ResourcePath("orders"),
      filters: [field("status", .equal, "paid"), field("total", .greaterThanOrEqual, 20), field("x", .equal, 1)])
    let membership = membership(query, of: order)
    #expect(membership.verdict == "not here")
    #expect(
      membership.reasons == [
        .init(holds: true, text: "status == \"paid\""), .init(holds: false, text: "total >= 20: it is 18.5"),
        .init(holds: false, text: "x == 1: no such field"),
      ])
  }

  @Test("A document without the order field is excluded, and the reason names the field")
  func ordering() {
    let query = Query(path: ResourcePath("orders"), explicitOrderBy: [OrderBy(FieldPath("rank"))])
    let membership = membership(query, of: order)
    #expect(membership.verdict == "not here")
    #expect(membership.reasons == [.init(holds: false, text: "the order needs a missing field: rank")])
  }

  @Test("With a limit, membership shows a position, outside the limit, or unknown")
  func limit() {
    let orders = (0..<50).map { document("orders/o\($0)", ["total": .integer(Int64($0))]) }
    let fifth = document("orders/o5", ["total": 5])
    let query = Query(
      path: ResourcePath("orders"), explicitOrderBy: [OrderBy(FieldPath("total"), .descending)], limit: 50)
    #expect(membership(query, of: fifth, results: orders).reasons.last?.text == "45th of limit 50")
    #expect(membership(query, of: fifth, results: orders).verdict == "here")
    let outside = membership(query, of: fifth, results: orders.filter { $0.key != fifth.key })
    #expect(outside.verdict == "not here" && outside.reasons.last?.text == "outside the limit of 50")
    let unknown = membership(query, of: fifth, results: nil)
    #expect(unknown.verdict == "not known" && unknown.reasons.last?.holds == nil)
  }

  @Test("Membership says if a listener reads another collection")
  func elsewhere() {
    #expect(membership(Query(path: ResourcePath("users")), of: order).verdict == "not here: it listens to users")
    #expect(
      membership(Query(path: ResourcePath("orders")), of: nil).verdict == "not known: the document is not in the cache")
    #expect(membership(Query(path: ResourcePath("orders")), of: order).verdict == "here")
    #expect(
      membership(Query(path: ResourcePath("orders/o5")), of: order).verdict == "here: it listens to this document")
    #expect(
      [1, 2, 3, 4, 11, 12, 13, 21, 42, 111].map(Membership.ordinal).joined(separator: " ")
        == "1st 2nd 3rd 4th 11th 12th 13th 21st 42nd 111th")
  }

  @Test("The Meta tab lists membership for each listener")
  func meta() {
    var driver = Scenario.detail.play(Size(width: 120, height: 36))
    let query = Query(path: ResourcePath("orders"), filters: [field("status", .equal, "no such status")])
    _ = driver.state.listen(to: query, name: "orders/none")
    driver.press("0 [ G")
    #expect(driver.screen.contains("✗ status == \"no such status\": it is"))
  }
}
