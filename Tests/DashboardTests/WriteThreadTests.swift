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

/// What belongs to one write, and what an outage came to.
@Suite("Write tracing")
struct WriteThreadTests {
  private static let size = Size(width: 120, height: 36)

  private func marks(_ driver: Driver) -> Int {
    let canvas = driver.canvas()
    return (0..<canvas.size.height).reduce(0) {
      $0 + canvas.text(row: $1).count { String($0) == Glyphs.unicode.related }
    }
  }

  @Test("The selected write highlights its snapshots, outcome and document")
  func thread() {
    var driver = Scenario.online.play(Self.size)
    let before = marks(driver)
    driver.press("2 g")
    #expect(driver.state.threadBatch == BatchID(42))
    // The echo in the feed, and the document in the tree.
    #expect(marks(driver) == before + 2)
    driver.client(.writeAcknowledged(BatchID(42), after: .milliseconds(31)), at: 19)
    let packed = document("orders/7Qf3xAzP", at: 19, ["status": "packed"])
    Scenario.snapshot(
      &driver, ListenerTag(2), [.init(.modified, packed, previous: Scenario.packed)], count: 3, [.fromServer], at: 19)
    #expect(marks(driver) == before + 3)
    driver.press("3")
    #expect(marks(driver) == before)
  }

  @Test("A row of the paused feed highlights its write's rows and queue entry")
  func fromTheFeed() {
    var driver = Scenario.online.play(Self.size)
    driver.press("4 k")
    while driver.state.feed.selected?.batch != BatchID(43), driver.state.feed.cursor.index > 0 { driver.press("k") }
    #expect(driver.state.threadBatch == BatchID(43))
    #expect(driver.state.threadDocuments == [key("orders/8sW1bnRk")])
    #expect(marks(driver) == 2)
  }

  @Test("Enter on a write shows its fields and timeline, and then o opens its document")
  func contents() {
    var driver = Scenario.online.play(Self.size)
    driver.press("2 g enter")
    for text in ["#42 update orders/7Qf3xAzP", "made 12:04:16.880", "echo 12:04:16.880 in orders", "server time"] {
      #expect(driver.screen.contains(text), "\(text)")
    }
    driver.press("o")
    #expect(driver.effects == [.client(.openDetail(key("orders/7Qf3xAzP")))])
  }

  @Test("An acknowledged document counts as changed remotely if it differs from the write")
  func alsoMine() {
    let key = key("cities/SF")
    func city(_ name: String, _ n: Value, pending: Document.PendingWrites = .none) -> Document {
      document(key.path.text, at: 5, pending: pending, ["name": .string(name), "n": n])
    }
    var queue = WriteQueue()
    queue.replace(with: [pendingWrite(1, .update, key.path.text, at: at(1), .inFlight)])
    func changes(_ old: Document, _ new: Document, _ causes: [SnapshotCause]) -> Int {
      let change = ListenerSnapshot.Change(.modified, new, previous: old)
      return ChangesByOthers(
        ListenerSnapshot(
          listener: ListenerTag(1), changes: [change], isFromCache: false, syncStateChanged: true,
          hasPendingWrites: false, count: 1, causes: causes), queue
      ).changes.count
    }
    let mine = city("zzz", 1, pending: .local)
    #expect(changes(mine, city("yyy", 1), [.acknowledged(BatchID(1)), .fromServer]) == 1)
    #expect(changes(mine, city("zzz", 1), [.acknowledged(BatchID(1)), .fromServer]) == 0)
    #expect(changes(city("a", 1), mine, [.localWrite(BatchID(1))]) == 0)
    let timed = city("zzz", .serverTimestamp(ServerTimestamp(localWriteTime: at(1), previous: nil)), pending: .local)
    #expect(changes(timed, city("zzz", .timestamp(at(2))), [.acknowledged(BatchID(1)), .fromServer]) == 0)
  }

