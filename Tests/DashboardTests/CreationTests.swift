// SPDX-License-Identifier: Apache-2.0
import ClientPort
import FirestoreClientState
import FirestoreModel
import FirestoreTesting
import TerminalCanvas
import Testing

@testable import Dashboard
@testable import DashboardModel

/// Documents are made anywhere, in an empty database too.
@Suite struct CreationTests {
  private func empty() -> Driver {
    var driver = Driver(Size(width: 120, height: 36), kind: .embedded)
    driver.client(.collections(below: .root, []), at: 0)
    return driver
  }

  private func edited(_ driver: Driver) -> FieldEdit.Subject? { driver.state.overlay?.fieldEditor?.subject }

  @Test("In an empty database, n asks for a path and creates a document at that path")
  func chosen() {
    var driver = empty()
    driver.press("n p")
    #expect(driver.screen.contains("orders makes an id, orders/o1 has one"))
    driver.type("cities/SF")
    #expect(driver.screen.contains("cities/SF         new document"))
    driver.press("enter")
    #expect(edited(driver) == .documentToCreate(key("cities/SF")))
    driver.press("esc")
    #expect(driver.screen.contains("▾ cities"))
  }

  @Test("On a collection, n generates an id, and an invalid path creates nothing")
  func automatic() {
    var driver = empty()
    driver.press("n p")
    driver.type("cities/")
    #expect(driver.screen.contains("cities/           new document with an automatic id"))
    driver.press("enter")
    #expect(edited(driver) == .newDocument(in: ResourcePath("cities")))

    driver.press("esc n p")
    driver.type("/a//b")
    #expect(driver.screen.contains("not a path"))
    driver.press("enter")
    #expect(edited(driver) == nil)
  }

  @Test("If the typed path is unknown, the palette offers to create a document there")
  func palette() {
    var driver = empty()
    driver.press(":")
    driver.type("cities/SF")
    #expect(driver.screen.contains("cities/SF         new document"))
  }

  @Test("A new document's fields are typed in place and sent as a create-only set")
  func typed() {
    var driver = empty()
    driver.press("n p")
    driver.type("cities/SF")
    driver.press("enter")
    #expect(driver.screen.contains("set: a new document with 0 fields"))
    driver.press("enter")
    driver.type("name")
    driver.press("enter")
    driver.type("San Francisco")
    driver.press("ctrl-s")
    for text in ["set cities/SF", "the whole document: 1 field, no mask", "only if the document does not exist yet"] {
      #expect(driver.screen.contains(text), "\(text)")
    }
    driver.press("enter")
    guard case .client(.edit(let edit))? = driver.effects.first else {
      Issue.record("nothing was sent")
      return
    }
    #expect(edit.mutation(of: key("cities/SF")) == set("cities/SF", ["name": "San Francisco"], .exists(false)))
  }

  @Test("An empty document can be created, but cannot replace an existing one")
  func bare() {
    var driver = empty()
    driver.press("n p")
    driver.type("cities")
    driver.press("enter ctrl-s")
    #expect(driver.screen.contains("the id is created when the write is sent"))
    driver.press("enter")
    #expect(driver.effects.count == 1)

    var other = FieldEditorTests.driver()
    other.press("1 n p ctrl-u")
    other.type("orders/a")
    other.press("enter ctrl-s enter")
    #expect(other.effects.isEmpty && other.screen.contains("the document already exists: E edits it"))
  }

  @Test("In a new document ctrl-o opens $EDITOR, and typing a letter starts a field name")
  func text() {
    var driver = empty()
    driver.press("n p")
    driver.type("cities/SF")
    driver.press("enter e")
    #expect(driver.state.overlay?.kind == .fieldName && driver.state.overlay?.field?.text == "e")
    driver.press("esc ctrl-o")
    guard case .terminal(.edit(let request))? = driver.effects.first else {
      Issue.record("no editor")
      return
    }
    #expect(request.subject == .documentToCreate(key("cities/SF")) && driver.state.overlay == nil)
  }

  @Test("Typing a full path after the suggested collection does not repeat the collection")
  func wholePath() {
    var driver = FieldEditorTests.driver()
    driver.press("1 n p")
    driver.type("orders/new")
    #expect(driver.screen.contains("orders/new        new document"))
    driver.press("enter")
    #expect(driver.screen.contains("orders/new") && !driver.screen.contains("orders/orders"))
  }
}
