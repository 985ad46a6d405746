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

@Suite("Client inspection page")
struct InsideTests {
  static func target(
    _ id: Int32, _ path: String, _ progress: TargetState.Progress = .current, token: Double? = nil, documents: Int = 0,
    kept: Int = 0
  ) -> TargetState {
    TargetState(
      id: id, target: Query(path: ResourcePath(path)).target, progress: progress, tokenTime: token.map(at),
      documents: documents, sent: documents, kept: kept, lastUse: Int64(id) * 100)
  }

  static let inside = ClientInside(
    time: at(0),
    targets: [target(2, "orders", token: -40, documents: 1_204, kept: 300), target(4, "users", .receiving)],
    lookups: Lookups(
      listed: [.init(key("orders/a"), target: 1), .init(key("orders/b"), target: nil)], asked: 1, waiting: 1, limit: 100
    ),
    peers: CachePeers(
      members: [
        .init(process: 4711, isSelf: true, hasLease: false, usesNetwork: true, isVisible: true, seen: at(0)),
        .init(process: 4712, isSelf: false, hasLease: true, usesNetwork: true, isVisible: false, seen: at(-3)),
      ], renewed: at(-3)),
    streams: [
      StreamUse(
        kind: .watch, status: StreamStatus(.open), begun: 3, since: at(-600), messagesSent: 2, messagesReceived: 1_300,
        heardAt: at(-12), bytes: .init(sent: 300, received: 90_000), longestSilence: .seconds(120)),
      StreamUse(kind: .write, status: StreamStatus(.closed, lastError: RPCStatus(.unavailable, "gone"))),
    ],
    queries: [
      QueryTimes(
        query: Query(path: ResourcePath("orders")),
        classes: [
          .init(limit: 1_000, runs: 12, median: .microseconds(420), p99: .microseconds(900)),
          .init(limit: 10_000, runs: 3, median: .microseconds(3_100), p99: .milliseconds(31)),
        ], runs: 15, plan: .scan, scanned: 1_204, found: 1_204)
    ], beginning: ClientInside.Beginning(opening: .milliseconds(130), firstSnapshot: .milliseconds(12)),
    connection: ConnectionState(
      .offline, since: at(-30), reason: .failed(RPCStatus(.unavailable, "gone")), nextAttempt: at(4)),
    retentions: [pin, lifetime], isDurable: true,
    indexes: [
      IndexState(definition: byTotal),
      IndexState(
        definition: byState, isAutomatic: true, backfill: IndexProgress(documentsIndexed: 600, documentsTotal: 1_204)),
    ])

  static let pin = Retention(Query(path: ResourcePath("users"), limit: 5).target, .pinned, since: at(-90))
  static let lifetime = Retention(
    Query(
      path: ResourcePath("orders"), filters: [.field(FieldFilter(FieldPath("state"), .equal, .string("done")))]
    ).target, .lifetime(.seconds(7_200)), since: at(-5))
  static let byTotal = index("total")
  static let byState = index("state")

  private static func index(_ name: String) -> FieldIndex {
    guard let index = try? FieldIndex(collectionGroup: "orders", fields: [FieldIndex.Field(FieldPath(name))]) else {
      preconditionFailure("\(name) is no field")
    }
    return index
  }

  static let survey = CacheSurvey(
    time: at(0), policy: .leastRecentlyUsed, bytes: 3 << 20, freeBytes: 1 << 20, limit: 40 << 20,
    shares: [
      .init(path: ResourcePath("users"), documents: 40, bytes: 9_000),
      .init(
        path: ResourcePath("orders"), documents: 1_204, names: 2, bytes: 700_000, overlays: 3, leavingDocuments: 12,
        leavingBytes: 7_000, coverage: CacheSurvey.Coverage(wholeAsOf: at(-65), results: 2)),
    ], targets: 9, leavingTargets: 1,
    victims: [
      CacheSurvey.Victim(.document(key("orders/zz"), bytes: 2_048), lastUse: 3, confirmed: at(-3_600)),
      CacheSurvey.Victim(.result(Query(path: ResourcePath("chat"), limit: 5).target, documents: 5), lastUse: 7),
    ],
    contents: CacheContents(
      indexes: [.init(IndexState(definition: byTotal), entries: 1_204, bytes: 30_000)], droppedEntries: 8,
      tables: [.init("globals", rows: 6), .init("documents", rows: 1_246, bytes: 709_000)], pageCount: 768,
      pageBytes: 4096, logBytes: 20_480, checksums: .intact))

  static func opened(_ size: Size = Size(width: 120, height: 36), answered: Bool = true) -> Driver {
    var driver = Driver(size)
    driver.press("I")
    if answered { driver.client(.inside(.success(inside)), at: 0) }
    return driver
  }

