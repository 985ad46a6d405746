// SPDX-License-Identifier: Apache-2.0
import ClientPort
import FirestoreClientState
import FirestoreModel
import FirestoreTesting
import TerminalCanvas
import Testing

@testable import Dashboard
@testable import DashboardModel

@Suite("Security rule decisions")
struct RequestsTests {
  private func decision(_ number: Int, denial: String? = nil) -> RuleDecision {
    RuleDecision(
      number: number, time: at(Double(number)), method: "get", path: ResourcePath("rooms/r\(number)"),
      user: number.isMultiple(of: 2) ? "ada" : nil, isAllowed: denial == nil, line: 7, reason: denial ?? "",
      milliseconds: Double(number) / 8)
  }

  private func opened(_ size: Size = Size(width: 120, height: 36)) -> Driver {
    var driver = Driver(size)
    driver.press("4 ]")
    return driver
  }

  private func isAsking(_ driver: Driver) -> Bool {
    driver.effects.contains { if case .client(.listDecisions) = $0 { true } else { false } }
  }

  @Test("Rules requests are the second list of pane 4, opened with ] or :requests")
  func tabs() {
    var driver = opened()
    #expect(driver.screen.contains("4 Requests") && !driver.screen.contains("4 Live feed"))
    driver.press("[")
    #expect(driver.screen.contains("4 Live feed"))
    driver.press("1 :")
    driver.type("requests")
    driver.press("enter")
    #expect(driver.state.focus == .feed && driver.screen.contains("4 Requests"))
    driver.press("esc")
    #expect(driver.screen.contains("4 Live feed"))
  }

  @Test("While visible, the request list polls the server every second for new decisions")
  func live() {
    var driver = opened()
    #expect(driver.effects == [.client(.listDecisions(after: nil))])
    #expect(driver.screen.contains("asking the server"))
    driver.client(.decisions(.success([])), at: 0.2)
    #expect(driver.screen.contains("rules have checked no request so far"))
    #expect(driver.state.nextTick <= at(1))
    driver.tick(1)
    #expect(driver.effects.contains(.client(.listDecisions(after: 0))))
    driver.client(.decisions(.success([decision(1), decision(2)])), at: 1.1)
    driver.tick(1.5)
    #expect(!isAsking(driver))
    driver.press("1")
    driver.tick(2)
    #expect(driver.effects.contains(.client(.listDecisions(after: 2))))
    driver.client(.decisions(.success([decision(3)])), at: 2.1)
    #expect(driver.screen.contains("rooms/r1") && driver.screen.contains("rooms/r3"))
    #expect(driver.screen.contains("3, 0 denied"))

    driver.press("4 [")
    driver.tick(4)
    #expect(!isAsking(driver))
  }

