// SPDX-License-Identifier: Apache-2.0
import ClientPort
import FirestoreClientState
import FirestoreModel
import FirestoreTesting
import TerminalCanvas
import Testing

@testable import Dashboard
@testable import DashboardModel

@Suite("Fault menu")
struct FaultMenuTests {
  @Test("A letter in the fault menu cycles a setting, and a badge shows active faults")
  func settings() {
    var driver = Scenario.online.play(Size(width: 120, height: 36))
    driver.press("F")
    var latencies: [Duration] = []
    for _ in 0..<4 {
      driver.press("l")
      guard case .client(.setFaults(let settings))? = driver.effects.first else { continue }
      latencies.append(settings.latency)
    }
    #expect(latencies == [.milliseconds(100), .milliseconds(500), .seconds(2), .zero])
    #expect(!driver.screen.contains("[FAULTS]"))

    driver.press("a u s")
    var expected = FaultSettings()
    expected.lostAcknowledgements = 10
    expected.isOffline = true
    expected.isHalfOpen = true
    #expect(driver.effects == [.client(.setFaults(expected))])
    driver.press("esc")
    #expect(driver.screen.contains("[FAULTS]"))
    #expect(driver.screen.contains("faults 10 % of acknowledgements lost,"))

    driver.press("F c")
    #expect(driver.effects == [.client(.setFaults(FaultSettings()))])
  }

  @Test(
    "A letter in the fault menu applies a fault to the next write",
    arguments: [
      ("r", WriteFault.reject(.permissionDenied)), ("n", .reject(.notFound)), ("b", .reject(.aborted)),
      ("w", .dropAcknowledgement), ("d", .dropRequest),
    ])
  func next(_ letter: String, _ fault: WriteFault) {
    var driver = Scenario.online.play(Size(width: 80, height: 24))
    driver.press("3 f \(letter)")
    #expect(driver.effects == [.client(.causeFault(.write(fault)))])
    #expect(driver.state.faults.settings.isCalm)
  }

  @Test("A fault that waits for a write is shown in a badge, in a line and in the menu")
  func armed() {
    var driver = Scenario.online.play(Size(width: 120, height: 36))
    #expect(!driver.screen.contains("[FAULTS]"))
    driver.client(.faults(FaultSettings(), waiting: [.write(.dropAcknowledgement), .read(.aborted)]), at: 40)
    #expect(driver.screen.contains("[FAULTS]"))
    #expect(
      driver.screen.contains("faults next acknowledgement lost, next") && driver.screen.contains("fails: aborted"))
    driver.press("F")
    #expect(driver.screen.contains("armed: applied, then sent again"))
    driver.press("c")
    #expect(driver.effects == [.client(.setFaults(FaultSettings()))])
    driver.press("esc")

    driver.client(.faults(FaultSettings(), waiting: []), at: 41)
    #expect(!driver.screen.contains("[FAULTS]") && !driver.screen.contains("acknowledgement lost"))
  }

  @Test("Enter runs the selected row of the fault menu, and q closes the menu")
  func rows() {
    var driver = Scenario.online.play(Size(width: 80, height: 24))
    driver.press("F down down down enter")
    #expect(driver.state.faults.settings.isOffline)
    driver.press("q")
    #expect(driver.state.overlay == nil)
  }

  @Test("Every row of the fault menu has a unique letter, and no letter closes the menu")
  func letters() {
    let letters = FaultItem.allCases.map(\.letter)
    #expect(Set(letters).count == letters.count)
    #expect(!letters.contains("q"))
  }
}

@Suite("Paths in narrow columns")
struct PathTextTests {
  @Test(
    "A path that is too wide for its column is shortened, but its end stays visible",
    arguments: [
      ("chat/lobby/messages/m0912", 19, "chat/lobby/…/m0912"), ("chat/lobby/messages/m0912", 12, "chat/…/m0912"),
      ("chat/lobby/messages/m0912", 7, "…/m0912"), ("chat/lobby/messages/m0912", 5, "m0912"),
      ("chat/lobby/messages/m0912", 4, "…912"), ("1nbrbM6wqQewK0uilkBJ", 10, "1nb…uilkBJ"),
      ("1nbrbM6wqQewK0uilkBJ", 6, "…ilkBJ"), ("short", 10, "short"),
    ])
  func fitted(_ path: String, _ width: Int, _ text: String) {
    #expect(PathText.fitted(path, to: width, "…") == text)
  }
}
