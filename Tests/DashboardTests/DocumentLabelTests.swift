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

/// What the feed says of a document: it follows the document, not what made the snapshot fire.
@Suite("Document labels")
struct DocumentLabelTests {
  private static let size = Size(width: 120, height: 36)

  /// A dashboard that listens to all orders, and to those that are paid.
  private func listening() -> Driver {
    var driver = Driver(Self.size)
    driver.client(.status(Scenario.status(0)), at: 0)
    driver.client(.collections(below: .root, ["orders"]), at: 0)
    driver.answerWindow(Scenario.orders, total: 3, at: 0)
    _ = driver.state.listen(to: Query(path: ResourcePath("orders")), name: "all")
    let paid = Query(path: ResourcePath("orders"), filters: [.field(FieldFilter(FieldPath("status"), .equal, "paid"))])
    _ = driver.state.listen(to: paid, name: "paid")
    for tag in 1...2 {
      Scenario.snapshot(
        &driver, ListenerTag(tag), Scenario.orders.map { .init(.added, $0) }, count: 3, [.listenerAdded],
        synced: true, at: 1)
    }
    driver.press("4")
    return driver
  }

  private func gone(_ path: String, pending: Document.PendingWrites = .none) -> Document {
    Document(key: key(path), version: pending == .local ? nil : version(7), state: .missing, pending: pending)
  }

  @Test(
    "A pending local change shows LOCAL and its batch, whatever caused the snapshot")
  func pending() throws {
    for cause in [SnapshotCause.listenerAdded, .fromServer, .existenceFilter] {
      var driver = listening()
      driver.client(.pendingWrites([pendingWrite(5, .update, "orders/7Qf3xAzP", at: at(2), .held)]), at: 2)
      Scenario.snapshot(
        &driver, ListenerTag(1), [.init(.modified, Scenario.packed, previous: Scenario.orders[1])], count: 3, [cause],
        cache: true, at: 3)
      let row = try #require(driver.state.feed.selected)
      #expect(row.isLocal && row.hasPendingWrites && row.batch == BatchID(5))
      #expect(driver.screen.contains("LOCAL   cp"))
    }
  }

  @Test("A document that a local write moves into a result is not labeled as local")
  func bystander() throws {
    var driver = listening()
    driver.client(.pendingWrites([pendingWrite(5, .delete, "orders/4hT0q9Lm", at: at(2), .queued)]), at: 2)
    Scenario.snapshot(
      &driver, ListenerTag(1),
      [
        .init(.removed, Scenario.orders[0], now: gone("orders/4hT0q9Lm", pending: .local)),
        .init(.added, Scenario.orders[2]),
      ],
      count: 3, [.localWrite(BatchID(5))], at: 3)
    let rows = driver.state.feed.rows.suffix(2)
    #expect(rows.map(\.isLocal) == [true, false])
    #expect(rows.map(\.batch) == [BatchID(5), nil])
  }

