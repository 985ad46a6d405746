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

/// News of commits on the screen, and numbers without such news.
@Suite struct HeardCommitsTests {
  private static let users = ResourcePath("users")

  /// A dashboard with an unfolded collection that is whole, and a folded one.
  private func opened(
    kind: ConnectedBackend.Kind = .embedded, hears: Bool = true, size: Size = Size(width: 120, height: 36)
  ) -> Driver {
    var driver = Driver(size, kind: kind)
    driver.client(.status(Scenario.status(0)), at: 0)
    driver.client(.collections(below: .root, ["orders", "users"]), at: 0)
    driver.answerWindow([document("orders/a", ["n": 1]), document("orders/b", ["n": 1])], at: 0)
    driver.client(.counted(Self.users, 2), at: 0)
    if hears { driver.client(.committed(.everything), at: 0) }
    driver.tick(0.2)
    return driver
  }

  private func notice(_ path: String, _ created: Int = 0, _ deleted: Int = 0, changed: Int = 0) -> ClientEvent {
    .committed(
      .collections([CollectionNotice(ResourcePath(path), created: created, deleted: deleted, changed: changed)]))
  }

  /// Whether these and no other effects came of the last action.
  private func asks(_ driver: Driver, _ effects: [Effect]) -> Bool {
    driver.effects.count == effects.count && effects.allSatisfy(driver.effects.contains)
  }

  /// What stands beside a collection in the tree.
  private func beside(_ name: String, _ driver: Driver) -> String {
    let row = driver.screen.split(separator: "\n").first { $0.contains("▸ \(name) ") || $0.contains("▾ \(name) ") }
    let cell = row?.split(separator: "│").first.map(String.init) ?? ""
    return cell.firstRange(of: name).map { String(cell[$0.upperBound...]).trimmed } ?? "no row"
  }

  @Test("When commit notifications start, everything shown is requested again")
  func everything() {
    var driver = opened(hears: false)
    driver.client(.committed(.everything), at: 1)
    for effect: Effect in [
      .client(.count(Self.users)), .client(.listCollections(below: .root)),
      .client(.listMissing(in: ResourcePath("orders"))),
    ] { #expect(driver.effects.contains(effect), "\(effect)") }
  }

  @Test(
    "Adding or removing a document recounts a folded collection; changing it does not")
  func counted() {
    var driver = opened()
    driver.client(notice("users", 1), at: 1)
    #expect(driver.effects == [.client(.count(Self.users))])
    driver.client(.counted(Self.users, 3), at: 1.01)
    #expect(beside("users", driver) == "3 docs")
    driver.client(notice("users", 0, 0, changed: 5), at: 2)
    #expect(driver.effects.isEmpty)
    driver.client(notice("users", 0, 1), at: 3)
    #expect(asks(driver, [.client(.count(Self.users)), .client(.listCollections(below: .root))]))
    // The window that shows all of a collection hears for itself.
    driver.client(notice("orders", 1), at: 4)
    #expect(!driver.effects.contains(.client(.count(ResourcePath("orders")))))
  }

  @Test("Frequent commits cause a few requests per second and one more at the end")
  func storm() {
    var driver = opened()
    var asked = 0
    for step in 0..<100 {
      driver.client(notice("users", 1), at: 1 + Double(step) / 100)
      asked += driver.effects.count
      if driver.state.nextTick <= at(1 + Double(step) / 100) { driver.tick(1 + Double(step) / 100) }
      asked += driver.effects.count
    }
    #expect((1...25).contains(asked), "\(asked)")
    #expect(driver.state.nextTick <= at(2.1))
    driver.tick(2.1)
    #expect(driver.effects == [.client(.count(Self.users))])
    driver.tick(3)
    #expect(driver.effects.isEmpty)
  }

  @Test("A new collection causes its siblings and missing parents to be listed")
  func listed() {
    var driver = opened()
    driver.client(notice("rooms", 1), at: 1)
    #expect(driver.effects == [.client(.listCollections(below: .root))])
    driver.press("g j l")
    driver.client(notice("orders/a/items", 1), at: 2)
    #expect(
      asks(
        driver,
        [
          .client(.listCollections(below: ResourcePath("orders/a"))), .client(.listMissing(in: ResourcePath("orders"))),
        ]))
  }