  private func lines(_ driver: Driver) -> [Substring] { driver.screen.split(separator: "\n") }

  private func asks(_ driver: Driver) -> Int { driver.effects.count { $0 == .client(.lookInside) } }

  @Test("The inspection page queries the client every second, with one request at a time")
  func live() {
    var driver = Self.opened(answered: false)
    #expect(asks(driver) == 1 && driver.screen.contains("asking the client"))
    driver.tick(1)
    #expect(asks(driver) == 0)
    driver.client(.inside(.success(Self.inside)), at: 1.5)
    #expect(driver.state.nextTick <= at(2))
    driver.tick(2)
    #expect(asks(driver) == 1)
    driver.press("esc")
    driver.client(.inside(.success(Self.inside)), at: 2.1)
    driver.tick(4)
    #expect(asks(driver) == 0 && driver.state.overlay == nil)
  }

  @Test("Targets show their token age, completeness and the read cost of a long outage")
  func targets() throws {
    var driver = Self.opened()
    let orders = try #require(lines(driver).first { $0.contains("orders ") && $0.contains("current") })
    #expect(orders.contains("0:40") && orders.contains("1 204"))
    #expect(lines(driver).contains { $0.contains("users") && $0.contains("receiving") && $0.contains("none") })
    #expect(driver.screen.contains("bills them again: 1 205 reads"))
    #expect(driver.screen.contains("not sent; back after more than 30 minutes: 1 204 reads"))
    driver.tick(25)
    #expect(lines(driver).contains { $0.contains("orders ") && $0.contains("1:05") })
    driver.press("enter")
    #expect(driver.state.overlay == nil && driver.state.selectedCollection?.text == "orders")
  }

  @Test("Tab reaches every section, and the cache is counted when its section is opened")
  func sections() {
    var driver = Self.opened()
    driver.press("tab")
    #expect(driver.screen.contains("1 requested, 1 pending; at most 100 at a time"))
    #expect(lines(driver).contains { $0.contains("orders/b") && $0.contains("pending") && $0.contains("1 of 1") })
    driver.press("tab")
    #expect(lines(driver).contains { $0.contains("(client)") && $0.contains("offline, tries in 4.0s") })
    #expect(lines(driver).contains { $0.contains("watch") && $0.contains("0:12") && $0.contains("1 300 88 kB") })
    driver.press("tab")
    #expect(lines(driver).contains { $0.contains("4712") && $0.contains("has it") })
    #expect(driver.screen.contains("4711 (this client)") && driver.screen.contains("renewed 0:03 ago"))
    driver.press("tab")
    #expect(driver.effects == [.client(.surveyCache)] && driver.screen.contains("counting the cache"))
    driver.press("r")
    #expect(driver.effects.isEmpty)
    driver.client(.surveyed(.success(Self.survey)), at: 1)
    #expect(driver.screen.contains("would evict 1 of 9 results and 12 documents, 6.8 kB"))
    #expect(driver.screen.contains("3.0 MB, 1.0 MB of it empty; collected above 40 MB"))
    driver.press("r")
    #expect(driver.effects == [.client(.surveyCache)])
    driver.press("tab")
    #expect(driver.effects.isEmpty && driver.screen.contains("least recently used first"))
    driver.press("tab")
    #expect(lines(driver).contains { $0.contains("users limit 5") && $0.contains("pinned") && $0.contains("1:3") })
    driver.press("tab")
    #expect(lines(driver).contains { $0.contains("orders(total ascending)") && $0.contains("ready") })
    driver.press("tab")
    #expect(lines(driver).contains { $0.contains("documents") && $0.contains("1 246") })
    driver.press("tab")
    #expect(lines(driver).contains { $0.contains("orders") && $0.contains("to 1 000") && $0.contains("0.420 ms") })
    #expect(lines(driver).contains { $0.contains("to 10 000") && $0.contains("31.0 ms") })
    driver.press("shift-tab shift-tab shift-tab shift-tab shift-tab")
    #expect(driver.screen.contains("counted 0:0"))
  }

  private func section(_ section: InsideSection, _ driver: inout Driver) {
    while driver.state.insidePanel?.section != section { driver.press("tab") }
    if section.needsSurvey { driver.client(.surveyed(.success(Self.survey)), at: 1) }
  }

