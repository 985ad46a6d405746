// SPDX-License-Identifier: Apache-2.0
import ClientPort
import FirestoreModel
import FirestoreTesting
import Testing

@testable import Dashboard
@testable import DashboardModel

@Suite("Field editors in the background")
struct EditingStateTests {
  private static func editor(_ path: String, edited: Bool = true) -> FieldEditor {
    var editor = FieldEditor(.document(key(path)), ["n": 1], in: database)
    editor.select(["n"])
    if edited { editor.removeSelected() }
    return editor
  }

  @Test("An editor with edits waits while a question is open, and reopens only once")
  func waiting() {
    var editing = EditingState()
    editing.wait(Self.editor("orders/a"))
    editing.wait(Self.editor("orders/b", edited: false))
    editing.wait(nil)
    let taken = [editing.takeWaiting(), editing.takeWaiting()]
    #expect(taken.map { $0?.key } == [key("orders/a"), nil])

    editing.wait(Self.editor("orders/a"))
    editing.dropWaiting()
    let dropped = editing.takeWaiting()
    #expect(dropped?.key == nil)
  }

  @Test("The last sent edit can be reopened, whatever other editors are waiting")
  func sent() {
    var editing = EditingState()
    #expect(editing.again(over: nil) == nil)
    _ = editing.send(Self.editor("orders/a"))
    _ = editing.send(Self.editor("orders/b"))
    editing.wait(Self.editor("orders/c"))
    editing.handOver(Self.editor("orders/d"))
    #expect(editing.again(over: ["n": 2])?.key == key("orders/b"))
    #expect(editing.again(over: ["n": 2])?.hasUnsentEdits == true)
  }

  @Test("A field editor opened in $EDITOR reopens once, unless its text was changed there")
  func handedOver() {
    var editing = EditingState()
    editing.handOver(Self.editor("orders/a"))
    let taken = [editing.takeBack(), editing.takeBack()]
    #expect(taken.map { $0?.key } == [key("orders/a"), nil])

    editing.handOver(Self.editor("orders/a"))
    editing.beginText()
    let afterText = editing.takeBack()
    #expect(afterText?.key == nil)

    editing.handOver(Self.editor("orders/a", edited: false))
    let withoutEdits = editing.takeBack()
    #expect(withoutEdits?.key == nil)
  }
}
