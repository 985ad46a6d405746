// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreModel
import FirestoreQuery
import FirestoreTesting
import TerminalCanvas
import TerminalTesting
import Testing

@testable import Dashboard
@testable import DashboardModel
@testable import DashboardView

@Suite("Key display for an audience")
struct PressedKeysTests {
  private func shown(_ text: String = "keys on") -> Driver {
    var driver = Scenario.online.play(Size(width: 80, height: 24))
    driver.press(":")
    driver.type(text)
    driver.press("enter")
    return driver
  }

  /// The line above the footer.
  private func line(_ driver: Driver) -> String { driver.canvas().text(row: 22) }

  @Test("Pressed keys and repeat counts appear above the footer for three seconds")
  func presses() {
    var driver = shown()
    driver.press("j j j enter")
    #expect(line(driver).hasSuffix(" j ×3  ⏎ "), "\(line(driver))")
    let pressed = driver.now
    #expect(driver.state.nextTick <= pressed.advanced(seconds: 3))
    driver.send(.tick(pressed.advanced(seconds: 2)))
    #expect(line(driver).hasSuffix(" j ×3  ⏎ "))
    driver.send(.tick(pressed.advanced(seconds: 3)))
    #expect(!line(driver).contains("×3"), "\(line(driver))")
  }

  @Test(":keys toggles the display of pressed keys, and :keys off disables it")
  func off() {
    var driver = Scenario.online.play(Size(width: 80, height: 24))
    driver.press("j j")
    #expect(!line(driver).contains("×2"))
    driver = shown()
    driver.press("j j")
    #expect(line(driver).contains("j ×2"))
    driver.press(":")
    driver.type("keys off")
    driver.press("enter j j")
    #expect(!line(driver).contains("×2"))
    driver = shown("keys ")
    driver.press("j j")
    #expect(line(driver).contains("j ×2"), "alone it switches")
  }

  @Test("While the past is shown, pressed keys still disappear after three seconds")
  func past() {
    var session = DashboardSession(shown().state)
    let now = session.live.now
    _ = session.apply(.host(.notice(.warning, "something"), at: now.advanced(seconds: 1)))
    _ = session.apply(.input(.key(.character(",")), at: now.advanced(seconds: 60)))
    _ = session.apply(.input(.key(.character("j")), at: now.advanced(seconds: 61)))
    #expect(session.shown.past != nil)
    #expect(view(session.shown).text(row: 22).hasSuffix(" j "), "\(view(session.shown).text(row: 22))")
    #expect(session.nextTick <= now.advanced(seconds: 64))
    _ = session.apply(.tick(now.advanced(seconds: 65)))
    #expect(!view(session.shown).text(row: 22).hasSuffix(" j "))
  }
}
