// SPDX-License-Identifier: Apache-2.0
import ClientPort
import FirestoreClientState
import FirestoreModel
import FirestoreQuery
import FirestoreTesting
import TerminalCanvas
import TerminalTesting
import Testing

@testable import Dashboard
@testable import DashboardModel

@Suite("Row ranges")
struct RangeTests {
  private let size = Size(width: 120, height: 36)

  private func opened(_ kind: ConnectedBackend.Kind = .emulator) -> Driver {
    var driver = Driver(size, kind: kind)
    driver.client(.collections(below: .root, ["events"]), at: 0)
    driver.answerWindow(Scenario.events(0..<12), at: 0)
    driver.press("1 g j")
    return driver
  }

  private func key(_ number: Int) -> DocumentKey { Scenario.events(number..<number + 1)[0].key }

  @Test("v starts a range that follows the cursor with a count, and v or Esc ends it")
  func begin() {
    var driver = opened()
    driver.press("v j j")
    #expect(driver.state.rangeKeys == [key(0), key(1), key(2)])
    #expect(driver.screen.contains("[RANGE 3]"))
    driver.press("k k k")
    #expect(driver.state.rangeKeys == [key(0)])
    driver.press("v")
    #expect(driver.state.rangeCount == nil)
    driver.press("v j esc")
    #expect(driver.state.rangeCount == nil)
    #expect(driver.state.browser.cursor.id == .document(key(0)))
  }

  @Test("Shift and an arrow also start a range")
  func shift() {
    var driver = opened()
    driver.press("shift-down shift-down shift-up")
    #expect(driver.state.rangeKeys == [key(0), key(1)])
  }

  @Test("Deleting a range lists its documents and asks you to type their count first")
  func delete() {
    var driver = opened()
    driver.press("v j j j j j j d")
    #expect(driver.screen.contains("Delete 7 documents"))
    #expect(driver.screen.contains("and 2 more, to events/e0000006"))
    driver.press("tab enter")
    #expect(driver.effects == [])
    driver.press("tab")
    driver.press("tab")
    driver.type("7")
    driver.press("enter")
    #expect(driver.effects == [.client(.write((0..<7).map { Mutation(key: key($0), operation: .delete) }))])
    #expect(driver.state.rangeCount == nil)
  }

  @Test("Deleting a range of real data requires typing the collection's name")
  func real() {
    var driver = opened(.cloud)
    driver.press("v j d tab")
    driver.type("2")
    driver.press("enter")
    #expect(driver.effects == [])
    driver.press("ctrl-u")
    driver.type("events")
    driver.press("enter")
    #expect(driver.effects.count == 1)
  }

  @Test("A read-only dashboard rejects deleting a range")
  func readOnly() {
    var driver = opened()
    driver.state.configuration.isReadOnly = true
    driver.press("v j d")
    #expect(driver.state.overlay == nil)
    #expect(driver.state.toasts.last?.text == driver.state.readOnlyReason)
  }

  @Test(
    "A one-row command rejects a range with a message, and the range remains",
    arguments: ["e", "enter", "space", "i", "m"])
  func single(_ key: String) {
    var driver = opened()
    driver.press("v j \(key)")
    #expect(driver.effects == [])
    #expect(driver.state.toasts.last?.text.hasPrefix("a range of 2 is selected, but this needs one row") == true)
    #expect(driver.state.rangeCount == 2)
  }

  @Test("The paths and contents of a range are copied together")
  func copy() {
    var driver = opened()
    driver.press("v j y p")
    #expect(driver.effects == [.terminal(.copy("events/e0000000\nevents/e0000001"))])
    driver.press("y j")
    guard case .terminal(.copy(let text))? = driver.effects.first else {
      Issue.record("nothing was copied")
      return
    }
    #expect(text.split(separator: "\n").count == 2)
  }

  @Test("A range ends with a message when its first row disappears")
  func gone() {
    var driver = opened()
    driver.press("v j j")
    guard let tag = driver.state.browser.windows[ResourcePath("events")]?.shown?.tag else {
      Issue.record("no window")
      return
    }
    driver.client(.windowLoaded(tag, Scenario.events(1..<12), isFromCache: false, total: nil), at: 1)
    #expect(driver.state.rangeCount == nil)
    #expect(driver.state.toasts.last?.text == "the range ended: its first row is no longer loaded")
  }

  @Test("Canceling a range of writes skips and counts the writes in flight")
  func writes() {
    var driver = Scenario.online.play(size)
    driver.press("2 g v G x")
    #expect(driver.screen.contains("Cancel 2 writes"))
    #expect(driver.screen.contains("1 of the selected writes stay"))
    driver.press("tab enter")
    #expect(driver.effects == [.client(.cancelWrite(BatchID(43))), .client(.cancelWrite(BatchID(44)))])
    driver.press("g v j space")
    #expect(driver.state.writes.marked == [BatchID(42), BatchID(43)])
    #expect(driver.state.rangeCount == nil)
  }

  @Test("Pressing v in other panes reports which rows can be selected as a range")
  func elsewhere() {
    var driver = opened()
    driver.press("4 v")
    #expect(driver.state.toasts.last?.text.hasPrefix("ranges are selected among documents and writes") == true)
  }
}
