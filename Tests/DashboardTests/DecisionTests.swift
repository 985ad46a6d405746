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

/// What is asked before something is overwritten, and what is said of what was.
@Suite("Conflict and undo questions")
struct DecisionTests {
  private static let again = EditRequest(.document(key("orders/a")), text: "{}")
  private static let conflict = EditConflict(
    key: key("orders/a"),
    fields: [
      .init(path: FieldPath("status"), base: "flash", mine: "mine", theirs: "theirs"),
      .init(path: FieldPath("total"), base: 1, mine: 2, theirs: 1),
    ],
    isDeleted: false, overwriting: [patch("orders/a", ["status": "mine", "total": 2])],
    keepingTheirs: [patch("orders/a", ["total": 2])], replacing: [set("orders/a", ["status": "mine", "total": 2])],
    again: .text(again))

  @Test("Editing a remotely changed document shows both versions and waits for an answer")
  func edit() {
    var driver = Driver(Size(width: 80, height: 24))
    driver.host(.editConflict(Self.conflict), at: 1)
    #expect(driver.effects.isEmpty)
    for text in ["\"flash\"", "\"mine\"", "\"theirs\"", "! status", "Nothing is written yet"] {
      #expect(driver.screen.contains(text), "\(text)")
    }
    driver.press("enter")
    #expect(driver.effects == [.terminal(.edit(Self.again))])
  }

  @Test("Each answer to an edit conflict writes what its label says", arguments: ["o", "t", "w", "c", "esc"])
  func answers(_ key: String) {
    var driver = Driver(Size(width: 80, height: 24))
    driver.host(.editConflict(Self.conflict), at: 1)
    driver.press(key)
    let written: [Mutation]? =
      switch key {
      case "o": Self.conflict.overwriting
      case "t": Self.conflict.keepingTheirs
      case "w": Self.conflict.replacing
      default: nil
      }
    #expect(driver.effects == written.map { [.client(.write($0))] } ?? [])
    if written == nil { #expect(driver.state.toasts.last?.text.contains("Nothing was written") == true) }
    #expect(driver.state.overlay == nil)
  }

  @Test("Undoing over remote changes lists those changes first, and Enter cancels", arguments: [false, true])
  func undo(_ isRedo: Bool) {
    let field = WriteConflict.Field(path: FieldPath("status"), base: "paid", mine: "packed", theirs: "sent")
    let conflict = UndoConflict(
      batch: BatchID(7), isRedo: isRedo,
      documents: [
        .init(
          key: key("orders/a"), left: ["status": "paid"], now: ["status": "sent"], writing: .init(.fields, [field]))
      ])
    var driver = Driver(Size(width: 80, height: 24))
    driver.host(.undoConflict(conflict), at: 1)
    #expect(
      driver.screen.contains("orders/a") && driver.screen.contains("\"paid\"") && driver.screen.contains("\"sent\""))
    driver.press("enter")
    #expect(driver.effects.isEmpty && driver.state.overlay == nil)

    driver.host(.undoConflict(conflict), at: 2)
    driver.press("a")
    #expect(driver.effects == [.client(isRedo ? .redo(over: conflict) : .undo(over: conflict))])
  }

