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

/// Only what the server has acknowledged is called so, in whatever order its news comes.
@Suite("Acknowledgements in the feed and history")
struct AcknowledgementTests {
  private static let old = document("cities/Rome", ["name": "Roma", "n": 1])
  private static let mine: Document = {
    var mine = document("cities/Rome", pending: .local, ["name": "Rome", "n": 1])
    mine.version = nil
    return mine
  }()
  private static let gone = Document(key: key("cities/Rome"), version: version(9_000_000_000_000_000), state: .missing)
  private static let notFound = RPCStatus(
    .notFound, "No document to update: projects/hearth/databases/(default)/documents/cities/Rome")

  /// A listener on `cities`, and an update of cities/Rome that was made offline and is being sent.
  private func writing(by seconds: Double = 2) -> Driver {
    var driver = Driver(Size(width: 120, height: 36))
    driver.client(.status(Scenario.status(0)), at: 0)
    driver.client(.collections(below: .root, ["cities"]), at: 0)
    driver.answerWindow([Self.old], total: 1, at: 0)
    driver.press("space")
    Scenario.snapshot(
      &driver, driver.listenTag, [.init(.added, Self.old)], count: 1, [.listenerAdded], synced: true, at: 1)
    driver.client(
      .pendingWrites([pendingWrite(1, .update, "cities/Rome", at: at(2), .inFlight, tries: 1)]), at: seconds)
    Scenario.snapshot(
      &driver, ListenerTag(1), [.init(.modified, Self.mine, previous: Self.old)], count: 1, [.localWrite(BatchID(1))],
      pending: true, at: seconds)
    return driver
  }

  private func deletedElsewhere(_ driver: inout Driver, previous: Document) {
    Scenario.snapshot(
      &driver, ListenerTag(1), [.init(.removed, previous, previous: previous, now: Self.gone)], count: 0,
      [.fromServer], at: 3)
  }

  private func reject(_ driver: inout Driver) {
    driver.client(.writeRejected(BatchID(1), Self.notFound), at: 3)
    driver.client(.pendingWrites([]), at: 3)
  }

  private func summaries(_ driver: Driver) -> [String] {
    driver.state.feed.rows.filter { $0.key == key("cities/Rome") }.suffix(2).map(\.summary)
  }

  @Test("The feed shows a create as acknowledged before the acknowledgement event arrives")
  func creation() {
    var driver = Driver(Size(width: 120, height: 36))
    driver.client(.status(Scenario.status(0)), at: 0)
    driver.client(.collections(below: .root, ["cities"]), at: 0)
    driver.answerWindow([], total: 0, at: 0)
    _ = driver.state.listen(to: .init(path: ResourcePath("cities")), name: "cities")
    Scenario.snapshot(&driver, ListenerTag(1), [], count: 0, [.listenerAdded], synced: true, at: 1)
    driver.client(.pendingWrites([pendingWrite(4, .set, "cities/Rome", at: at(2), .inFlight, tries: 1)]), at: 2)
    Scenario.snapshot(
      &driver, ListenerTag(1), [.init(.added, Self.mine)], count: 1, [.localWrite(BatchID(4))], pending: true, at: 2)
    let theirs = document("cities/Rome", at: 3, ["name": "Rome", "n": 1])
    Scenario.snapshot(
      &driver, ListenerTag(1), [.init(.metadata, theirs, previous: Self.mine)], count: 1, [.fromServer], at: 2.05)
    #expect(driver.state.feed.rows.last?.acknowledges == BatchID(4))
    driver.client(.writeAcknowledged(BatchID(4), after: .milliseconds(27)), at: 2.06)
    #expect(summaries(driver).last == "#4 acknowledged, rtt 27 ms")
  }