  @Test("A removed row says why: deleted here, deleted remotely or no longer matching")
  func removals() {
    func summary(of listener: Int, _ now: Document?, _ causes: [SnapshotCause] = [.fromServer]) -> String? {
      var driver = listening()
      Scenario.snapshot(
        &driver, ListenerTag(listener), [.init(.removed, Scenario.orders[0], now: now)], count: 2, causes, at: 3)
      return driver.state.feed.selected?.summary
    }
    let sent = document("orders/4hT0q9Lm", at: 2, ["status": "sent", "total": 42.5])
    for listener in 1...2 {
      #expect(summary(of: listener, gone("orders/4hT0q9Lm")) == "deleted at the server")
      #expect(
        summary(of: listener, gone("orders/4hT0q9Lm", pending: .local), [.localWrite(BatchID(5))]) == "deleted here")
    }
    #expect(summary(of: 2, sent) == "no longer matches · status \"paid\"→\"sent\"")
    // Where nothing is known, nothing is claimed but what must be.
    #expect(summary(of: 1, nil) == "deleted")
    #expect(summary(of: 2, nil) == "left the results")
  }

  @Test("A document pushed beyond the limit is not shown as deleted")
  func limit() {
    var driver = listening()
    _ = driver.state.listen(to: Query(path: ResourcePath("orders"), limit: 3), name: "three")
    Scenario.snapshot(&driver, ListenerTag(3), [.init(.removed, Scenario.orders[0])], count: 3, [.fromServer], at: 3)
    #expect(driver.state.feed.selected?.summary == "outside the limit of 3")
  }

  @Test("A deletion's feed row shows the pending batch, then the acknowledgement")
  func deletion() throws {
    var driver = listening()
    driver.client(.pendingWrites([pendingWrite(5, .delete, "orders/4hT0q9Lm", at: at(2), .queued)]), at: 2)
    Scenario.snapshot(
      &driver, ListenerTag(1),
      [.init(.removed, Scenario.orders[0], now: gone("orders/4hT0q9Lm", pending: .local))], count: 2,
      [.localWrite(BatchID(5))], pending: true, at: 3)
    let echo = try #require(driver.state.feed.selected)
    #expect(echo.hasPendingWrites && echo.isLocal && echo.batch == BatchID(5))

    driver.client(.writeAcknowledged(BatchID(5), after: .milliseconds(184)), at: 4)
    let row = try #require(driver.state.feed.selected)
    #expect(row.kind == .removed && !row.isLocal)
    #expect(row.listenerName == "all")
    #expect(row.summary == "#5 acknowledged after 2.0 s · deleted")
  }

  @Test("Documents of an acknowledged batch get feed rows even without listeners")
  func unwatched() {
    var driver = Driver(Self.size)
    var write = pendingWrite(5, .set, "stats/a", at: at(2), .queued)
    write.mutations[0].precondition = .exists(false)
    write.mutations.append(Mutation(key: key("stats/b"), operation: .delete))
    driver.client(.pendingWrites([write]), at: 2)
    driver.client(.writeAcknowledged(BatchID(5), after: .milliseconds(20)), at: 4)
    let rows = driver.state.feed.rows
    #expect(rows.map(\.kind) == [.added, .removed])
    #expect(
      rows.map(\.summary) == [
        "#5 acknowledged after 2.0 s", "#5 acknowledged after 2.0 s · deleted",
      ])
  }

  @Test("An acknowledgement row gets its round-trip time even if the snapshot comes first")
  func lateTime() {
    var driver = listening()
    driver.client(.pendingWrites([pendingWrite(5, .update, "orders/7Qf3xAzP", at: at(2), .inFlight)]), at: 2)
    let confirmed = document("orders/7Qf3xAzP", at: 3, ["status": "packed"])
    Scenario.snapshot(
      &driver, ListenerTag(1), [.init(.metadata, confirmed, previous: Scenario.packed)], count: 3,
      [.acknowledged(BatchID(5)), .fromServer], at: 2.2)
    #expect(driver.state.feed.selected?.summary == "#5 acknowledged")
    driver.client(.writeAcknowledged(BatchID(5), after: .milliseconds(184)), at: 2.2)
    #expect(driver.state.feed.selected?.summary == "#5 acknowledged, rtt 184 ms")
    #expect(driver.state.feed.rows.count { $0.acknowledges == BatchID(5) } == 1)
  }

  @Test("The open document shows a pending delete until it is acknowledged")
  func openDocument() {
    var driver = listening()
    let order = Scenario.orders[0]
    driver.press("1 j enter")
    let overlay = Mutation(key: order.key, operation: .delete)
    driver.client(
      .detail(order.key, remote: order, overlay: overlay, local: gone(order.key.path.text, pending: .local)), at: 3)
    #expect(driver.screen.contains("pending delete"))
    let committed = gone(order.key.path.text, pending: .committed)
    driver.client(.detail(order.key, remote: committed, overlay: nil, local: committed), at: 4)
    #expect(!driver.screen.contains("pending delete"))
    let done = gone(order.key.path.text)
    driver.client(.detail(order.key, remote: done, overlay: nil, local: done), at: 5)
    #expect(driver.screen.contains("does not exist"))
  }
}
