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

@Suite("Pane titles")
struct PaneTitleTests {
  private func opened(_ size: Size) -> Driver {
    var driver = Driver(size)
    driver.client(.collections(below: .root, ["orders"]), at: 0)
    driver.answerWindow(
      (0..<40).map { document("orders/o\($0 + 10)", ["total": .integer(Int64($0))]) }, total: 40, at: 0)
    return driver
  }

  /// The upper line of pane 1.
  private func title(_ driver: Driver) -> String { String(driver.canvas().text(row: 1).prefix(70)) }

  @Test("The pane title names the selected row's collection if its heading is off screen")
  func breadcrumb() {
    var driver = opened(Size(width: 120, height: 36))
    #expect(title(driver).contains(" 1 Collections ─"))
    driver.press(String(repeating: "j ", count: 30))
    #expect(title(driver).contains(" 1 orders ─"), "\(title(driver))")
    #expect(title(driver).contains(" of 40 ─"), "\(title(driver))")
    driver.press("g")
    #expect(title(driver).contains(" 1 Collections ─"))
  }

  @Test("The pane title names the visible collection even if the cursor is in the next")
  func nextCollection() {
    var driver = opened(Size(width: 80, height: 24))
    driver.client(.collections(below: .root, ["orders", "users"]), at: 1)
    #expect(title(driver).contains(" 1 Collections ─"))
    driver.press(String(repeating: "j ", count: 45))
    #expect(driver.state.selectedCollection == ResourcePath("users"))
    #expect(title(driver).contains(" 1 orders ─"), "\(title(driver))")
  }

  @Test("A pane's title has the document's whole path, and the time gives way")
  func wholePath() {
    var driver = opened(Size(width: 120, height: 36))
    let long = key("departments/eng/teams/fs/members/4hT0q9LmXwPzRk2VbN7s")
    for path in [key("orders/o10"), long] {
      _ = driver.state.openDetail(path)
      let found = document(path.path.text, at: 1, ["n": 1])
      driver.client(.detail(path, remote: found, overlay: nil, local: found), at: 2)
      let row = (driver.screen.split(separator: "\n").first { $0.contains("─ 0 ") }).map(String.init) ?? ""
      #expect(row.contains(" \(path.path.text) "), "\(row)")
      #expect(row.contains("update") == (path != long), "\(row)")
    }
  }

  @Test("A row's place is said in one way at every size", arguments: [(200, 60), (120, 36), (80, 24)])
  func place(_ width: Int, _ height: Int) {
    var driver = opened(Size(width: width, height: height))
    driver.press("j j j")
    #expect(driver.screen.contains(" 3 of 40 "), "\(driver.screen)")
  }

  @Test("The pane title names the collection on smaller screens too")
  func narrow() {
    var driver = opened(Size(width: 80, height: 24))
    driver.press("j j j j j j j j j j j j j j j")
    #expect(title(driver).contains(" 1 orders ─"), "\(title(driver))")
    #expect(title(driver).contains(" 15 of 40 ─"), "\(title(driver))")
  }

  @Test("The last column's heading is drawn in full above the document signs")
  func lastHead() {
    var driver = Driver(Size(width: 80, height: 24))
    driver.client(.collections(below: .root, ["events"]), at: 0)
    let types = ["click", "view"]
    driver.answerWindow(
      (0..<12).map { index in
        document(
          "events/e\(400_000 + index)", ["type": .string(types[index % 2]), "counter": .integer(Int64(800 + index))])
      }, at: 0)
    #expect(driver.screen.contains("counter"), "\(driver.screen)")
  }

  @Test("A count and its age are separated by spaces if there is room")
  func ages() {
    var driver = Driver(Size(width: 80, height: 24))
    driver.client(.collections(below: .root, ["users", "a-collection-with-a-long-name"]), at: 0)
    driver.client(.counted(ResourcePath("users"), 2), at: 0)
    driver.client(.counted(ResourcePath("a-collection-with-a-long-name"), 31), at: 0)
    driver.client(.status(Scenario.status(0)), at: 0)
    driver.tick(20)
    #expect(driver.screen.contains("2 · 0:20"), "\(driver.screen)")
    #expect(driver.screen.contains("31·0:20"), "\(driver.screen)")
  }

  @Test("Pane borders follow the theme, also in its preview, and are ASCII in ASCII mode")
  func borders() {
    var driver = opened(Size(width: 80, height: 24))
    driver.state.configuration.themes[1].border = BorderStyle.none
    driver.state.configuration.themes[2].border = .single
    #expect(driver.canvas()[0, 1].text == "╭")
    driver.press("T down")
    #expect(driver.canvas()[0, 1].text == " " && driver.screen.contains("1 Collections"))
    driver.press("down")
    #expect(driver.canvas()[0, 1].text == "┌" && driver.canvas()[0, 2].text == "│")
    driver.state.configuration.glyphs = .ascii
    #expect(driver.canvas()[0, 1].text == "+")
    driver.state.configuration.glyphs = .unicode
    driver.press("esc")
    #expect(driver.canvas()[0, 1].text == "╭")
    // Keys are named as before, whatever the lines are.
    driver.press("T down enter")
    #expect(driver.screen.contains("⏎") == Scenario.online.play(Size(width: 80, height: 24)).screen.contains("⏎"))
  }
}
