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

/// How many documents a collection has, as the tree says.
@Suite struct CountTests {
  @Test("The header shows REJECTED for invalid credentials and NOT CONNECTED when idle")
  func refused() {
    for (code, word) in [
      (StatusCode.unauthenticated, "REJECTED: unauthenticated"), (.permissionDenied, "NOT CONNECTED"),
    ] {
      var driver = Driver()
      driver.client(.status(ClientStatus(since: at(0))), at: 0)
      #expect(driver.screen.contains("CONNECTING"))
      driver.client(.collections(below: .root, []), at: 0)
      #expect(driver.screen.contains("NOT CONNECTED: nothing to ask"))
      driver.client(.collectionsUnlisted(below: .root, RPCStatus(code, "no.")), at: 1)
      #expect(driver.screen.contains(word) && driver.screen.contains("NOT CONNECTED") == (word == "NOT CONNECTED"))
    }
  }

  @Test("If listing collections failed, the tree does not claim that there are none")
  func unlisted() {
    var driver = Driver(Size(width: 100, height: 30))
    driver.client(.collections(below: .root, []), at: 0)
    #expect(driver.screen.contains("no collections yet"))
    driver.client(.collectionsUnlisted(below: .root, RPCStatus(.unauthenticated, "no.")), at: 1)
    #expect(driver.screen.contains("not listed: unauthenticated") && driver.screen.contains(":messages says why"))
    #expect(!driver.screen.contains("no collections yet"))
    driver.client(.collections(below: .root, []), at: 2)
    #expect(driver.screen.contains("no collections yet"))
  }

