// SPDX-License-Identifier: Apache-2.0
import ClientPort
import FirestoreClientState
import FirestoreModel
import FirestoreTesting
import TerminalTesting
import Testing

@testable import Dashboard
@testable import DashboardModel

@Suite("Conflicts between clients on one screen")
struct ClientSetConflictTests {
  private func update(_ value: Value, _ path: String = "cities/SF") -> Mutation {
    Mutation(
      key: key(path), operation: .patch(["population": value], FieldMask([FieldPath("population")])),
      precondition: .exists(true))
  }

  private func applied(_ batch: Int64, _ mutation: Mutation, at seconds: Double) -> ClientEvent {
    .answered(
      AnsweredWrite(batch: BatchID(batch), mutations: [mutation], commitTime: SnapshotVersion(at(seconds))))
  }

  private func conflict(_ batch: Int64, base: Value?, mine: Value?, theirs: Value?, at seconds: Double) -> ClientEvent {
    .conflict(
      WriteConflict(
        batch: BatchID(batch), key: key("cities/SF"),
        fields: [WriteConflict.Field(path: FieldPath("population"), base: base, mine: mine, theirs: theirs)],
        commitTime: SnapshotVersion(at(seconds))))
  }

  /// The conflicts that a client's feed tells by name.
  private func told(_ driver: ClientSetDriver, _ name: String) -> [String] {
    driver.state(name).feed.rows.filter { $0.kind == .conflict && $0.summary.hasPrefix("conflict: ") }
      .map(\.summary)
  }

  @Test("Both clients report a write that replaced a value that its writer had not seen")
  func replaced() {
    var driver = ClientSetDriver.shared()
    driver.tell("one", applied(3, update(1), at: 10), at: 10)
    driver.tell("bob", applied(1, update(2), at: 12.4), at: 12.5)
    driver.tell("bob", conflict(1, base: 0, mine: 2, theirs: 1, at: 12.4), at: 12.6)
    #expect(
      told(driver, "bob") == ["conflict: 2 replaced one's population 1, 2.4 s later, saw 0"])
    #expect(
      told(driver, "one")
        == ["conflict: bob replaced population 1 with 2, 2.4 s later, unseen by bob"])
    #expect(driver.state("bob").feed.rows.count { $0.kind == .conflict } == 1, "a conflict has one row")
    #expect(driver.toasts.contains("conflict with bob in cities/SF"))
    #expect(driver.state("bob").feed.rows.last?.ends == BatchID(1))
    #expect(driver.state("one").feed.rows.last?.ends == BatchID(3))
  }

  @Test("A write conflict is reported even if the earlier write's response arrives last")
  func lateAnswer() {
    var driver = ClientSetDriver.shared()
    driver.tell("bob", conflict(1, base: 0, mine: 2, theirs: 1, at: 12), at: 12)
    #expect(told(driver, "bob").isEmpty)
    driver.tell("one", applied(3, update(1), at: 10), at: 13)
    #expect(told(driver, "bob").count == 1 && told(driver, "one").count == 1)
    driver.tell("one", applied(4, update(5), at: 14), at: 14)
    #expect(told(driver, "bob").count == 1, "once")
  }

  @Test("An outside client's write is not a conflict between the clients on the screen")
  func outside() {
    var driver = ClientSetDriver.shared()
    driver.tell("one", applied(3, update(1), at: 10), at: 10)
    driver.tell("bob", conflict(1, base: 0, mine: 2, theirs: 7, at: 12), at: 12)
    #expect(told(driver, "bob").isEmpty && told(driver, "one").isEmpty)
    #expect(driver.state("bob").feed.rows.contains { $0.kind == .conflict }, "bob's own row tells it all the same")
  }

  @Test("Later writes and writes to other documents are not reported as a conflict")
  func unrelated() {
    var driver = ClientSetDriver.shared()
    driver.tell("one", applied(3, update(1), at: 15), at: 15)
    driver.tell("one", applied(4, update(1, "cities/LA"), at: 9), at: 15)
    driver.tell("bob", conflict(1, base: 0, mine: 2, theirs: 1, at: 12), at: 16)
    #expect(told(driver, "bob").isEmpty && told(driver, "one").isEmpty)
  }

  @Test("Deleting a document with unseen changes is reported as a conflict")
  func deleted() {
    var driver = ClientSetDriver.shared()
    driver.tell("one", applied(3, update(1), at: 10), at: 10)
    driver.tell("bob", conflict(1, base: 0, mine: nil, theirs: 1, at: 11), at: 11)
    #expect(told(driver, "bob") == ["conflict: removed one's population 1, 1.0 s later, saw 0"])
  }

  private func refused(_ code: StatusCode, _ mutation: Mutation, existed: Bool?) -> ClientEvent {
    .answered(
      AnsweredWrite(
        batch: BatchID(5), mutations: [mutation], commitTime: nil, refusal: code,
        existed: existed.map { [mutation.key: $0] } ?? [:]))
  }

  @Test("An update rejected after another client's delete is reported by both clients")
  func refusedUpdate() {
    var driver = ClientSetDriver.shared()
    driver.tell("one", applied(3, Mutation(key: key("cities/SF"), operation: .delete), at: 10), at: 10)
    driver.tell("bob", refused(.notFound, update(2), existed: true), at: 13)
    #expect(told(driver, "bob") == ["conflict: one had deleted it; #5 was rejected, not-found, 3.0 s later"])
    #expect(told(driver, "one") == ["conflict: bob's write was rejected, not-found, 3.0 s after #3 had deleted it"])
  }

  @Test("A create that lost a race is reported as a conflict; other rejections are not")
  func refusedOthers() {
    let create = Mutation(key: key("cities/SF"), operation: .set(["population": 1]), precondition: .exists(false))
    var driver = ClientSetDriver.shared()
    driver.tell("one", applied(3, create, at: 10), at: 10)
    driver.tell("bob", refused(.permissionDenied, create, existed: false), at: 11)
    driver.tell("bob", refused(.alreadyExists, create, existed: true), at: 12)
    driver.tell("bob", refused(.alreadyExists, create, existed: nil), at: 12)
    #expect(told(driver, "bob").isEmpty)
    driver.tell("bob", refused(.alreadyExists, create, existed: false), at: 13)
    #expect(told(driver, "bob").count == 1 && told(driver, "bob")[0].contains("one had created it"))
  }

  @Test("A new client that reuses a name inherits no conflicts")
  func forgotten() {
    var driver = ClientSetDriver.shared()
    driver.tell("bob", applied(3, update(1), at: 10), at: 10)
    driver.run("client remove bob")
    driver.run("client add bob")
    driver.tell("one", conflict(1, base: 0, mine: 2, theirs: 1, at: 12), at: 12)
    #expect(told(driver, "one").isEmpty && told(driver, "bob").isEmpty)
  }

  @Test("The report of a conflict in many fields names two fields and counts the others")
  func conflictText() {
    let many = (1...4).map { WriteConflict.Field(path: FieldPath("f\($0)"), base: nil, mine: 1, theirs: 2) }
    let conflict = ClientConflict(
      key: key("a/b"), other: "bob", batch: BatchID(1), isLater: true,
      outcome: .replaced(many, after: .milliseconds(5)))
    #expect(
      conflict.text(bullet: "·")
        == "conflict: 1 replaced bob's f1 2, 5 ms later, saw nothing · "
        + "1 replaced bob's f2 2, 5 ms later, saw nothing · 2 more fields")
  }
}
