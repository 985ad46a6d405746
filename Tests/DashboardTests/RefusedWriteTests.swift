// SPDX-License-Identifier: Apache-2.0
import ClientPort
import FirestoreClientState
import FirestoreModel
import TerminalCanvas
import Testing

@testable import Dashboard
@testable import DashboardModel

@Suite("The rule that rejected a write")
struct RefusedWriteTests {
  private static let refusal = RPCStatus(
    .permissionDenied, "Missing or insufficient permissions. false for 'delete' @ L7")

  /// The shop, whose write #44 deletes `users/grace` and was refused at 12:04:18.
  private func driver(kind: ConnectedBackend.Kind = .emulator) -> Driver {
    var driver = Scenario.online.play(Size(width: 120, height: 36))
    if kind != .emulator {
      driver.state.configuration.backend = .init(kind, project: "demo-shop", host: nil)
    }
    driver.client(.writeRejected(BatchID(44), Self.refusal), at: 18)
    return driver
  }

  private func decision(_ number: Int, _ method: String, _ path: String, at seconds: Double) -> RuleDecision {
    RuleDecision(
      number: number, time: at(seconds), method: method, path: ResourcePath(path), user: "ada", isAllowed: false,
      line: 7, reason: "false for '\(method)' @ L7",
      statements: [
        RuleDecision.Statement(
          line: 7, text: "allow delete: if request.auth.token.admin", isTrue: false,
          values: [RuleDecision.SeenValue("request.auth.token.admin", "false")])
      ])
  }

  @Test("Enter, then r on a rejected write opens the best matching rules request")
  func found() {
    var driver = driver()
    driver.press("2 G enter")
    #expect(driver.screen.contains("what the rules saw"), "\(driver.screen)")
    driver.press("r")
    #expect(driver.effects.contains(.client(.listDecisions(after: nil))))
    driver.client(
      .decisions(
        .success([
          decision(1, "delete", "users/grace", at: 2), decision(2, "delete", "users/grace", at: 17.9),
          decision(3, "get", "users/grace", at: 18), decision(4, "delete", "users/ada", at: 18),
        ])), at: 18.2)
    #expect(driver.state.focus == .feed && driver.state.requests.selected?.number == 2)
    #expect(driver.screen.contains("request.auth.token.admin = false"), "\(driver.screen)")
    #expect(driver.screen.contains("L7 allow delete: if request.auth.token.admin"))

    driver.press("esc 2 G enter r")
    #expect(driver.screen.contains("request.auth.token.admin = false"), "what is known is shown at once")
  }

  @Test("The feed row of a rejected write also opens its rules request")
  func feedRow() {
    var driver = driver()
    driver.press("4 G")
    #expect(driver.state.feed.selected?.ends == BatchID(44))
    driver.press("enter r")
    driver.client(.decisions(.success([decision(2, "delete", "users/grace", at: 17.9)])), at: 18.2)
    #expect(driver.screen.contains("request.auth.token.admin = false"), "\(driver.screen)")
  }

  @Test("Opening a write's rules request removes a filter that hides the request")
  func filtered() {
    var driver = driver()
    driver.press("4 ] /")
    driver.type("orders")
    driver.press("enter 2 G enter r")
    driver.client(.decisions(.success([decision(2, "delete", "users/grace", at: 17.9)])), at: 18.2)
    #expect(driver.state.requests.filter.isEmpty && driver.state.requests.selected?.number == 2)
  }

  @Test("A missing rules request or a backend without rules is reported")
  func untold() {
    var driver = driver()
    driver.press("2 G enter r")
    driver.client(.decisions(.success([decision(1, "delete", "users/grace", at: -90)])), at: 18.2)
    #expect(driver.screen.contains("the server has not reported the request of #44"), "\(driver.screen)")

    var embedded = self.driver(kind: .embedded)
    embedded.press("2 G enter r")
    #expect(embedded.screen.contains("rules apply at 'hearth serve --rules'"), "\(embedded.screen)")
  }

  @Test("A write rejected for a reason other than rules offers no rules request")
  func otherReason() {
    var driver = Scenario.online.play(Size(width: 120, height: 36))
    driver.client(.writeRejected(BatchID(44), RPCStatus(.notFound, "no document to update")), at: 18)
    driver.press("2 G enter")
    #expect(!driver.screen.contains("what the rules saw"))
  }
}