  @Test(
    "An unreachable server at startup is shown with the reason and retried",
    arguments: [Size(width: 120, height: 36), Size(width: 80, height: 24)])
  func away(size: Size) {
    var driver = Driver(size)
    let refusal = RPCStatus(.unavailable, "127.0.0.1:8080 refuses the connection. Check the port.")
    driver.client(.status(ClientStatus(since: at(0))), at: 0)
    driver.client(.collections(below: .root, []), at: 0)
    driver.client(.collectionsUnlisted(below: .root, refusal), at: 0)

    let lines = driver.screen.split(separator: "\n")
    #expect(lines[0].contains("OFFLINE") && driver.screen.contains("[OFFLINE]"))
    for text in ["not listed: unavailable", "refuses the", "tries again", "retry in 5"] {
      #expect(driver.screen.contains(text), "\(text)")
    }
    for text in ["NOT CONNECTED", "nothing to ask", "0 collections"] { #expect(!driver.screen.contains(text)) }

    driver.tick(4)
    #expect(driver.screen.contains("retry in 1"))
    driver.tick(5)
    #expect(driver.effects.contains(.client(.listCollections(below: .root))))
    driver.client(.collectionsUnlisted(below: .root, refusal), at: 6)
    driver.press("3 r")
    #expect(driver.effects.last == .client(.listCollections(below: .root)))

    driver.client(.collections(below: .root, ["cities"]), at: 7)
    #expect(driver.screen.contains("cities") && !driver.state.network.isOffline)
  }

  private func opened(_ documents: Int, total: Int? = nil) -> Driver {
    var driver = Driver()
    driver.client(.status(Scenario.status(0)), at: 0)
    driver.client(.collections(below: .root, ["orders"]), at: 0)
    driver.answerWindow((0..<documents).map { document("orders/a\($0 + 100)", ["n": 1]) }, at: 0)
    if let total { driver.client(.counted(ResourcePath("orders"), total), at: 0) }
    return driver
  }

  /// Ends the highlights and whatever else the start left.
  private func counts(_ driver: inout Driver, until second: Double) -> [Effect] {
    driver.tick(second)
    return driver.effects.filter { if case .client(.count) = $0 { true } else { false } }
  }

  @Test("A listener updates the count of its collection, folded or unfolded")
  func listened() {
    var driver = opened(3)
    driver.press("space")
    let tag = driver.listenTag ?? ListenerTag(0)
    driver.press("h")
    Scenario.snapshot(&driver, tag, [], count: 60, [.fromServer], at: 1)
    #expect(driver.screen.contains("60 docs"))
    Scenario.snapshot(&driver, tag, [], count: 40, [.fromServer], at: 2)
    #expect(driver.screen.contains("40 docs"))
    // What was counted before the last change does not undo it.
    driver.client(.counted(ResourcePath("orders"), 3), at: 3)
    #expect(driver.screen.contains("40 docs"))
  }

  @Test("A listener's count takes precedence over a collection count that arrives later")
  func listenedFirst() {
    var driver = Driver()
    driver.client(.status(Scenario.status(0)), at: 0)
    driver.client(.collections(below: .root, ["orders"]), at: 0)
    driver.press("space")
    Scenario.snapshot(&driver, driver.listenTag ?? ListenerTag(0), [], count: 60, [.fromServer], at: 1)
    driver.client(.counted(ResourcePath("orders"), 58), at: 2)
    #expect(driver.screen.contains("60 docs"))
  }

  @Test("A partly loaded collection is recounted at most once a second as it changes")
  func window() {
    let limit = Driver().state.windowLimit
    var driver = opened(limit, total: 1000)
    let tag = driver.state.browser.windows[ResourcePath("orders")]?.shown?.tag ?? WindowTag(0)
    func documents(_ change: Int) -> [Document] {
      (0..<limit).map { document("orders/a\($0 + 100 + change)", ["n": 1]) }
    }

    for change in 1...5 { driver.client(.windowLoaded(tag, documents(change), isFromCache: false, total: nil), at: 1) }

    #expect(counts(&driver, until: 2.5) == [.client(.count(ResourcePath("orders")))])
    #expect(counts(&driver, until: 9) == [])
    driver.client(.counted(ResourcePath("orders"), 1005), at: 10)
    #expect(driver.screen.contains("1 005 docs"))
  }

  @Test("Periodic counts and listings find remote changes outside the loaded window")
  func others() {
    let orders = Effect.client(.count(ResourcePath("orders")))
    let list = Effect.client(.listCollections(below: .root))
    var driver = opened(Driver().state.windowLimit, total: 1000)
    driver.tick(10)
    #expect(driver.effects == [list, orders])
    driver.client(.counted(ResourcePath("orders"), 2000), at: 10)
    driver.client(.collections(below: .root, ["orders", "people"]), at: 10)
    #expect(driver.screen.contains("2 000 docs") && driver.state.browser.roots == ["orders", "people"])
    #expect(driver.state.nextTick <= at(20))
    #expect(driver.effects == [.client(.count(ResourcePath("people")))])
    driver.tick(19)
    #expect(driver.effects == [])
    // Nobody can answer; and what a listener counts needs no other.
    driver.client(.status(Scenario.status(20, isEnabled: false)), at: 20)
    driver.tick(31)
    #expect(!driver.effects.contains(list))
    driver.client(.status(Scenario.status(32)), at: 32)
    driver.press("space")
    Scenario.snapshot(&driver, driver.listenTag ?? ListenerTag(0), [], count: 60, [.fromServer], at: 33)
    driver.tick(43)
    #expect(driver.effects.contains(list) && !driver.effects.contains(orders))
  }

  @Test("An acknowledged write or a reconnect recounts the collection")
  func otherReasons() {
    var driver = opened(3, total: 3)
    driver.press("h")
    driver.client(.pendingWrites([pendingWrite(1, .set, "orders/new", at: at(1), .inFlight)]), at: 1)
    driver.client(.writeAcknowledged(BatchID(1), after: .milliseconds(5)), at: 1)
    #expect(counts(&driver, until: 3) == [.client(.count(ResourcePath("orders")))])

    driver.client(.status(ClientStatus(onlineState: .offline, since: at(4))), at: 4)
    driver.client(.status(ClientStatus(onlineState: .online, since: at(5))), at: 5)
    #expect(counts(&driver, until: 7) == [.client(.count(ResourcePath("orders")))])
  }

  @Test("Unfolding a collection requests its document count")
  func unfolding() {
    var driver = opened(3)
    driver.press("h l")
    #expect(driver.effects.contains(.client(.count(ResourcePath("orders")))))
  }

  @Test(
    "A fully loaded collection with pending writes ignores the server's count")
  func waitingWrites() {
    var driver = opened(4)
    driver.client(.counted(ResourcePath("orders"), 5), at: 1)
    #expect(driver.screen.contains("4 docs"))
    driver.press("h")
    #expect(driver.screen.contains("4 docs"))
  }

  @Test("Offline, a local write changes the count of a folded collection immediately")
  func offline() {
    var driver = opened(3, total: 3)
    driver.press("h")
    driver.client(.status(ClientStatus(onlineState: .offline, since: at(1))), at: 1)
    _ = counts(&driver, until: 3)
    driver.client(.pendingWrites([pendingWrite(1, .set, "orders/new", at: at(4), .held)]), at: 4)
    #expect(counts(&driver, until: 6) == [.client(.count(ResourcePath("orders")))])
    driver.client(.counted(ResourcePath("orders"), 4), at: 6)
    #expect(driver.screen.contains("4 docs"))
  }

  @Test("A change in a limit or collection group listener recounts the folded collection")
  func partialListeners() {
    for query in [
      Query(path: ResourcePath("orders"), limit: 2),
      Query(path: .root, collectionGroup: "orders"),
    ] {
      var driver = opened(3, total: 3)
      driver.press("h")
      _ = driver.state.listen(to: query, name: "part")
      let new = document("orders/new", ["n": 1])
      Scenario.snapshot(&driver, ListenerTag(1), [.init(.added, new)], count: 2, [.fromServer], at: 1)
      #expect(counts(&driver, until: 3) == [.client(.count(ResourcePath("orders")))])
    }
  }

  @Test("Every listed collection is counted at each start, folded or not")
  func restart() {
    var driver = Driver()
    driver.client(.collections(below: .root, ["orders", "users"]), at: 0)
    let counted = driver.effects.filter { if case .client(.count) = $0 { true } else { false } }
    #expect(Set(counted.map { "\($0)" }).count == 2)
  }
}