  @Test("The undo question lists affected fields and marks those changed since the write")
  func exactly() {
    let mutation = Mutation(
      key: key("orders/a"), operation: .patch(["population": 111], FieldMask([FieldPath("population")])),
      precondition: .exists(true), transforms: [FieldTransform(path: FieldPath("n"), operation: .increment(-1))])
    let left: Fields = ["name": "zzz", "population": 222, "n": 5]
    let now: Fields = ["name": "yyy", "population": 555, "n": 5]
    let writing = UndoConflict.Writing(mutation, left: left, now: now)
    #expect(
      writing.fields == [
        .init(path: FieldPath("n"), base: 5, mine: 4, theirs: 5),
        .init(path: FieldPath("population"), base: 222, mine: 111, theirs: 555),
      ])
    let decision = Decision(
      UndoConflict(
        batch: BatchID(11), isRedo: false,
        documents: [.init(key: key("orders/a"), left: left, now: now, writing: writing)]))
    #expect(decision.rows.map(\.cells) == [["n", "5", "5", "4"], ["population", "222", "555", "111"]])
    #expect(decision.rows.map(\.isDisputed) == [false, true])
    #expect(decision.heads.last == "will be")
  }

  @Test("Undoing a create lists the deletion and the fields that it would remove")
  func deletion() {
    let (left, now): (Fields, Fields) = (["n": 1], ["n": 1, "theirs": 2])
    let mutation = Mutation(key: key("orders/a"), operation: .delete)
    let decision = Decision(
      UndoConflict(
        batch: BatchID(3), isRedo: false,
        documents: [
          .init(key: key("orders/a"), left: left, now: now, writing: .init(mutation, left: left, now: now))
        ]))
    #expect(
      decision.rows.map(\.cells) == [
        ["document", "there", "there", "deleted"], ["theirs", "nothing", "2", "deleted"],
      ])
  }

  @Test("j and k move in menus, and the second answer to a conflict writes nothing")
  func motions() {
    var driver = Driver(Size(width: 80, height: 24))
    driver.host(.editConflict(Self.conflict), at: 1)
    driver.press("j k")
    #expect(driver.state.overlay?.list?.cursor.index == 0)
    driver.press("j enter")
    #expect(driver.effects.isEmpty && driver.state.toasts.last?.text.contains("Nothing was written") == true)
    driver.press("F j j k")
    #expect(driver.state.overlay?.list?.cursor.index == 1)
  }

  @Test("g, G, Home, End, ctrl-d and ctrl-u move in lists but edit text in input lines")
  func ends() {
    var driver = Scenario.online.play(Size(width: 120, height: 36))
    func index() -> Int? { driver.state.overlay?.list?.cursor.index }
    driver.press("F")
    let last = FaultItem.allCases.count - 1
    for (keys, expected) in [("G", last), ("g", 0), ("end", last), ("home", 0), ("ctrl-d", 5), ("ctrl-u", 0)] {
      driver.press(keys)
      #expect(index() == expected, "\(keys)")
    }
    driver.press("esc W G")
    #expect(index() == driver.state.listeners.count - 1)
    driver.press("esc : G g home X")
    #expect(driver.state.overlay?.field?.text == "XGg")
    driver.press("end ctrl-u")
    #expect(driver.state.overlay?.field?.text == "")
  }

  @Test("u undoes, and U and ctrl-r redo")
  func keys() {
    var driver = Driver(Size(width: 80, height: 24))
    driver.press("u")
    #expect(driver.effects == [.client(.undo())])
    for key in ["U", "ctrl-r"] {
      driver.press(key)
      #expect(driver.effects == [.client(.redo())])
    }
  }

  @Test("A write that replaced unseen values is marked in feed, overlay and history")
  func replaced() {
    var driver = Scenario.online.play(Size(width: 120, height: 36))
    let path = key("orders/9aaPq2Xc")
    driver.client(.pendingWrites([pendingWrite(50, .update, path.path.text, at: at(20), .inFlight)]), at: 20)
    let mine = document(path.path.text, pending: .local, ["status": "mine", "total": 7.25])
    Scenario.snapshot(
      &driver, ListenerTag(2), [.init(.modified, mine, previous: Scenario.orders[2])], count: 3,
      [.localWrite(BatchID(50))], at: 20)
    driver.client(.writeAcknowledged(BatchID(50), after: .milliseconds(9)), at: 21)
    let applied = document(path.path.text, at: 21, ["status": "mine", "total": 8.0])
    Scenario.snapshot(
      &driver, ListenerTag(2), [.init(.modified, applied, previous: mine)], count: 3, [.fromServer], at: 21)
    driver.client(
      .conflict(
        WriteConflict(
          batch: BatchID(50), key: path,
          fields: [.init(path: FieldPath("status"), base: "paid", mine: "mine", theirs: "theirs")],
          commitTime: SnapshotVersion(at(21)))), at: 21)
    #expect(driver.state.feed.selected?.kind == .conflict)
    #expect(
      driver.state.feed.selected?.summary == "conflict #50 · status: wrote \"mine\" over \"theirs\", saw \"paid\"")

    driver.press("4 G enter")
    #expect(driver.state.detail?.tab == .overlay)
    #expect(driver.screen.contains("wrote \"mine\", now \"mine\""))
    #expect(driver.screen.contains("over \"theirs\", saw \"paid\""))
    driver.press("[")
    #expect(driver.state.detail?.tab == .history)
    #expect(driver.screen.contains("conflict · #50 acknowledged"))
    driver.press("enter")
    #expect(driver.screen.contains("over \"theirs\""))
  }
}

/// A conflict in the feed.
@Suite("Conflict rows")
struct ConflictRowTests {
  @Test("A conflict row shows the written, replaced and seen values before the path", arguments: [80, 120])
  func whole(_ width: Int) {
    var driver = Scenario.online.play(Size(width: width, height: width == 80 ? 24 : 36))
    let field = WriteConflict.Field(path: FieldPath("pop"), base: 1, mine: 2, theirs: 3)
    driver.client(
      .conflict(
        WriteConflict(
          batch: BatchID(7), key: key("cities/SF"), fields: [field], commitTime: SnapshotVersion(at(20)))), at: 20)
    let row = driver.screen.split(separator: "\n").last { $0.contains("conflict #7") } ?? ""
    #expect(row.contains("wrote 2 over 3, saw 1") && row.contains("cities/SF"), "\(row)")
  }
}