  @Test("A rejected write can be opened with the server's error")
  func rejected() {
    var driver = Scenario.online.play(Self.size)
    driver.client(.writeRejected(BatchID(44), RPCStatus(.permissionDenied, "only admins")), at: 18)
    driver.press("2 G enter")
    #expect(driver.screen.contains("#44 delete users/grace"))
    #expect(driver.screen.contains("only admins") && driver.screen.contains("deleted"))
  }

  // MARK: Reconnecting

  @Test("The feed summarizes a reconnect: duration, writes sent and changes received")
  func reconnection() throws {
    var driver = Driver(Self.size)
    driver.client(.status(Scenario.status(0)), at: 0)
    _ = driver.state.listen(to: Query(path: ResourcePath("orders")), name: "orders")
    Scenario.snapshot(
      &driver, ListenerTag(1), Scenario.orders.map { .init(.added, $0) }, count: 3, [.listenerAdded], synced: true,
      at: 1)
    driver.client(.status(Scenario.status(2, isEnabled: false)), at: 2)
    Scenario.snapshot(&driver, ListenerTag(1), [], count: 3, [.networkDisabled], synced: true, cache: true, at: 2)
    let waiting = (1...3).map { pendingWrite(Int64($0), .update, "orders/9aaPq2Xc", at: at(3), .held) }
    driver.client(.pendingWrites(waiting), at: 3)
    driver.client(.status(Scenario.status(44)), at: 44)
    // A card says so at once; the row comes below what it announces.
    for text in ["back online 12:04:44 after 0:42", "3 writes to send · 0 documents changed by others · 1 listener"] {
      #expect(driver.screen.contains(text), "\(text)")
    }
    #expect(driver.state.feed.rows.allSatisfy { !$0.summary.hasPrefix("online") })

    driver.client(.writeAcknowledged(BatchID(1), after: .milliseconds(20)), at: 44.5)
    driver.client(.writeAcknowledged(BatchID(2), after: .milliseconds(20)), at: 45.2)
    let other = document("orders/4hT0q9Lm", at: 30, ["status": "sent", "total": 42.5])
    Scenario.snapshot(
      &driver, ListenerTag(1), [.init(.modified, other, previous: Scenario.orders[0])], count: 3, [.fromServer],
      synced: true, at: 45.2)
    driver.client(.writeRejected(BatchID(3), RPCStatus(.permissionDenied, "no")), at: 45.2)
    driver.client(
      .conflict(
        WriteConflict(
          batch: BatchID(1), key: key("orders/9aaPq2Xc"),
          fields: [.init(path: FieldPath("n"), base: 0, mine: 1, theirs: 2)], commitTime: SnapshotVersion(at(44)))),
      at: 45.3)
    let card = try #require(driver.state.feed.rows.last { $0.kind == .divider })
    #expect(
      card.summary
        == "online 12:04:44 after 0:42 · 3 writes answered in 1.2 s, made up to 42 s before · "
        + "1 rejected · 1 conflicting · 2 documents changed by others")
    #expect(driver.screen.contains("orders ~1"), "by listener")
    driver.press("4")
    #expect(!driver.screen.contains("back online"), "a key takes the card away")

    // What comes later is no part of it.
    driver.client(.writeAcknowledged(BatchID(9), after: .milliseconds(20)), at: 50)
    #expect(driver.state.feed.rows.last { $0.kind == .divider }?.summary == card.summary)

    driver.press("4 p g")
    while driver.state.feed.selected?.id != card.id, driver.state.feed.cursor.index < driver.state.feed.shown.count - 1
    {
      driver.press("j")
    }
    driver.press("enter")
    #expect(driver.state.feed.shown.count < driver.state.feed.rows.count, "only its rows")
    #expect(driver.screen.contains("only reconnection 12:04:44"))
    while driver.state.feed.selected?.id != card.id, driver.state.feed.cursor.index < driver.state.feed.shown.count - 1
    {
      driver.press("j")
    }
    driver.press("enter")
    for text in ["orders/4hT0q9Lm", "by others", "#3 rejected", "#1 conflicting", "replaced n"] {
      #expect(driver.screen.contains(text), "\(text)")
    }
  }
}
