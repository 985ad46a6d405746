// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreModel
import TerminalCanvas
import Testing

@testable import Dashboard
@testable import DashboardModel

@Suite("What the server's security rules decided")
struct RequestsTests {
  private func decision(_ number: Int, denial: String? = nil) -> RuleDecision {
    RuleDecision(
      number: number, time: at(Double(number)), method: "get", path: ResourcePath("rooms/r\(number)"),
      user: number.isMultiple(of: 2) ? "ada" : nil, isAllowed: denial == nil, line: 7, reason: denial ?? "")
  }

  private func opened(_ size: Size = Size(width: 80, height: 24)) -> Driver {
    var driver = Driver(size)
    driver.press(":")
    driver.type("requests")
    driver.press("enter")
    return driver
  }

  @Test("While it is open the server is asked every second for what is new; when it is closed, no more")
  func live() {
    var driver = opened()
    #expect(driver.effects.contains(.client(.listDecisions(after: nil))))
    #expect(driver.screen.contains("asking the server"))
    driver.client(.decisions(.success([])), at: 0.2)
    #expect(driver.screen.contains("no request has been put to rules so far"))
    #expect(driver.state.nextTick <= at(1))
    driver.tick(1)
    #expect(driver.effects.contains(.client(.listDecisions(after: 0))))
    driver.client(.decisions(.success([decision(1), decision(2)])), at: 1.1)
    driver.tick(1.5)
    #expect(driver.effects.isEmpty)
    driver.tick(2)
    #expect(driver.effects.contains(.client(.listDecisions(after: 2))))

    driver.press("esc")
    driver.tick(4)
    #expect(!driver.effects.contains { if case .client(.listDecisions) = $0 { true } else { false } })
  }

  @Test("A server that is gone is told of, and asked until it is back")
  func gone() {
    var driver = opened()
    driver.client(.decisions(.success([decision(1)])), at: 0.2)
    driver.client(
      .decisions(
        .failure(
          RPCStatus(
            .unavailable, "127.0.0.1:8080 cannot answer /emulator/v1/projects/demo-shop:requests: Connection refused"))),
      at: 1.2)
    #expect(driver.screen.contains("Connection refused") && !driver.screen.contains("rooms/r1"))
    driver.tick(2)
    #expect(driver.effects.contains(.client(.listDecisions(after: nil))))
    driver.client(.decisions(.success([decision(1)])), at: 2.2)
    #expect(driver.screen.contains("rooms/r1"))
  }

  @Test(
    "The selected request is told in full, and stays selected while others come in; d leaves those that were denied")
  func selected() {
    let reason = String(repeating: "false for 'get' @ L7, ", count: 8) + "and so on"
    var driver = opened()
    driver.client(.decisions(.success([decision(1)])), at: 0.1)
    driver.client(.decisions(.success([decision(1), decision(2, denial: reason), decision(3)])), at: 0.2)
    #expect(driver.screen.contains("get rooms/r3 as nobody"))
    driver.press("j")
    #expect(
      driver.screen.contains("get rooms/r2 as ada: denied by line 7: false for") && driver.screen.contains("and so on"))

    driver.client(.decisions(.success((1...150).map { decision($0, denial: $0 == 2 ? reason : nil) })), at: 1.2)
    #expect(driver.screen.contains("get rooms/r2 as ada: denied") && driver.screen.contains("150, 1 denied"))
    driver.press("d")
    #expect(driver.screen.contains("Denied requests") && driver.screen.contains("and so on"))
    #expect(!driver.screen.contains("rooms/r1 "))
    driver.client(.decisions(.success([decision(151)])), at: 2.2)
    #expect(driver.screen.contains("none of the last 1 was denied"))
    driver.press("d")
    #expect(driver.screen.contains("get rooms/r151 as nobody: allowed by line 7"))
  }

  @Test("Any size takes it", arguments: [(24, 4), (1, 1), (60, 16), (200, 60), (30, 8)])
  func sizes(width: Int, height: Int) {
    var driver = opened(Size(width: width, height: height))
    driver.client(.decisions(.success((1...200).map { decision($0, denial: "x y") })), at: 0.2)
    driver.press("j j G d j")
    #expect(driver.canvas().size == Size(width: width, height: height))
  }
}
