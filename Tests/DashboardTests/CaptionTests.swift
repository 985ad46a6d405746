// SPDX-License-Identifier: Apache-2.0
import FirestoreTesting
import TerminalCanvas
import TerminalTesting
import Testing

@testable import Dashboard
@testable import DashboardModel

@Suite("Captions")
struct CaptionTests {
  @Test(
    "A caption replaces the key hints and adds a marker to the recording", arguments: [24, 60, 120])
  func shown(width: Int) {
    var driver = Scenario.online.play(Size(width: width, height: 24))
    let keys = driver.canvas().text(row: 23)
    driver.press(":")
    driver.type("caption Pay")
    driver.press("enter")
    #expect(driver.effects.contains(.recording(.mark("Pay"))))
    #expect(driver.canvas().text(row: 23).contains(" Pay") && driver.canvas().text(row: 23) != keys)

    driver.send(.caption("", at: at(30)))
    #expect(driver.effects.isEmpty && !driver.canvas().text(row: 23).contains("Pay"))
  }

  @Test("A caption hides the first-steps guide until the caption ends")
  func coached() {
    var driver = Scenario.online.play(Size(width: 120, height: 36))
    driver.state.coach = Coach()
    let step = driver.canvas().text(row: 35)
    #expect(step.contains(" 1 of 3"))
    driver.send(.caption("Unplugged", at: at(30)))
    #expect(driver.canvas().text(row: 35).hasPrefix(" Unplugged"))
    driver.send(.caption("", at: at(31)))
    #expect(driver.canvas().text(row: 35).contains(" 1 of 3"))
  }

  @Test("A script's caption appears over the open help, without control characters")
  func script() {
    var driver = Scenario.online.play(Size(width: 120, height: 36))
    driver.press("?")
    driver.send(.caption("Help\u{1B}[2J", at: at(30)))
    #expect(driver.state.overlay != nil && driver.screen.contains("Help"))
    #expect(!driver.screen.unicodeScalars.contains("\u{1B}"))
  }
}
