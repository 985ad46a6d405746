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

/// What Diff and History know of a document.
@Suite("Document versions")
struct VersionHistoryTests {
  private static let size = Size(width: 120, height: 36)

  private func order(_ status: String, at seconds: Double, pending: Document.PendingWrites = .none) -> Document {
    var order = document("orders/a", at: seconds, pending: pending, ["status": .string(status)])
    if pending == .local { order.version = nil }
    return order
  }

  /// An open document that nobody listens to.
  private func opened() -> Driver {
    var driver = Driver(Self.size)
    driver.client(.status(Scenario.status(0)), at: 0)
    driver.client(.collections(below: .root, ["orders"]), at: 0)
    driver.answerWindow([order("new", at: 0)], total: 1, at: 0)
    driver.press("1 j enter")
    driver.client(
      .detail(key("orders/a"), remote: order("new", at: 0), overlay: nil, local: order("new", at: 0)), at: 1)
    return driver
  }

  @Test("A version that was seen before a listener was added does not name the listener")
  func firstSight() {
    var driver = opened()
    _ = driver.state.listen(to: .init(path: ResourcePath("orders")), name: "orders")
    Scenario.snapshot(
      &driver, ListenerTag(1), [.init(.added, order("new", at: 0))], count: 1, [.listenerAdded], synced: true, at: 3)
    let versions = driver.state.versions.versions(of: key("orders/a"))
    #expect(versions.map(\.summary) == ["first seen by the tree"] && versions.map(\.why) == [nil])
  }

  @Test("The history names the reader that saw a document first")
  func firstReader() {
    var driver = Driver(Self.size)
    driver.client(.status(Scenario.status(0)), at: 0)
    _ = driver.state.openDetail(key("orders/a"))
    driver.client(
      .detail(key("orders/a"), remote: order("new", at: 0), overlay: nil, local: order("new", at: 0)), at: 1)
    #expect(driver.state.versions.newest(of: key("orders/a"))?.summary == "first seen by the open document")

    _ = driver.state.listen(to: .init(path: ResourcePath("users")), name: "users")
    Scenario.snapshot(
      &driver, ListenerTag(1), [.init(.added, document("users/a", at: 1, ["n": 1]))], count: 1, [.listenerAdded],
      synced: true, at: 3)
    #expect(driver.state.versions.newest(of: key("users/a"))?.why == "listener added")
  }

  @Test("The open document has a history without a listener")
  func openDocument() {
    var driver = opened()
    let patch = Mutation(
      key: key("orders/a"), operation: .patch(["status": "paid"], FieldMask([FieldPath("status")])))
    driver.client(.pendingWrites([pendingWrite(4, .update, "orders/a", at: at(2), .inFlight)]), at: 2)
    driver.client(
      .detail(
        key("orders/a"), remote: order("new", at: 0), overlay: patch, local: order("paid", at: 2, pending: .local)),
      at: 2)
    driver.client(.writeAcknowledged(BatchID(4), after: .milliseconds(31)), at: 3)
    driver.client(
      .detail(key("orders/a"), remote: order("paid", at: 3), overlay: nil, local: order("paid", at: 3)), at: 3)
    driver.client(
      .detail(key("orders/a"), remote: order("sent", at: 4), overlay: nil, local: order("sent", at: 4)), at: 4)

    driver.press("] ]")
    let versions = driver.state.versions.versions(of: key("orders/a"))
    #expect(
      versions.map(\.summary) == [
        "first seen by the tree", "status \"new\"→\"paid\"", "#4 acknowledged, rtt 31 ms", "status \"paid\"→\"sent\"",
      ])
    #expect(versions.map(\.isLocal) == [false, true, false, false])
    #expect(versions[1].batch == BatchID(4))
    #expect(driver.screen.contains("first seen"))

