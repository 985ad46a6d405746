// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import TerminalCanvas
import Testing

@testable import Dashboard
@testable import DashboardModel

@Suite("Multi-key input state")
struct TypingTests {
  @Test(
    "A row number starts with a digit that names no pane, and is used only once",
    arguments: [("12", nil), ("5", 5), ("50x", 50), ("9142", 9142), ("٥", nil), ("9999999999999", 999_999_999)])
  func row(text: String, row: Int?) {
    var typing = Typing()
    for character in text { _ = typing.takeDigit(character) }
    #expect(typing.row == row)
    let taken = [typing.takeRow(), typing.takeRow()]
    #expect(taken == [row, nil])
  }

  @Test("A second ctrl-c quits if it follows within a second without other keys")
  func interrupt() {
    var typing = Typing()
    let quits = [typing.interrupt(at: at(0)), typing.interrupt(at: at(1.5)), typing.interrupt(at: at(2.5))]
    #expect(quits == [false, false, true])
    typing.forgetInterrupt()
    let quitsAfterKey = typing.interrupt(at: at(2.6))
    #expect(!quitsAfterKey)
  }

  @Test("Two clicks in one place are a double click, and a third click starts a new one")
  func click() {
    let place = Point(x: 3, y: 4)
    var typing = Typing()
    let other = Point(x: 3, y: 5)
    let quick = [typing.click(at: place, at(0)), typing.click(at: place, at(0.4)), typing.click(at: place, at(0.5))]
    #expect(quick == [false, true, false])
    let slow = [typing.click(at: other, at(0.6)), typing.click(at: other, at(1.1))]
    #expect(slow == [false, false])
    typing.forgetMoments()
    let afterSetback = typing.click(at: other, at(1.2))
    #expect(!afterSetback)
  }

  @Test("A key that waits for a bookmark letter acts once; the past has its own bookmarks")
  func bookmarks() {
    var viewer = Typing()
    viewer.wait(for: .go)
    _ = viewer.takeDigit("7")
    viewer.mark(.feedRow(3), "a")
    var past = Typing()
    past.adoptUnfinished(of: viewer)
    #expect(past.row == 7)
    let verbs = [past.takeBookmarkVerb(), past.takeBookmarkVerb()]
    #expect(verbs == [.go, nil])
    #expect(past.place(marked: "a") == nil)
    #expect(viewer.place(marked: "a") == .feedRow(3))
  }
}