  @Test("A request's row has time, verdict, user, method, path, line and evaluation time")
  func row() {
    var driver = opened()
    driver.client(.decisions(.success([decision(2, denial: "false for 'get' @ L7")])), at: 0.2)
    #expect(
      driver.screen.contains("12:04:02.000  DENY  ada  get    rooms/r2  L7 0.25 ms  false for 'get' @ L7"),
      "\(driver.screen)")
  }

  @Test("An unreachable server is reported, and polling continues until it returns")
  func gone() {
    var driver = opened()
    driver.client(.decisions(.success([decision(1)])), at: 0.2)
    driver.client(
      .decisions(.failure(RPCStatus(.unavailable, "127.0.0.1:8080 cannot answer: Connection refused"))), at: 1.2)
    #expect(driver.screen.contains("Connection refused") && !driver.screen.contains("rooms/r1"))
    driver.tick(2)
    #expect(driver.effects.contains(.client(.listDecisions(after: nil))))
    driver.client(.decisions(.success([decision(1)])), at: 2.2)
    #expect(driver.screen.contains("rooms/r1"))
  }

  @Test("A restarted server's decisions replace those from before the restart")
  func restarted() {
    var driver = opened()
    driver.client(.decisions(.success((1...9).map { decision($0) })), at: 0.2)
    driver.client(.decisions(.success([decision(1)])), at: 1.2)
    #expect(driver.state.requests.all?.map(\.number) == [1])
    driver.client(.decisions(.success([])), at: 2.2)
    #expect(driver.state.requests.all == [])
  }

  @Test("If the server reports no decisions, the list says why and does not poll", arguments: ["embedded", "cloud"])
  func untold(kind: String) {
    var driver = Driver(kind: kind == "cloud" ? .cloud : .embedded)
    driver.press("4 ]")
    #expect(!isAsking(driver))
    let reason = kind == "cloud" ? "Cloud Firestore does not report" : "rules apply at 'hearth serve --rules'"
    #expect(driver.screen.contains(reason), "\(driver.screen)")
    driver.tick(2)
    #expect(!isAsking(driver))
    driver.press("enter k g G space / esc esc")
  }

  @Test("The request list follows the newest decision until you select another")
  func selected() {
    var driver = opened()
    driver.client(.decisions(.success((1...3).map { decision($0) })), at: 0.1)
    #expect(driver.state.requests.selected?.number == 3 && driver.screen.contains("follow"))
    driver.press("k")
    driver.client(.decisions(.success((4...150).map { decision($0) })), at: 1.2)
    #expect(driver.state.requests.selected?.number == 2 && driver.screen.contains("paused +148"))
    driver.press("G")
    #expect(driver.state.requests.selected?.number == 150 && driver.screen.contains("follow"))
    driver.press("g")
    #expect(driver.state.requests.selected?.number == 1 && driver.screen.contains("rooms/r1 "))
    driver.press("f")
    #expect(driver.state.requests.selected?.number == 150)
  }

  @Test("Keys filter the requests by denial, user or text, and Esc shows all requests")
  func filters() {
    var driver = opened()
    let decisions = (1...9).map { decision($0, denial: $0 % 3 == 0 ? "false" : nil) }
    driver.client(.decisions(.success(decisions)), at: 0.1)
    func numbers() -> [Int] { driver.state.requests.shown.map(\.number) }
    driver.press("d")
    #expect(numbers() == [3, 6, 9] && driver.screen.contains("only denied"))
    driver.press("k a")
    #expect(numbers() == [6] && driver.screen.contains("only ada"))
    driver.press("d")
    #expect(numbers() == [2, 4, 6, 8])
    driver.press("/")
    driver.type("rooms/r4")
    driver.press("enter")
    #expect(numbers() == [4] && driver.screen.contains("/rooms/r4"))
    driver.press("esc")
    #expect(numbers().count == 9)
    driver.press("/")
    driver.type("nothing")
    driver.press("enter")
    #expect(driver.screen.contains("none of the last 9 passes"))
    #expect(driver.state.feed.filter.isEmpty)
  }

  @Test("Enter opens a decision's statements, and Enter again opens its document")
  func account() {
    var driver = opened()
    var denied = decision(2, denial: "false for 'get' @ L7")
    denied.statements = [
      RuleDecision.Statement(
        line: 7, text: "allow get: if request.auth.uid == resource.data.owner", isTrue: false,
        values: [
          RuleDecision.SeenValue("request.auth.uid", "\"ada\""),
          RuleDecision.SeenValue("resource.data.owner", "\"bob\""),
        ]),
      RuleDecision.Statement(
        line: 9, text: "allow get: if resource.data.open", isTrue: nil, message: "Null value error.",
        values: [RuleDecision.SeenValue("resource.data.open", "Null value error.", isFailure: true)]),
    ]
    driver.client(.decisions(.success([denied])), at: 0.1)
    #expect(driver.screen.contains("ERROR"))
    driver.press("enter")
    for text in [
      "get rooms/r2 as ada: denied by line 7", "L7 allow get: if request.auth.uid == resource.data.owner",
      "request.auth.uid = \"ada\"", "resource.data.owner = \"bob\"", "false: not allowed",
      "resource.data.open has no value: Null value error.", "0.25 ms",
    ] {
      #expect(driver.screen.contains(text), "\(text)\n\(driver.screen)")
    }
    driver.press("enter")
    #expect(driver.state.detail?.key == key("rooms/r2"))
  }

  @Test("The request list says if the server does not report rule values")
  func silent() {
    var driver = opened()
    driver.client(.decisions(.success([decision(1, denial: "false")])), at: 0.1)
    driver.press("enter")
    #expect(driver.screen.contains("This server does not report the values of its rules."))
  }

  @Test(
    "The request list fits any size",
    arguments: [(24, 4), (1, 1), (60, 16), (200, 60), (30, 8), (50, 14), (80, 24)])
  func sizes(width: Int, height: Int) {
    var driver = opened(Size(width: width, height: height))
    driver.client(.decisions(.success((1...200).map { decision($0, denial: "x y") })), at: 0.2)
    driver.press("k k g d enter j j esc k G w")
    #expect(driver.canvas().size == Size(width: width, height: height))
  }
}