  @Test("The cache section shows how much of each collection is available offline")
  func coverage() {
    var driver = Driver(Size(width: 120, height: 36))
    driver.client(.collections(below: .root, ["orders", "drafts"]), at: 0)
    driver.client(.counted(ResourcePath("orders"), 1_300), at: 0)
    driver.client(.counted(ResourcePath("drafts"), 7), at: 0)
    driver.press("I")
    section(.cache, &driver)
    #expect(lines(driver).contains { $0.contains("orders") && $0.contains("1 300") && $0.contains("all, 1:06 ago") })
    #expect(lines(driver).contains { $0.contains("users") && $0.contains("?") })
    #expect(lines(driver).contains { $0.contains("drafts") && $0.contains("7") && $0.contains("nothing") })
    driver.press("G")
    #expect(driver.screen.contains("the cache has none of its documents: offline it is empty"))
  }

  @Test("The cache section shows each collection's documents with pending writes")
  func overlays() {
    var driver = Self.opened()
    section(.cache, &driver)
    let orders = lines(driver).first { $0.contains("orders") && $0.contains("1 204") }
    #expect(driver.screen.contains("pending") && orders?.contains("  3  ") == true, "\(driver.screen)")
    #expect(driver.screen.contains("3 with pending writes, stored as overlays"))
  }

  @Test("Pins and lifetimes are listed; d ends the selected one, Enter opens a collection")
  func kept() {
    var driver = Self.opened()
    section(.kept, &driver)
    driver.press("d")
    #expect(driver.effects == [.client(.release(Self.pin))] && driver.screen.contains("users limit 5 can be evicted"))
    driver.press("down")
    #expect(
      lines(driver).contains { $0.contains("orders where state == \"done\"") && $0.contains("2 h after sync") })
    #expect(driver.screen.contains("they also apply after a restart"))
    driver.press("d")
    #expect(driver.effects == [.client(.release(Self.lifetime))])
    driver.press("enter")
    #expect(driver.state.overlay == nil && driver.state.selectedCollection?.text == "orders")

