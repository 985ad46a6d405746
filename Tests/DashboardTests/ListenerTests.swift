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

@Suite("Editing, duplicating and naming listeners")
struct ListenerTests {
  private func paid(limit: Int? = nil) -> Query {
    Query(
      path: ResourcePath("orders"), filters: [.field(FieldFilter(FieldPath("status"), .equal, "paid"))], limit: limit)
  }

  /// A dashboard with a listener on the paid orders, and one on the users.
  private func driver(_ name: String = "orders status=\"paid\"") -> Driver {
    var driver = Driver()
    driver.client(.collections(below: .root, ["orders", "users"]), at: 0)
    _ = driver.state.listen(to: paid(), name: name)
    _ = driver.state.listen(to: Query(path: ResourcePath("users")), name: "users")
    return driver
  }

  private func snapshot(_ tag: ListenerTag, _ path: String) -> ClientEvent {
    .snapshot(
      ListenerSnapshot(
        listener: tag, changes: [ListenerSnapshot.Change(.added, document(path, ["status": "paid"]))],
        isFromCache: false, syncStateChanged: false, hasPendingWrites: false, count: 1, causes: [.fromServer]))
  }

  @Test("Editing a listener opens it in the builder and replaces it under the same name")
  func edit() throws {
    var driver = driver("open")
    let old = driver.state.listeners[0].tag
    driver.client(snapshot(old, "orders/a"), at: 1)
    driver.press("W g e")
    #expect(driver.screen.contains("edit open"))
    #expect(driver.screen.contains("paid"))
    // To the limit.
    driver.press("shift-tab shift-tab shift-tab shift-tab shift-tab shift-tab")
    while driver.state.overlay?.editor?.slot != .limit { driver.press("tab") }
    driver.type("5")
    driver.press("enter")
    let new = driver.state.listeners[0]
    #expect(driver.effects == [.client(.unlisten(old)), .client(.listen(new.tag, paid(limit: 5), new.options))])
    #expect(driver.state.listeners.map(\.name) == ["open", "users"])
    #expect(new.query == paid(limit: 5))
    #expect(driver.state.feed.rows.allSatisfy { $0.listener == new.tag && $0.listenerName == "open" })
    driver.client(snapshot(old, "orders/stale"), at: 2)
    #expect(!driver.screen.contains("stale"), "what was on the way for the old query is dropped")
  }

  @Test("Applying an unchanged query does not restart the listener")
  func sameQuery() {
    var driver = driver()
    driver.press("W g e")
    while driver.state.overlay?.editor?.slot != .name { driver.press("tab") }
    driver.type("mine")
    driver.press("enter")
    #expect(driver.effects == [])
    #expect(driver.state.listeners.map(\.name) == ["mine", "users"])
  }

  @Test("Every type of value round-trips through the builder")
  func values() throws {
    let values: [Value] = [
      .null, true, 42, 4.0, .double(.nan), .double(.infinity), "paid", "42", "true", "", "a\"b", "[x", "{", "two words",
      "this or that", ["a", 1], .timestamp(at(0)), .reference(database, key("users/ada")), .map(["a": 1]),
      .bytes([1, 2]),
    ]
    for value in values {
      let query = Query(path: ResourcePath("orders"), filters: [.field(FieldFilter(FieldPath("a b"), .equal, value))])
      let editor = try #require(ListenerEditor(ListenerDefinition(name: "x", query: query), in: database), "\(value)")
      #expect(try editor.query(in: database) == query)
    }
    var query = paid(limit: 3)
    query.filters.append(.field(FieldFilter(FieldPath("tags"), .arrayContainsAny, ["a", "b"])))
    query.explicitOrderBy = [OrderBy(FieldPath("total"), .descending), OrderBy(FieldPath("name"), .ascending)]
    let definition = ListenerDefinition(
      name: "x", query: query, options: ListenerOptions(includeMetadataChanges: false, source: .cache))
    let editor = try #require(ListenerEditor(definition, in: database))
    #expect(try editor.query(in: database) == query)
    #expect(editor.options == definition.options)
    query.filters = [
      .or([.field(FieldFilter(FieldPath("a"), .equal, 1)), .field(FieldFilter(FieldPath("b"), .equal, 1))])
    ]
    query.limitType = .last
    let alternatives = try #require(ListenerEditor(ListenerDefinition(name: "x", query: query), in: database))
    #expect(alternatives.clauses[0].text == "a == 1 or b == 1" && alternatives.limit.text == "last 3")
    #expect(try alternatives.query(in: database) == query)
    query.start = Bound(values: [1], isInclusive: true)
    #expect(ListenerEditor(ListenerDefinition(name: "x", query: query), in: database) == nil)
  }

  @Test("Conditions with \"or\" can be typed after a value or in place of a field")
  func alternatives() throws {
    for typing in ["status tab tab new or status == paid", "status == new or status == paid"] {
      var driver = Driver()
      driver.press("4 n")
      driver.type("orders")
      while driver.state.overlay?.editor?.slot != .path(0) { driver.press("tab") }
      for (index, part) in typing.split(separator: " tab tab ").enumerated() {
        if index > 0 { driver.press("tab tab") }
        driver.type(String(part))
      }
      #expect(driver.screen.contains("status == new or status == paid") || typing.contains("tab"))
      #expect(driver.screen.contains(".whereFilter(.orFilter([.whereField(\"status\", isEqualTo: \"new\")"))
      driver.press("enter")
      let query = try #require(driver.state.listeners.last?.query)
      #expect(QueryText.line(query) == "orders where status == \"new\" or status == \"paid\"")
    }
  }