  @Test("After an update of a deleted document, the deletion and then the rejection show")
  func deletionFirst() {
    var driver = writing()
    deletedElsewhere(&driver, previous: Self.mine)
    reject(&driver)
    #expect(summaries(driver) == ["deleted at the server", "#1 rejected: not-found: No document to update"])
    #expect(driver.state.feed.rows.allSatisfy { $0.acknowledges == nil })
    let newest = driver.state.versions.newest(of: key("cities/Rome"))
    #expect(newest?.summary == "deleted at the server" && newest?.acknowledges == nil)
    #expect(driver.state.toasts.last?.text == "#1 cities/Rome rejected: not-found: No document to update")
  }

  @Test("If the rejection arrives before the deletion, the feed shows the rejection first")
  func rejectionFirst() {
    var driver = writing()
    reject(&driver)
    Scenario.snapshot(
      &driver, ListenerTag(1), [.init(.modified, Self.old, previous: Self.mine)], count: 1,
      [.rejected(BatchID(1), Self.notFound)], at: 3)
    deletedElsewhere(&driver, previous: Self.old)
    #expect(summaries(driver) == ["#1 rejected: not-found", "deleted at the server"])
    #expect(driver.state.feed.rows.allSatisfy { $0.acknowledges == nil })
    #expect(driver.state.versions.versions(of: key("cities/Rome")).allSatisfy { $0.acknowledges == nil })
  }

  @Test("A deletion and a rejection in one snapshot are both shown")
  func together() {
    var driver = writing()
    Scenario.snapshot(
      &driver, ListenerTag(1), [.init(.removed, Self.mine, previous: Self.mine, now: Self.gone)], count: 0,
      [.fromServer, .rejected(BatchID(1), Self.notFound)], at: 3)
    #expect(summaries(driver).last == "deleted at the server · #1 rejected: not-found")

    var created = Self.mine
    created.createTime = nil
    let missing = Document(key: key("cities/Rome"), version: nil, state: .missing)
    Scenario.snapshot(
      &driver, ListenerTag(1), [.init(.removed, created, previous: created, now: missing)], count: 0,
      [.rejected(BatchID(1), Self.notFound)], at: 4)
    #expect(summaries(driver).last == "#1 rejected: not-found")
  }

  @Test("A feed row shows an acknowledgement even if the snapshot does not name the write")
  func acknowledged() {
    var driver = writing()
    driver.client(.writeAcknowledged(BatchID(1), after: .milliseconds(31)), at: 2.05)
    let applied = document("cities/Rome", at: 3, ["name": "Rome", "n": 1])
    Scenario.snapshot(
      &driver, ListenerTag(1), [.init(.metadata, applied, previous: Self.mine)], count: 1, [.fromServer], at: 3)
    #expect(summaries(driver).last == "#1 acknowledged, rtt 31 ms")

    // A document that another changed is not part of a batch that is known no longer.
    let (before, after) = (document("cities/Oslo", ["n": 1]), document("cities/Oslo", at: 4, ["n": 2]))
    Scenario.snapshot(
      &driver, ListenerTag(1), [.init(.modified, after, previous: before)], count: 2,
      [.acknowledged(BatchID(77)), .fromServer], at: 4)
    #expect(driver.state.feed.rows.last?.summary == "n 1→2")
  }

