// SPDX-License-Identifier: Apache-2.0
import ClientPort
import FirestoreClientState
import FirestoreModel
import FirestoreTesting
import TerminalCanvas
import TerminalTesting
import Testing

@testable import Dashboard
@testable import DashboardModel
@testable import DashboardView

/// What a newcomer sees: the page without data, and the guide.
@Suite("First steps")
struct FirstStepsTests {
  private func emptyPage(_ size: Size, reach: String?) -> Scene {
    var scene = Scene(size: size)
    scene.change { $0.configuration.reachingOptions = reach }
    scene.collections()
    scene.online([])
    return scene
  }

  @Test("The page of an empty database suggests three ways to create a first document")
  func ways() {
    let text = view(emptyPage(Size(width: 120, height: 36), reach: "").state).text
    #expect(text.contains("no collections yet"))
    #expect(text.contains("│ n  ") && text.contains("a first document, typed here"))
    #expect(text.contains(":import FILE"))
    #expect(text.contains("hearth set cities/SF name=SF "))
    #expect(text.contains("hearth --demo"))
  }

  @Test("Commands for another terminal appear only if that terminal can reach the data")
  func reach() {
    let size = Size(width: 120, height: 36)
    let far = view(emptyPage(size, reach: "--emulator 127.0.0.1:8080").state).text
    #expect(far.contains("hearth set cities/SF name=SF \\") && far.contains("  --emulator 127.0.0.1:8080"))
    #expect(!view(emptyPage(size, reach: nil).state).text.contains("hearth set"))
  }

  @Test("A read-only user gets no writing suggestions", arguments: [true, false])
  func readOnly(_ isReadOnly: Bool) {
    var scene = emptyPage(Size(width: 120, height: 36), reach: "")
    scene.change { $0.configuration.isReadOnly = isReadOnly }
    #expect(view(scene.state).text.contains("typed here") != isReadOnly)
  }

  @Test("The page of an empty database fits any size and disappears with the first data")
  func sizes() {
    for size in ScreenProperties.sizes where size.width >= 24 && size.height >= 4 {
      #expect(view(emptyPage(size, reach: "--data /tmp/x").state).size == size)
    }
    var scene = emptyPage(Size(width: 120, height: 36), reach: "")
    scene.collections("cities")
    #expect(!view(scene.state).text.contains("hearth set"))
  }

  // MARK: The guide

  private func guided() -> Scene {
    var scene = Shop.online(Size(width: 120, height: 36), .unicode)
    scene.change { $0.coach = Coach() }
    return scene
  }

  @Test("The guide returns to its first step if the network comes back before a write")
  func plugTwice() {
    var scene = Scene(size: Size(width: 120, height: 36))
    scene.change { $0.coach = Coach() }
    scene.online()
    scene.offline()
    #expect(scene.state.coach?.step == .write)
    scene.online()
    #expect(scene.state.coach?.step == .unplug)
    scene.offline()
    #expect(scene.state.coach?.step == .write)
    #expect(view(scene.state).text.contains("2 of 3  E on an order, ⏎ on its status, type paid"))
  }

  @Test("Following the guide step by step sets the status of an order")
  func literally() throws {
    var driver = Scenario.online.play(Size(width: 120, height: 36))
    driver.state.coach = Coach()
    driver.press("o")
    driver.client(.status(Scenario.status(1, isEnabled: false)), at: 20)
    #expect(driver.state.coach?.step == .write)
    driver.press("1 j j")
    let key = try #require(driver.state.selectedKey)
    driver.press("E")
    // "on its status": the cursor is there, because that is the field that changes.
    #expect(driver.state.overlay?.fieldEditor?.selectedPath == ["status"])
    driver.press("enter")
    driver.type("paid")
    driver.press("ctrl-s enter")
    guard case .client(.edit(let edit))? = driver.effects.first else {
      Issue.record("nothing is sent: \(driver.screen)")
      return
    }
    #expect(edit.subject == .document(key) && edit.fields["status"] == "paid")
  }

  @Test("A value opened for editing is selected: typing replaces it, an arrow keeps it")
  func selected() {
    var driver = Scenario.online.play(Size(width: 120, height: 36))
    driver.press("1 j E enter")
    driver.type("0")
    driver.type("5")
    #expect(driver.state.overlay?.field?.text == "05")
    driver.press("esc enter right")
    driver.type("!")
    #expect(driver.state.overlay?.field?.text.hasSuffix("!") == true)
    #expect(driver.state.overlay?.field?.text.count ?? 0 > 1)
    driver.press("esc enter backspace")
    #expect(driver.state.overlay?.field?.text == "")
  }

  @Test("A new increment is selected, so the first digit replaces its default 1")
  func increment() {
    var driver = Scenario.online.play(Size(width: 120, height: 36))
    driver.press("1 j E t +")
    driver.type("5")
    #expect(driver.state.overlay?.field?.text == "5")
  }

  @Test("The guide ends only after Esc is pressed twice")
  func leaving() {
    var scene = guided()
    scene.press("esc")
    #expect(scene.state.coach != nil)
    scene.press("j esc")
    #expect(scene.state.coach != nil)
    scene.press("esc")
    #expect(scene.state.coach == nil)
  }

  @Test("Next to an empty tree the key help is complete if there are enough rows")
  func keysInFull() {
    var driver = Driver(Size(width: 200, height: 60))
    driver.client(.collections(below: .root, []), at: 0)
    let pane = driver.state.layout(driver.state.size).content(of: .detail)
    let canvas = driver.canvas()
    let words = (pane.y..<pane.maxY).flatMap { y in
      canvas.text(row: y).dropFirst(pane.x).prefix(pane.width).split(separator: " ")
    }.joined(separator: " ")
    // Beside its key the text has no room in one row.
    let help = "listen to the collection or document, or stop"
    #expect(pane.width < help.count + 14 && words.contains(help), "\(words)")
  }
}
