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

  @Test("An empty page suggests three ways to a first document")
  func ways() {
    let text = view(emptyPage(Size(width: 120, height: 36), reach: "").state).text
    #expect(text.contains("no collections yet"))
    #expect(text.contains("│ n  ") && text.contains("a first document, typed here"))
    #expect(text.contains(":import FILE"))
    #expect(text.contains("hearth set cities/SF name=SF "))
    #expect(text.contains("hearth --demo"))
  }

  @Test("The command for another terminal has the options for this data, if reachable")
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

  @Test("An empty page fits any size and disappears with the first collection")
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

  @Test("The guide continues if the network is switched back before a write")
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

  @Test("The guide ends after esc twice, not once")
  func leaving() {
    var scene = guided()
    scene.press("esc")
    #expect(scene.state.coach != nil)
    scene.press("j esc")
    #expect(scene.state.coach != nil)
    scene.press("esc")
    #expect(scene.state.coach == nil)
  }

  @Test("The keys next to an empty tree are listed in full on enough rows")
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