  @Test("An invalid row of the listener builder is reported with its text and column")
  func wrongRow() {
    var driver = Driver()
    driver.press("4 n")
    driver.type("orders")
    while driver.state.overlay?.editor?.slot != .path(0) { driver.press("tab") }
    driver.type("status")
    #expect(driver.screen.contains("! Expected a value after ==."))
    driver.press("tab tab")
    driver.type("True")
    #expect(throws: ListenerEditorError.self) { try driver.state.overlay?.editor?.query(in: database) }
    #expect(driver.screen.contains("! Did you mean true?"))
    #expect(driver.screen.contains("True', column 11)"))
  }

  @Test("Duplicating a listener opens a copy in the builder, which becomes a new listener")
  func duplicate() {
    var driver = driver("open")
    driver.press("W g d enter")
    #expect(driver.listenTag == ListenerTag(3))
    #expect(driver.state.listeners.map(\.name) == ["open", "users", "open 2"])
    #expect(driver.state.listeners[2].query == paid())
  }

  @Test("A listener name in use is rejected if typed, and gets a number if generated")
  func unique() {
    var driver = driver("open")
    driver.press("W G down r")
    driver.press("ctrl-u")
    driver.type("open")
    driver.press("enter")
    #expect(driver.state.overlay?.kind == .prompt)
    #expect(driver.screen.contains("another listener is called open"))
    driver.type("ed")
    driver.press("enter")
    #expect(driver.state.listeners.map(\.name) == ["open", "opened"])
    _ = driver.state.listen(to: Query(path: ResourcePath("users")), name: "opened")
    #expect(driver.state.listeners.map(\.name) == ["open", "opened", "opened 2"])
  }

  @Test("Renaming a listener updates feed, tree and filters; an empty name is generated")
  func rename() {
    var driver = driver()
    driver.client(snapshot(driver.state.listeners[0].tag, "orders/a"), at: 1)
    driver.press("W g r")
    driver.type("to pack")
    driver.press("enter 4 /")
    driver.type("pack")
    driver.press("enter")
    #expect(driver.state.feed.shown.count == 1)
    #expect(driver.state.feed.rows.last?.listenerName == "to pack")
    driver.press("1 -")
    #expect(driver.screen.split(separator: "\n").contains { $0.contains("orders  to pack") })
    driver.press("W g r ctrl-u enter")
    #expect(driver.state.listeners[0].name == "orders status=\"paid\"")
  }

  @Test("x stops the selected listener and keeps the list open")
  func stop() {
    var driver = driver()
    driver.press("W g x")
    #expect(driver.effects == [.client(.unlisten(ListenerTag(1)))])
    #expect(driver.state.listeners.map(\.name) == ["users"])
    #expect(driver.state.overlay?.kind == .listeners)
  }

  @Test("A failed listener is retried and keeps its position in the list")
  func again() {
    var driver = driver()
    driver.client(.listenerFailed(ListenerTag(2), RPCStatus(.permissionDenied, "no")), at: 1)
    driver.press("1 g")
    while driver.state.selectedCollection != ResourcePath("users") { driver.press("j") }
    driver.press("space")
    #expect(driver.state.listeners.map(\.name) == ["orders status=\"paid\"", "users"])
    #expect(driver.state.listeners[1].failure == nil)
  }

  @Test("Opening a listener file skips running listeners and reports how many it skipped")
  func file() {
    var driver = driver()
    let definitions = [
      ListenerDefinition(name: "mine", query: Query(path: ResourcePath("users"))),
      ListenerDefinition(name: "users", query: Query(path: ResourcePath("users/ada"))),
    ]
    driver.press("W o")
    driver.type("a.toml")
    driver.press("enter")
    #expect(driver.effects == [.terminal(.openListeners(file: "a.toml"))])
    driver.host(.listenersRead(definitions, from: "a.toml"), at: 1)
    #expect(driver.listenTag == ListenerTag(3))
    #expect(driver.state.listeners.map(\.name) == ["orders status=\"paid\"", "users", "users 2"])
    #expect(driver.state.messages.last?.text == "a.toml: 1 listener: users 2; 1 already open")
    driver.press(": ")
    driver.type("save to a file")
    driver.press("enter enter")
    #expect(driver.effects == [.terminal(.saveListeners(driver.state.listenerDefinitions, file: "listeners.toml"))])
  }

  @Test("Saving listeners replaces an existing file only after confirmation")
  func replace() {
    var driver = driver()
    let save = Effect.terminal(.saveListeners([], file: "x", replaces: true))
    driver.host(
      .question(title: "Replace a file", body: ["x exists."], action: "Replace", HeldEffects([save])), at: 1)
    driver.press("enter")
    #expect(driver.effects == [])
    driver.host(
      .question(title: "Replace a file", body: ["x exists."], action: "Replace", HeldEffects([save])), at: 1)
    driver.press("tab enter")
    #expect(driver.effects == [save])
  }
}