    driver = Self.opened()
    driver.press("d")
    #expect(driver.effects.isEmpty && driver.state.toasts.last?.text == "select a pin or a lifetime, in section kept")
    driver.client(
      .inside(.success(ClientInside(time: at(0), connection: Self.inside.connection, isDurable: true))), at: 1)
    section(.kept, &driver)
    #expect(driver.screen.contains("no pins and no lifetimes"))
    driver.state.configuration.attached = AttachedProgram(process: 4711, name: "shop", allowsControl: true)
    driver.client(.inside(.success(Self.inside)), at: 1)
    driver.press("d")
    #expect(driver.effects.isEmpty && driver.screen.contains("the cache belongs to shop"))
  }

  @Test("Indexes show live progress and the number of entries when last counted")
  func indexes() {
    var driver = Self.opened()
    while driver.state.insidePanel?.section != .indexes {
      driver.press("tab")
      if driver.effects.contains(.client(.surveyCache)) {
        driver.client(.surveyed(.failure(RPCStatus(.aborted, ""))), at: 0)
      }
    }
    #expect(
      lines(driver).contains { $0.contains("orders(total ascending)") && $0.contains("ready") && $0.contains("?") })
    #expect(lines(driver).contains { $0.contains("orders(state ascending)") && $0.contains("automatic  49 %") })
    driver.client(.surveyed(.success(Self.survey)), at: 1)
    #expect(lines(driver).contains { $0.contains("orders(total ascending)") && $0.contains("1 204  29 kB") })
    #expect(driver.screen.contains("8 entries of dropped indexes are still to be removed"))
    driver.press("down")
    #expect(driver.screen.contains("600 of 1 204 documents are indexed"))
    var inside = Self.inside
    inside.indexes[1].backfill = nil
    driver.client(.inside(.success(inside)), at: 2)
    #expect(!driver.screen.contains("49 %"))
    driver.press("r")
    #expect(driver.effects == [.client(.lookInside), .client(.surveyCache)])
  }

  @Test("Cache tables are listed by size with row counts, and the file's size is shown")
  func tables() throws {
    var driver = Self.opened()
    section(.tables, &driver)
    let rows = lines(driver)
    let documents = try #require(rows.firstIndex { $0.contains("documents") && $0.contains("1 246  692 kB") })
    let globals = try #require(rows.firstIndex { $0.contains("globals") && $0.contains(" 6 ") })
    #expect(documents < globals)
    #expect(driver.screen.contains("768 pages of 4.0 kB, 1.0 MB of them empty; the log has 20 kB"))
    #expect(driver.screen.contains("every page has a checksum"))
  }

  @Test("The next eviction candidates are listed, oldest first, and Enter opens one")
  func leaving() throws {
    var driver = Self.opened()
    section(.leaving, &driver)
    let rows = lines(driver)
    let first = try #require(rows.firstIndex { $0.contains("orders/zz") && $0.contains("2.0 kB") })
    let second = try #require(rows.firstIndex { $0.contains("chat") && $0.contains("result") })
    #expect(first < second && driver.screen.contains("would evict 1 of 9 results and 12 documents"))
    #expect(rows[first].contains(#/ 3 +1:00:01 /#) && rows[second].contains(#/ 7 +never /#), "\(driver.screen)")
    driver.press("enter")
    #expect(driver.state.detail?.key == key("orders/zz"))
  }

  @Test("The bill shows total and recent reads, their configured price, and the savings")
  func bill() {
    var driver = Self.opened()
    let orders = Self.inside.targets[0].target
    driver.client(.reads([ReadMeter(target: orders, sent: 0, kept: 0)]), at: 0)
    driver.client(.reads([ReadMeter(target: orders, sent: 1_204, kept: 0)]), at: 30)
    section(.bill, &driver)
    // 1 204 reads at 0.06 USD for 100 000.
    #expect(lines(driver).contains { $0.contains("orders") && $0.contains("0.000722 USD") })
    #expect(lines(driver).contains { $0.contains(" all ") && $0.contains("1 204     1 204") }, "\(driver.screen)")
    #expect(driver.screen.contains("0.06 USD for 100 000 reads: an assumption, as of 2025-06"))
    #expect(driver.screen.contains("0.000180 USD saved by the cache"))
    #expect(driver.screen.contains("this server bills nothing"))

    var settings = InsideSettings()
    settings.price = ReadPrice(millionths: 1_000_000_000, currency: "EUR", asOf: "2026-11")
    driver.state.configuration.inside = settings
    #expect(lines(driver).contains { $0.contains("orders") && $0.contains("12.04 EUR") })
    #expect(driver.screen.contains("as of 2026-11"))
    driver.tick(91)
    #expect(lines(driver).contains { $0.contains(" all ") && $0.contains("1 204") && $0.contains(" 0 ") })
  }

  @Test("The inspection page compares opening, snapshot and query times with budgets")
  func budget() {
    var driver = Self.opened()
    section(.queries, &driver)
    #expect(lines(driver).contains { $0.contains("(opening the cache)") && $0.contains("130.0 ms  over 100.0 ms") })
    let snapshot = lines(driver).first { $0.contains("(first snapshot)") }
    #expect(snapshot?.contains("12.0 ms") == true && snapshot?.contains("over") == false)
    #expect(lines(driver).contains { $0.contains("to 10 000") && $0.contains("kept") })
    var settings = InsideSettings()
    settings.budget.p99 = .milliseconds(30)
    driver.state.configuration.inside = settings
    #expect(lines(driver).contains { $0.contains("to 10 000") && $0.contains("over 30.0 ms") })
    #expect(lines(driver).contains { $0.contains("to 1 000") && $0.contains("kept") })
  }

  @Test("K restarts the selected stream; in an attached program this requires control")
  func restart() {
    var driver = Self.opened()
    driver.press("K")
    #expect(driver.effects.isEmpty && driver.state.toasts.last?.text == "select a stream in its section first")
    driver.press("tab tab K")
    #expect(driver.effects == [.client(.restartStream(.watch))])
    driver.press("down")
    #expect(driver.screen.contains("last failure: unavailable: gone"))
    driver.press("down")
    #expect(driver.screen.contains("not online: unavailable: gone"))
    driver.press("K")
    #expect(driver.effects.isEmpty)
    driver.press("up")

    driver.state.configuration.attached = AttachedProgram(process: 4711, name: "shop", allowsControl: false)
    driver.press("K")
    #expect(driver.effects.isEmpty && driver.screen.contains("attached read-only"))
  }

  @Test("On the inspection page an error replaces the rows until the next response")
  func failure() {
    var driver = Self.opened(answered: false)
    driver.client(.inside(.failure(RPCStatus(.failedPrecondition, "The client is closed."))), at: 0.5)
    #expect(driver.screen.contains("The client is closed."))
    driver.tick(1)
    driver.client(.inside(.success(Self.inside)), at: 1.1)
    #expect(!driver.screen.contains("The client is closed.") && driver.screen.contains("orders"))
  }

  @Test(
    "The inspection page fits any screen size",
    arguments: [(24, 4), (1, 1), (60, 16), (80, 24), (200, 60), (30, 8)])
  func sizes(width: Int, height: Int) {
    var driver = Self.opened(Size(width: width, height: height))
    for _ in InsideSection.allCases {
      driver.press("down tab")
      driver.client(.surveyed(.success(Self.survey)), at: 1)
      #expect(driver.canvas().size == Size(width: width, height: height))
    }
  }
}
