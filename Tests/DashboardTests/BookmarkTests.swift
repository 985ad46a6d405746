// SPDX-License-Identifier: Apache-2.0
import ClientPort
import FirestoreModel
import FirestoreQuery
import FirestoreTesting
import TerminalCanvas
import Testing

@testable import Dashboard
@testable import DashboardModel

@Suite("Bookmarks and wrapped text")
struct BookmarkTests {
  @Test("m and a letter bookmark a row, and ' and the letter return to it from anywhere")
  func back() {
    var driver = Scenario.online.play(Size(width: 120, height: 36))
    driver.press("1 g j j m a")
    let marked = driver.state.browser.cursor.id
    #expect(marked == .collection(ResourcePath("orders")))
    driver.press("g 4 ' a")
    #expect(driver.state.focus == .collections && driver.state.browser.cursor.id == marked)
  }

  @Test("After m a letter runs no command, and any other key cancels the bookmark")
  func letters() {
    var driver = Scenario.online.play(Size(width: 120, height: 36))
    driver.press("1 g m o")
    #expect(driver.effects == [])
    driver.press("m esc o")
    #expect(driver.effects == [.client(.setNetwork(enabled: false))])
    driver.press("' z")
    #expect(driver.screen.contains("nothing is marked z"))
  }

  @Test("Jumping to a bookmark in a folded collection unfolds it")
  func folded() {
    var driver = Scenario.online.play(Size(width: 120, height: 36))
    driver.press("1 g j j j m b")
    guard case .document(let key)? = driver.state.browser.cursor.id else {
      Issue.record("no document is selected")
      return
    }
    driver.press("h h 2 ' b")
    #expect(driver.windowQuery?.path == key.collection)
    driver.answerWindow([Scenario.orders[0], Scenario.orders[1]].filter { $0.key >= key }, at: 30)
    #expect(driver.state.browser.cursor.id == .document(key))
  }

  @Test("A bookmark returns to its feed row or reports that the row is gone")
  func others() {
    var driver = Scenario.online.play(Size(width: 120, height: 36))
    driver.press("4 k k m f")
    let row = driver.state.feed.cursor.id
    driver.press("G 1 ' f")
    #expect(driver.state.feed.isPaused && driver.state.feed.cursor.id == row)
    driver.press("c ' f")
    #expect(driver.screen.contains("is gone"))
  }

  @Test("Short byte values and vectors fit on one line, and w shows longer values in full")
  func readable() {
    var driver = Driver(Size(width: 100, height: 40))
    driver.client(.collections(below: .root, ["files"]), at: 0)
    let long = [UInt8](repeating: 255, count: 300)
    let fields: Fields = [
      "few": .bytes([1, 2, 3]), "many": .bytes(long), "none": .bytes([]), "short": .vector([0.5, -1, 2]),
      "wide": .vector((0..<40).map { Double($0) + 0.25 }), "z": 1,
    ]
    let file = document("files/a", fields)
    driver.answerWindow([file], total: 1, at: 1)
    driver.press("1 g j enter")
    driver.client(.detail(key("files/a"), remote: file, overlay: nil, local: file), at: 2)
    for text in ["base64 AQID", "300 bytes", "0 bytes", "vector[0.5, -1.0, 2.0]", "vector[40]"] {
      #expect(driver.screen.contains(text), "\(text): \(driver.screen)")
    }
    #expect(!driver.screen.contains("39.25"))
    driver.press("+ w")
    let shown = driver.screen.filter { !$0.isWhitespace && $0 != "│" }
    #expect(shown.contains("base64" + String(repeating: "/", count: 400)), "\(driver.screen)")
    #expect(driver.screen.contains("39.25]"))
    driver.press("w")
    #expect(!driver.screen.contains("39.25"))
  }

  @Test("w toggles the wrapping of a long text")
  func wrap() {
    let text = (0..<40).map { "word\($0)" }.joined(separator: " ")
    var driver = Driver(Size(width: 80, height: 24))
    driver.client(.collections(below: .root, ["notes"]), at: 0)
    driver.answerWindow([document("notes/a", ["text": .string(text), "z": 1])], total: 1, at: 1)
    driver.press("1 g j enter")
    let document = document("notes/a", ["text": .string(text), "z": 1])
    driver.client(.detail(key("notes/a"), remote: document, overlay: nil, local: document), at: 2)
    #expect(!driver.screen.contains("word39"))
    driver.press("w")
    let shown = driver.screen.filter { !$0.isWhitespace && $0 != "│" && $0 != "…" }
    #expect(shown.contains((0..<40).map { "word\($0)" }.joined() + "\""), "\(driver.screen)")
    #expect(driver.screen.contains("z "))
    driver.press("w")
    #expect(!driver.screen.contains("word39"))
  }
}