    // Diff compares the newest with the one before, and steps back.
    driver.press("[")
    #expect(driver.screen.contains("\"paid\"") && driver.screen.contains("\"sent\""))
    driver.press(", ,")
    #expect(driver.screen.contains("\"new\"") && driver.screen.contains("2 back"))
    driver.press(".")
    #expect(driver.screen.contains("no field differs"))
  }

  @Test("Versions of browsed documents are recorded before a document is opened")
  func browser() {
    var driver = Driver(Self.size)
    driver.client(.collections(below: .root, ["orders"]), at: 0)
    driver.answerWindow([order("new", at: 0)], total: 1, at: 0)
    let tag = driver.state.browser.windows[ResourcePath("orders")]?.shown?.tag ?? WindowTag(0)
    driver.client(.windowLoaded(tag, [order("paid", at: 5)], isFromCache: false, total: nil), at: 5)
    driver.press("1 j enter ]")
    #expect(driver.screen.contains("\"new\"") && driver.screen.contains("\"paid\""))
  }

  @Test("Enter on a history or feed row opens the diff of that version")
  func enter() {
    var driver = opened()
    let listener = driver.state.listen(to: Query(path: ResourcePath("orders")), name: "orders")
    #expect(listener.count == 1)
    for (index, pair) in zip(["new", "paid", "sent"], ["paid", "sent", "lost"]).enumerated() {
      Scenario.snapshot(
        &driver, ListenerTag(1),
        [.init(.modified, order(pair.1, at: 5 + Double(index)), previous: order(pair.0, at: 4 + Double(index)))],
        count: 1, [.fromServer], at: 5 + Double(index))
    }
    driver.press("] ] j enter")
    #expect(driver.state.detail?.tab == .diff)
    #expect(driver.screen.contains("\"paid\"") && driver.screen.contains("\"sent\""))
    #expect(driver.screen.contains("1 back"))

    driver.press("esc 4 k k enter")
    #expect(driver.state.detail?.key == key("orders/a") && driver.state.detail?.tab == .diff)
    #expect(driver.screen.contains("2 back"))

    // The newest is followed.
    driver.press("esc 4 G enter")
    #expect(driver.state.detail?.version == nil)
  }

  @Test("A version that several listeners report is recorded once")
  func once() {
    var driver = opened()
    _ = driver.state.listen(to: Query(path: ResourcePath("orders")), name: "a")
    _ = driver.state.listen(to: Query(path: ResourcePath("orders"), limit: 5), name: "b")
    for tag in [1, 2] {
      Scenario.snapshot(
        &driver, ListenerTag(tag), [.init(.modified, order("paid", at: 5), previous: order("new", at: 0))], count: 1,
        [.fromServer], at: 5)
    }
    let tag = driver.state.browser.windows[ResourcePath("orders")]?.shown?.tag ?? WindowTag(0)
    driver.client(.windowLoaded(tag, [order("new", at: 0)], isFromCache: false, total: nil), at: 6)
    #expect(driver.state.versions.versions(of: key("orders/a")).count == 2)
    #expect(Set(driver.state.feed.rows.compactMap(\.version)).count == 1)
  }

  @Test("A deletion is a version, and its diff shows the removed fields")
  func deletion() {
    var driver = opened()
    let gone = Document(key: key("orders/a"), version: version(9_000_000_000_000_000), state: .missing)
    driver.client(.detail(key("orders/a"), remote: gone, overlay: nil, local: gone), at: 9)
    let versions = driver.state.versions.versions(of: key("orders/a"))
    #expect(versions.map(\.kind) == [.synced, .removed])
    #expect(versions.last?.summary == "deleted at the server")
    driver.press("]")
    #expect(driver.screen.contains("-  status"))
  }

  @Test("A document's first known version has no diff, unless it created the document")
  func first() {
    var driver = opened()
    driver.press("]")
    #expect(driver.screen.contains("no earlier one to compare it with"))
    var driver2 = Driver(Self.size)
    var created = order("new", at: 0)
    created.createTime = created.version
    driver2.client(.collections(below: .root, ["orders"]), at: 0)
    driver2.answerWindow([created], total: 1, at: 0)
    driver2.press("1 j enter ]")
    #expect(driver2.screen.contains("+  status"))
  }

  @Test("The history is limited by versions and bytes, and drops the oldest versions")
  func bounds() {
    func version(_ number: Int, _ text: String) -> VersionHistory.Version {
      VersionHistory.Version(
        time: at(0), document: document("orders/a\(number)", ["text": .string(text)]), kind: .synced, isLocal: false,
        summary: "")
    }
    var many = VersionHistory()
    for number in 0..<5_000 { many.note(version(number, "short")) }
    #expect(many.count <= VersionHistory.capacity + 256)
    #expect(many.count + many.forgotten == 5_000)
    #expect(many.newest(of: key("orders/a4999")) != nil && many.newest(of: key("orders/a0")) == nil)

    var large = VersionHistory()
    let megabyte = String(repeating: "x", count: 1 << 20)
    for number in 0..<20 { large.note(version(number, megabyte)) }
    #expect(large.byteCount <= VersionHistory.byteLimit)
    #expect(large.newest(of: key("orders/a19")) != nil)
    large.note(version(20, String(repeating: megabyte, count: 40)))
    #expect(large.newest(of: key("orders/a20")) != nil && large.count == 1)
  }

  /// An open document with four versions: new, paid, sent, lost.
  private func fourVersions() -> Driver {
    var driver = opened()
    for (index, status) in ["paid", "sent", "lost"].enumerated() {
      let order = order(status, at: 5 + Double(index))
      driver.client(.detail(key("orders/a"), remote: order, overlay: nil, local: order), at: 5 + Double(index))
    }
    return driver
  }

  @Test("b marks a version, and stepping compares other versions with it")
  func anyTwo() {
    var driver = fourVersions()
    // The newest is marked, and the first one stepped to: of two the older one stands before.
    driver.press("] b , , ,")
    #expect(driver.screen.contains("from 12:04:07") && driver.state.detail?.base != nil)
    #expect(driver.screen.contains("\"new\"") && driver.screen.contains("\"lost\""), "\(driver.screen)")
    let pair = driver.state.detail.map { DetailContent.comparedVersions($0, driver.state) }
    #expect(pair?.old?.document.data?.fields["status"] == "new" && pair?.new?.document.data?.fields["status"] == "lost")

    // The second one is marked in the history, the third one opened there.
    driver.press("] j j b")
    #expect(driver.screen.contains("from here"))
    driver.press("k enter")
    #expect(driver.state.detail?.tab == .diff)
    #expect(driver.screen.contains("\"paid\"") && driver.screen.contains("\"sent\""))

    // The mark is taken away where it was set.
    driver.press("] g j j b [")
    #expect(driver.state.detail?.base == nil)
  }

  @Test("A marked version that was dropped is reported and not replaced")
  func lostMark() {
    var driver = fourVersions()
    driver.state.detail?.base = 100_000
    driver.press("]")
    #expect(driver.screen.contains("the marked version is no longer kept"))
  }

  @Test("# opens the local write that caused a version")
  func causingWrite() {
    var driver = opened()
    let patch = Mutation(
      key: key("orders/a"), operation: .patch(["status": "paid"], FieldMask([FieldPath("status")])))
    driver.client(.pendingWrites([pendingWrite(4, .update, "orders/a", at: at(2), .inFlight)]), at: 2)
    driver.client(
      .detail(
        key("orders/a"), remote: order("new", at: 0), overlay: patch, local: order("paid", at: 2, pending: .local)),
      at: 2)
    driver.press("#")
    #expect(driver.screen.contains("#4 update orders/a"), "\(driver.screen)")
    driver.press("esc ] ] j #")
    #expect(driver.state.toasts.last?.text.contains("no write of this client caused it") == true)
  }

  @Test("A dropped version is reported as dropped, not as never seen")
  func forgotten() {
    var driver = opened()
    driver.state.detail?.version = 100_000
    driver.press("]")
    #expect(driver.screen.contains("no longer kept"))
    #expect(!driver.screen.contains("no version was seen"))
  }
}