  @Test("An acknowledgement row shows the write's age and its send attempts")
  func age() {
    var driver = writing()
    driver.client(.pendingWrites([pendingWrite(1, .update, "cities/Rome", at: at(2), .inFlight, tries: 2)]), at: 81)
    driver.client(.writeAcknowledged(BatchID(1), after: .milliseconds(3)), at: 82)
    let applied = document("cities/Rome", at: 82, ["name": "Rome", "n": 1])
    Scenario.snapshot(
      &driver, ListenerTag(1), [.init(.metadata, applied, previous: Self.mine)], count: 1,
      [.acknowledged(BatchID(1)), .fromServer], at: 82)
    #expect(summaries(driver).last == "#1 acknowledged after 80 s, 2 tries")
    #expect(
      WriteAnswer(BatchID(2), after: .milliseconds(9), age: .milliseconds(40)).text == "#2 acknowledged, rtt 9 ms")
    #expect(
      WriteAnswer(BatchID(2), after: .milliseconds(9), age: .seconds(125)).text
        == "#2 acknowledged after 2:05")
  }

  @Test("A write that is acknowledged before the queue lists it has feed rows")
  func unlisted() {
    var driver = writing()
    let mutations = [
      set("cities/Oslo", ["n": 1], .exists(false)), delete("cities/Bern"), patch("cities/Bonn", ["n": 2]),
      patch("cities/Oslo", ["n": 3]),
    ]
    driver.client(
      .writeAcknowledged(BatchID(7), after: .milliseconds(31), of: WrittenDocuments(of: mutations)), at: 3)
    let rows = driver.state.feed.rows.suffix(3)
    #expect(rows.map { $0.key?.documentID } == ["Oslo", "Bern", "Bonn"])
    #expect(rows.map(\.kind) == [.added, .removed, .modified])
    #expect(
      rows.map(\.summary) == [
        "#7 acknowledged, rtt 31 ms", "#7 acknowledged, rtt 31 ms · deleted", "#7 acknowledged, rtt 31 ms",
      ])
    #expect(rows.allSatisfy { $0.acknowledges == BatchID(7) })

    // Of a large batch the first documents have rows, and the others a number.
    let many = WrittenDocuments(of: (0..<480).map { set("cities/c\($0)") })
    driver.client(.writeAcknowledged(BatchID(8), after: nil, of: many), at: 4)
    #expect(driver.state.feed.rows.last?.summary == "#8 acknowledged · 460 more documents")
    #expect(driver.state.feed.rows.count { $0.acknowledges == BatchID(8) } == 20)

    // A queue that was seen says more than the answer does.
    driver.client(
      .writeAcknowledged(BatchID(1), after: .milliseconds(5), of: WrittenDocuments(of: [set("cities/Wien")])), at: 5)
    #expect(driver.state.feed.rows.allSatisfy { $0.key != key("cities/Wien") })
  }

  @Test("A write's acknowledgement gets a feed row even if a later write is pending")
  func covered() {
    var driver = writing()
    driver.client(
      .pendingWrites([
        pendingWrite(1, .update, "cities/Rome", at: at(2), .inFlight, tries: 1),
        pendingWrite(2, .update, "cities/Rome", at: at(2.1), .inFlight, tries: 1),
      ]), at: 2.1)
    driver.client(.writeAcknowledged(BatchID(1), after: .milliseconds(5)), at: 2.2)
    #expect(driver.state.feed.rows.last?.summary == "#1 acknowledged, rtt 5 ms")
    #expect(driver.state.feed.rows.last?.key == key("cities/Rome"))
  }

  @Test("A rejection's feed row shows its document once the rejected write is listed")
  func resent() {
    var driver = writing()
    driver.client(.writeRejected(BatchID(4), Self.notFound), at: 5)
    #expect(driver.state.feed.rows.last?.key == nil)
    let write = RejectedWrite(
      id: BatchID(4), mutations: [patch("cities/Rome", ["n": 2])], localWriteTime: at(4),
      rejection: Rejection(status: Self.notFound, time: at(5), attempts: 1), byteCount: 20)
    driver.client(.rejectedWrites([write]), at: 5)
    #expect(driver.state.feed.rows.last?.key == key("cities/Rome"))
  }

  @Test("Error messages start with the code, the reason and the database path")
  func relative() {
    #expect(Self.notFound.lineText == "not-found: No document to update: cities/Rome")
    #expect(Self.notFound.lineText(beside: key("cities/Rome")) == "not-found: No document to update")
    #expect(Self.notFound.lineText(beside: key("cities/Oslo")) == Self.notFound.lineText)
    let other = RPCStatus(.internal, "projects/ and projects/a/b are no names")
    #expect(other.lineText.hasSuffix("projects/ and projects/a/b are no names"))
  }
}