  @Test("With commit notifications nothing is polled, and counts show no age")
  func quiet() {
    var driver = opened()
    for second in stride(from: 10.0, through: 130, by: 10) {
      driver.tick(second)
      #expect(driver.effects.isEmpty)
    }
    #expect(beside("users", driver) == "2 docs")
    #expect(driver.state.nextTick == at(180))
  }

  @Test("After commit notifications end, counts show their age since that time")
  func unheard() {
    var driver = opened()
    driver.client(.commitsUnheard("unavailable"), at: 60)
    #expect(beside("users", driver) == "2 docs · <0:10")
    for (second, age) in [(69.9, "<0:10"), (70, "0:10"), (119, "0:50"), (120, "1:00"), (185, "2:00")] {
      driver.tick(second)
      #expect(beside("users", driver) == "2 docs · \(age)")
    }
    #expect(driver.state.nextTick <= at(240))
    driver.client(.committed(.everything), at: 200)
    #expect(beside("users", driver) == "2 docs")
  }

  @Test("Without commit notifications a count shows its age, unless a listener covers it")
  func dated() {
    var driver = opened(kind: .cloud, hears: false)
    #expect(beside("users", driver) == "2 docs · <0:10" && beside("orders", driver) == "2 docs")
    #expect(driver.state.nextTick <= at(10))
    driver.tick(25)
    #expect(beside("users", driver) == "2 docs · 0:20" && beside("orders", driver) == "2 docs")
    driver.press("G space")
    Scenario.snapshot(&driver, driver.listenTag ?? ListenerTag(0), [], count: 2, [.fromServer], synced: true, at: 26)
    #expect(beside("users", driver).hasPrefix("2 docs") && !beside("users", driver).contains("·"))
    driver.press("g h")
    driver.tick(50)
    #expect(beside("orders", driver) == "2 docs · 0:20")
  }

