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

@Suite("Field types of a collection")
struct FieldTypesTests {
  /// A hundred orders with a number as total, of which one has a text, one has none, and one has a field of its own.
  private static var types: FieldTypes {
    var types = FieldTypes()
    for number in 0..<100 {
      var fields: Fields = ["total": 1.5, "to": .map(["city": "Oslo"]), "tags": .array(["a", "b"])]
      if number == 7 { fields["total"] = "12 euros" }
      if number == 8 { fields["total"] = nil }
      if number == 9 { fields["note"] = "x" }
      types.add(document("orders/o\(number)", fields))
    }
    return types
  }

  private func row(_ field: String, _ arrived: [FieldTypes.Outlier] = []) throws -> InsideTable.Row {
    let table = InsideTable.fields(of: ResourcePath("orders"), Self.types, arrived: arrived)
    return try #require(table.rows.first { $0.cells[0] == field })
  }

  @Test("Each field lists its types and the outlier documents")
  func table() throws {
    #expect(try row("total").cells == ["total", "99.0 %", "double 98, string 1", "string in o7; missing in 1"])
    #expect(try row("total").subject == .document(key("orders/o7")))
    #expect(try row("note").cells == ["note", "1.0 %", "string", "only in o9"])
    #expect(try row("tags").cells == ["tags", "100 %", "array of string", ""])
    #expect(try row("to.city").cells == ["to.city", "100 %", "string", ""])
    #expect(try !row("tags").isNotable && row("note").isNotable)
  }

  @Test("Two documents of different types are no outliers; at most 256 fields are counted")
  func bounds() {
    var types = FieldTypes()
    types.add(document("orders/a", ["n": 1]))
    types.add(document("orders/b", ["n": "x"]))
    #expect(types.outliers(in: document("orders/b", ["n": "x"])).isEmpty)
    for number in 0..<300 { types.add(document("orders/c\(number)", ["f\(number)": 1])) }
    #expect(types.fields.count == 256 && types.hasMoreFields && types.documents == 302)
  }

  @Test("The selected collection's fields are counted, and a rare type is reported")
  func live() throws {
    var driver = Driver(Size(width: 120, height: 36))
    driver.client(.status(Scenario.status(0)), at: 0)
    driver.client(.collections(below: .root, ["orders"]), at: 0)
    let old = document("orders/o1", ["total": 1.5])
    driver.answerWindow([old], total: 1, at: 0)
    driver.press("space")
    Scenario.snapshot(&driver, driver.listenTag, [.init(.added, old)], count: 1, [.listenerAdded], synced: true, at: 1)
    driver.press("I")
    driver.client(.inside(.success(InsideTests.inside)), at: 1)
    driver.press("shift-tab")
    let order = Effect.client(.countFieldTypes(in: ResourcePath("orders")))
    #expect(driver.effects == [order] && driver.screen.contains("counting the cache"))
    driver.client(.fieldTypes(in: ResourcePath("orders"), .success(Self.types)), at: 1.1)
    #expect(driver.screen.contains("double 98, string 1") && driver.screen.contains("orders: 100 documents"))
    driver.tick(2)
    #expect(!driver.effects.contains(order))

    let new = document("orders/o1", at: 2, ["total": true])
    Scenario.snapshot(
      &driver, ListenerTag(1), [.init(.modified, new, previous: old)], count: 1, [.fromServer], at: 2.2)
    #expect(driver.screen.contains("new outlier: total of orders/o1 is boolean, most are double"))
    // The same value again is no news.
    Scenario.snapshot(
      &driver, ListenerTag(1), [.init(.modified, new, previous: new)], count: 1, [.fromServer], at: 2.3)
    #expect(driver.state.insidePanel?.arrived.count == 1)
    driver.tick(5)
    #expect(driver.effects.contains(order))

    driver.client(.fieldTypes(in: ResourcePath("users"), .success(FieldTypes())), at: 5.1)
    #expect(driver.screen.contains("double 98"))
  }

  @Test("Without a selected collection, the field types ask you to select one")
  func nothing() {
    var driver = Driver(Size(width: 80, height: 24))
    driver.press("I shift-tab")
    #expect(driver.effects.isEmpty && driver.screen.contains("select a collection in the tree"))
  }
}
