// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreModel
import FirestoreQuery
import FirestoreTesting
import TerminalCanvas
import Testing

@testable import Dashboard
@testable import DashboardModel

/// What is asked before something is overwritten, and what is said of what was.
@Suite("Decisions")
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

  @Test("An edit of what somebody else changed shows both versions; nothing is written before an answer")
  func edit() {
    var driver = Driver(Size(width: 80, height: 24))
    driver.client(.editConflict(Self.conflict), at: 1)
    #expect(driver.effects.isEmpty)
    for text in ["\"flash\"", "\"mine\"", "\"theirs\"", "! status", "Nothing is written yet"] {
      #expect(driver.screen.contains(text), "\(text)")
    }
    driver.press("enter")
    #expect(driver.effects == [.terminal(.edit(Self.again))])
  }

  @Test("Each answer writes what it says", arguments: ["o", "t", "w", "c", "esc"])
  func answers(_ key: String) {
    var driver = Driver(Size(width: 80, height: 24))
    driver.client(.editConflict(Self.conflict), at: 1)
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

  @Test("Undoing over others' changes names them and is cancelled by default", arguments: [false, true])
  func undo(_ isRedo: Bool) {
    let conflict = UndoConflict(
      batch: BatchID(7), isRedo: isRedo,
      documents: [.init(key: key("orders/a"), left: ["status": "paid"], now: ["status": "sent"])])
    var driver = Driver(Size(width: 80, height: 24))
    driver.client(.undoConflict(conflict), at: 1)
    #expect(
      driver.screen.contains("orders/a") && driver.screen.contains("\"paid\"") && driver.screen.contains("\"sent\""))
    driver.press("enter")
    #expect(driver.effects.isEmpty && driver.state.overlay == nil)

    driver.client(.undoConflict(conflict), at: 2)
    driver.press("a")
    #expect(driver.effects == [.client(isRedo ? .redo(over: conflict) : .undo(over: conflict))])
  }

  @Test("u takes back, U and ctrl-r do it again")
  func keys() {
    var driver = Driver(Size(width: 80, height: 24))
    driver.press("u")
    #expect(driver.effects == [.client(.undo())])
    for key in ["U", "ctrl-r"] {
      driver.press(key)
      #expect(driver.effects == [.client(.redo())])
    }
  }

  @Test("A write that replaced what its author had not seen is marked in feed, Overlay and History, field by field")
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
    #expect(driver.screen.contains("conflict · ack #50"))
    driver.press("enter")
    #expect(driver.screen.contains("over \"theirs\""))
  }
}
