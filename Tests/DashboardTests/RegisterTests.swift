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

@Suite("Copy register")
struct RegisterTests {
  @Test("ctrl-v types the last text copied in the dashboard")
  func register() {
    var driver = Scenario.online.play(Size(width: 120, height: 36))
    driver.press("1 j")
    driver.press("/ ctrl-v")
    #expect(driver.state.overlay?.field?.text == "", "nothing was copied yet")
    driver.press("esc")
    driver.press(":")
    driver.type("go orders/7Qf3xAzP")
    driver.press("enter y p")
    #expect(driver.effects == [.terminal(.copy("orders/7Qf3xAzP"))])
    driver.press(": ctrl-v")
    #expect(driver.state.overlay?.field?.text == "orders/7Qf3xAzP")
  }
}
