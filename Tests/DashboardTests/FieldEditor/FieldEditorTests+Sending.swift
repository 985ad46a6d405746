// SPDX-License-Identifier: Apache-2.0
import ClientPort
import FirestoreClientState
import FirestoreModel
import FirestoreTesting
import TerminalCanvas
import Testing

@testable import Dashboard
@testable import DashboardModel

/// The review of an edit, the write that is sent, and the fate of unsent edits.
extension FieldEditorTests {
  @Test("The review before sending shows type, mask, precondition and changed fields")
  func review() {
    var driver = Self.opened(at: ["count"])
    Self.retype("5", &driver)
    Self.select(["note"], &driver)
    driver.press("x")
    Self.select(["paidAt"], &driver)
    driver.press("t")
    driver.type("T")
    driver.press("s")
    for text in [
      "update orders/a", "mask count, note", "only if the document exists", "1 transform",
      "~ count", "3 → 5", "- note", "→ deleted", "* paidAt", "the server's time", "[ Send ]",
    ] { #expect(driver.screen.contains(text), "\(text)") }
    driver.press("y")
    guard case .terminal(.copy(let text))? = driver.effects.first else {
      Issue.record("nothing was copied")
      return
    }
    #expect(text.contains("\"update\": \"orders/a\"") && text.contains("{\"$serverTimestamp\": true}"))
    driver.press("esc")
    #expect(driver.state.overlay?.kind == .fields, "back to the fields")
  }

  @Test("An unchanged or invalid document is not sent")
  func refused() {
    var driver = Self.opened(at: ["count"])
    #expect(Self.sent(&driver) == nil)
    #expect(driver.state.toasts.last?.text == "nothing was changed")
    driver.press("esc")

    var deep = "1"
    for _ in 0..<21 { deep = "{\"m\": \(deep)}" }
    driver.press("t m ctrl-e ctrl-u")
    driver.type(deep)
    #expect(driver.screen.contains("nested more than 20 levels"))
  }

  @Test("Closing with unsent edits asks first, and Enter keeps the edits", arguments: ["esc", "ctrl-c"])
  func leaving(_ key: String) {
    var driver = Self.opened(at: ["gift"])
    driver.press("space")
    driver.press(key)
    #expect(driver.screen.contains("1 change of orders/a was not sent"))
    driver.press("enter")
    #expect(driver.state.overlay?.fieldEditor?.hasUnsentEdits == true)
    driver.press(key)
    driver.press("tab enter")
    #expect(driver.state.overlay == nil && driver.effects.isEmpty)

    driver.press("E esc")
    #expect(driver.state.overlay == nil, "without edits nothing is asked")
  }

  @Test("q and Q do not quit from the field editor, and a dialog over it keeps the edits")
  func staying() {
    var driver = Self.opened(at: ["gift"])
    driver.press("space Q")
    #expect(driver.effects.isEmpty && driver.state.overlay?.fieldEditor != nil)
    let conflict = UndoConflict(
      batch: BatchID(7), isRedo: false,
      documents: [.init(key: key("orders/b"), left: [:], now: ["n": 1], writing: .init(.deletion, []))])
    driver.host(.undoConflict(conflict), at: 2)
    #expect(driver.state.overlay?.kind == .decision)
    driver.press("esc")
    #expect(driver.state.overlay?.fieldEditor?.hasUnsentEdits == true)
  }

  @Test("After a conflict you can edit the current version or create a new document")
  func conflict() {
    var driver = Self.opened(at: ["count"])
    Self.retype("5", &driver)
    let edit = Self.sent(&driver)
    func conflict(over now: Fields?) -> EditConflict {
      EditConflict(
        key: Self.order.key, fields: [.init(path: FieldPath("count"), base: 3, mine: 5, theirs: now?["count"])],
        isDeleted: now == nil, overwriting: [], keepingTheirs: [], replacing: [], again: .fields(over: now))
    }
    driver.host(.editConflict(conflict(over: ["count": 4, "other": 1])), at: 3)
    #expect(driver.screen.contains("Another client changed what you edited"))
    driver.press("e")
    #expect(driver.screen.contains("was 4"))
    let again = Self.sent(&driver)
    #expect(again?.base == ["count": 4, "other": 1] && again?.fields == ["count": 5, "other": 1])

    let gone = Document(key: Self.order.key, version: SnapshotVersion(at(4)), state: .missing)
    driver.client(.detail(Self.order.key, remote: gone, overlay: nil, local: gone), at: 4)
    driver.host(.editConflict(conflict(over: nil)), at: 4)
    driver.press("e")
    let made = Self.sent(&driver)
    #expect(made?.subject == .documentToCreate(Self.order.key))
    #expect(made?.fields == ["count": 5, "other": 1] && edit?.subject == .document(Self.order.key))
  }

  @Test("e continues in $EDITOR with the edits, unless they include a transform")
  func text() {
    var driver = Self.opened(at: ["count"])
    Self.retype("5", &driver)
    driver.press("e")
    guard case .terminal(.edit(let request))? = driver.effects.first else {
      Issue.record("no text")
      return
    }
    #expect(request.subject == .document(Self.order.key))
    #expect(request.original.contains("\"count\": 3") && request.text.contains("\"count\": 5"))

    driver = Self.opened(at: ["count"])
    driver.press("t")
    driver.type("T")
    driver.press("e")
    #expect(driver.effects.isEmpty && driver.state.toasts.last?.text.contains("a text cannot have transforms") == true)
  }
}
