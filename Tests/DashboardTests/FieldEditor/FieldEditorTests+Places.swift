// SPDX-License-Identifier: Apache-2.0
import ClientPort
import FirestoreClientState
import FirestoreModel
import FirestoreTesting
import TerminalCanvas
import Testing

@testable import Dashboard
@testable import DashboardModel

/// What is where in the editor, and what others do meanwhile.
extension FieldEditorTests {
  /// Where a text is on the screen.
  private func place(_ text: String, _ driver: Driver) throws -> (Int, Int) {
    let lines = driver.screen.split(separator: "\n", omittingEmptySubsequences: false)
    let row = try #require(lines.firstIndex { $0.contains(text) })
    let range = try #require(lines[row].firstRange(of: text))
    return (lines[row].distance(from: lines[row].startIndex, to: range.lowerBound), row)
  }

  @Test("In the field editor everything that looks like a button can be clicked")
  func mouse() throws {
    var driver = Self.opened(at: ["count"])
    func click(_ text: String, _ driver: inout Driver, right: Int = 1) throws {
      let (x, y) = try place(text, driver)
      driver.mouse(.press, x + right, y)
    }
    try click("boolean", &driver)
    #expect(driver.state.overlay?.kind == .fieldType && driver.state.overlay?.fieldEditor?.selectedPath == ["gift"])
    try click("b  boolean", &driver)
    driver.press("ctrl-u")
    driver.type("true")
    driver.press("enter")
    try click("items   ", &driver, right: -2)
    #expect(driver.state.overlay?.fieldEditor?.selected?.isOpen == false)
    try click("[ + add a field ]", &driver)
    #expect(driver.state.overlay?.kind == .fieldName)
    driver.press("esc ctrl-s")
    try click("[ Back ]", &driver)
    #expect(driver.state.overlay?.kind == .fields)
    driver.press("ctrl-s")
    try click("[ Send ]", &driver)
    guard case .client(.edit(let edit))? = driver.effects.first else {
      Issue.record("nothing was sent")
      return
    }
    #expect(edit.mutation(of: Self.order.key) == patch("orders/a", ["gift": true]))
  }

  @Test(
    "On the smallest screens a field can be edited, reviewed and sent",
    arguments: [(60, 16), (40, 12), (24, 4)])
  func small(_ width: Int, _ height: Int) {
    var driver = Self.driver(Size(width: width, height: height))
    driver.press("0 g E")
    #expect(driver.state.overlay?.fieldEditor?.selectedPath == ["count"])
    driver.press("enter ctrl-u")
    driver.type("1x")
    #expect(driver.canvas().cursor != nil)
    if height > 4 { #expect(driver.screen.contains("! column 2")) }
    driver.press("backspace enter ctrl-s")
    #expect(driver.screen.contains("3 → 1") || height < 5)
    #expect(driver.screen.contains("[ Send ]"))
    driver.press("enter")
    #expect(driver.effects.count == 1)
  }

  @Test("A document of 10,000 fields can be edited, and every field is reachable")
  func large() {
    let many = Fields((0..<10_000).map { ("f\($0)", .integer(Int64($0))) })
    var driver = Self.driver(Size(width: 120, height: 36), document("orders/a", many))
    driver.press("E")
    #expect(driver.state.overlay?.fieldEditor?.rows.count == 10_001)
    driver.press("G k enter ctrl-u")
    driver.type("-1")
    driver.press("enter")
    #expect(Self.sent(&driver)?.mutation(of: Self.order.key) == patch("orders/a", ["f9999": -1]))
  }

  @Test("The editor reports remote changes but not values that the server fills in")
  func meanwhile() {
    var driver = Self.opened(at: ["count"])
    Self.retype("5", &driver)
    let theirs = document("orders/a", at: 3, ["count": 4, "gift": false])
    driver.client(.detail(theirs.key, remote: theirs, overlay: nil, local: theirs), at: 3)
    #expect(driver.screen.contains("! changed since you began: count, items"))
    #expect(Self.sent(&driver)?.base["count"] == 3, "what its author saw")
  }

  @Test("If $EDITOR changes nothing, the field editor reopens with its earlier edits")
  func gaveUp() {
    var driver = Self.opened(at: ["count"])
    Self.retype("5", &driver)
    driver.press("e")
    driver.host(.editorGaveUp("No editor"), at: 3)
    #expect(driver.state.overlay?.fieldEditor?.edited.fields["count"] == 5)
    #expect(driver.state.toasts.last?.text == "No editor")
  }

  @Test("A timestamp shows all its digits, and short bytes are shown as Base64")
  func exact() {
    let order = document(
      "orders/a", ["at": .timestamp(Timestamp(seconds: 0, nanoseconds: 1_002_000)), "raw": .bytes([104, 105])])
    var driver = Self.driver(Size(width: 120, height: 36), order)
    driver.press("E")
    #expect(driver.screen.contains("1970-01-01T00:00:00.001002Z") && driver.screen.contains("aGk="))
  }
}