  @Test("Recounting in Cloud Firestore shows its cost, one read per 1,000 documents")
  func cost() {
    var driver = opened(kind: .cloud, hears: false)
    driver.client(.counted(Self.users, 2_001), at: 1)
    driver.press(":")
    driver.type("count the coll")
    #expect(driver.screen.contains("count the collections again: 4 reads"))
    driver.press("enter")
    for path in ["orders", "users"] { #expect(driver.effects.contains(.client(.count(ResourcePath(path))))) }
    #expect(driver.screen.contains("counting 2 collections, 4 reads"))
  }

  @Test("Offline, a count shows its age and how many documents are cached")
  func offline() {
    var driver = opened()
    driver.client(.commitsUnheard("offline"), at: 10)
    driver.client(.status(Scenario.status(10, isEnabled: false)), at: 10)
    #expect(beside("users", driver) == "2 docs · <0:10")
    driver.client(.counted(Self.users, 0, isFromCache: true), at: 11)
    driver.tick(25)
    #expect(beside("users", driver) == "2 docs · 0:10")
    driver.client(.counted(Self.users, 1, isFromCache: true), at: 27)
    #expect(beside("users", driver) == "1 cached of 2 · 0:10")
    driver.client(.counted(Self.users, 3, isFromCache: true), at: 28)
    #expect(beside("users", driver) == "3 cached")
    // A window that shows all that the cache has goes before a count.
    driver.press("G l")
    driver.answerWindow([], isFromCache: true, at: 29)
    #expect(driver.screen.contains("not in the cache; 2 at 12:04:10") && !driver.screen.contains("no documents"))
    driver.client(.pendingWrites([pendingWrite(1, .delete, "users/a", at: at(29), .held)]), at: 30)
    #expect(driver.screen.contains("1 deleted here, pending"))
    driver.client(.status(Scenario.status(40)), at: 40)
    #expect(beside("users", driver) == "2 docs · 0:30")
  }

  @Test("An empty cached result is marked if the server was never queried")
  func neverAsked() {
    for (wasAsked, words) in [
      (false, "cache has none (never asked)"), (true, "cache has none"), (nil, "cache has none"),
    ] as [(Bool?, String)] {
      var driver = opened()
      driver.client(.status(Scenario.status(1, isEnabled: false)), at: 1)
      driver.press("G space")
      let snapshot = ListenerSnapshot(
        listener: driver.listenTag ?? ListenerTag(0), changes: [], isFromCache: true, syncStateChanged: true,
        hasPendingWrites: false, count: 0, causes: [.listenerAdded], wasAsked: wasAsked)
      driver.client(.snapshot(snapshot), at: 2)
      let row = driver.screen.split(separator: "\n").first { $0.contains("cached") }
      #expect(row?.contains("CACHE") == true && row?.contains("SERVER") == false && row?.contains(words) == true)
      #expect(row?.contains("never") == (wasAsked == false))
    }
  }

  @Test("A sign shows whether a listener covers its whole collection or only a part")
  func scopes() {
    let all = Query(path: Self.users)
    var limited = all
    limited.limit = 1_000
    let filtered = Query(path: Self.users, filters: [.field(FieldFilter(FieldPath("n"), .greaterThan, 5))])
    for (query, count, sign, words, name) in [
      (all, 2, "◉", nil, "users"), (limited, 1_000, "◔", "first 1 000", "users first 1000"),
      (limited, 999, "◉", nil, "users first 1000"), (filtered, 2, "◔", "a filter", "users n>5"),
      (Query(path: ResourcePath("users/ada")), 1, "◔", "1 document", "users/ada"),
    ] as [(Query, Int, String, String?, String)] {
      var driver = opened(size: Size(width: 160, height: 40))
      #expect(ListenerRecord.defaultName(for: query) == name)
      driver.send(.listen(query, name: name, ListenerOptions(includeMetadataChanges: true), at: at(1)))
      let tag = driver.state.listeners[0].tag
      #expect(!driver.state.listeners[0].isNamed)
      Scenario.snapshot(&driver, tag, [], count: count, [.fromServer], synced: true, at: 2)
      let shown = beside("users", driver)
      #expect(shown.hasSuffix(sign), "\(shown)")
      if let words { #expect(shown.contains(words), "\(shown)") }
    }
  }

  @Test("Going to a missing collection shows it without adding it to the tree")
  func visited() {
    var driver = opened()
    driver.press(":")
    driver.type("go nothere")
    driver.press("enter")
    driver.answerWindow([], at: 1)
    #expect(beside("nothere", driver).hasPrefix("0 docs"))
    #expect(driver.state.browser.roots == ["orders", "users"])
    driver.press(":")
    driver.type("go users")
    driver.press("enter")
    #expect(beside("nothere", driver) == "no row")
  }

  @Test("Import and export commands take a file name and create no document")
  func transfers() {
    for (typed, request) in [
      ("import ~/b.jsonl", .importing(file: "~/b.jsonl", into: nil)),
      ("import-into b.json", .importing(file: "b.json", into: ResourcePath("orders"))),
      ("export o.jsonl", .export([ResourcePath("orders")], file: "o.jsonl")),
      ("export-all all.jsonl.gz", .export(nil, file: "all.jsonl.gz")),
      ("bundle o.bundle", .bundle(.result(Query(path: ResourcePath("orders")), name: "orders"), file: "o.bundle")),
    ] as [(String, TransferRequest)] {
      var driver = opened()
      driver.press("g :")
      driver.type(typed)
      driver.press("enter")
      #expect(driver.effects.contains(.client(.transfer(request))), "\(typed): \(driver.effects)")
      #expect(driver.state.detail == nil && driver.state.browser.roots == ["orders", "users"])
    }
    // Without a file there is the form.
    var driver = opened()
    driver.press(":")
    driver.type("import ")
    driver.press("enter")
    #expect(driver.screen.contains("Import a file"))
  }
}
