// SPDX-License-Identifier: Apache-2.0
import ClientPort
import FirestoreModel
import FirestoreQuery
import FirestoreTesting
import SeededRandom
import TerminalCanvas
import Testing

@testable import Dashboard
@testable import DashboardModel
@testable import DashboardView

@Suite struct RandomKeyTests {
  @Test(
    "Under random keys every cursor stays in its list, and the focus stays on a pane",
    arguments: [1, 2, 3, 4] as [UInt64])
  func randomKeys(_ seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let scenario = Scenario.allCases[Int(seed) % Scenario.allCases.count]
    var driver = scenario.play(Size(width: 80, height: 24))
    var keys = Keymap.standard.commands.flatMap(\.keys)
    keys += "abc123:/%é漢👩‍👩‍👧".map { .character($0) } + [Key(.backspace), Key(.left), Key(.home)]
    var trace: [String] = []
    for step in 0..<TestSize.count(450, full: 2500) {
      let key = keys.randomElement(using: &random) ?? Key(.enter)
      trace.append(key.description)
      driver.send(.input(.key(key), at: at(20 + Double(step) / 10)))
      answer(driver.effects, &driver)
      if step.isMultiple(of: 7), let open = driver.state.detail?.key { change(open, step, &random, &driver) }
      if step.isMultiple(of: 50) {
        let size = Size(width: Int.random(in: 1...140, using: &random), height: Int.random(in: 1...45, using: &random))
        driver.send(.input(.resize(size), at: driver.now))
        let point = (Int.random(in: 0..<140, using: &random), Int.random(in: 0..<45, using: &random))
        driver.mouse([.press, .wheelUp, .wheelDown].randomElement(using: &random) ?? .press, point.0, point.1)
        _ = driver.canvas()
      }
      guard checkInvariants(driver.state) else {
        Issue.record("seed \(seed), step \(step), last keys \(trace.suffix(12).joined(separator: " "))")
        return
      }
    }
  }

  /// What a client would answer.
  private func answer(_ effects: [Effect], _ driver: inout Driver) {
    for effect in effects {
      switch effect {
      case .client(.openWindow(let tag, let query)):
        let all = query.path.text == "events" ? Scenario.events(0..<(query.limit ?? 0)) : Scenario.orders
        let documents = query.path.text == "orders" || query.path.text == "events" ? all : []
        driver.client(.windowLoaded(tag, documents, isFromCache: false, total: nil), at: 0)
      case .client(.setNetwork(let enabled)): driver.client(.status(Scenario.status(20, isEnabled: enabled)), at: 0)
      case .client(.openDetail(let key)):
        let document = Scenario.orders.first { $0.key == key }
        driver.client(.detail(key, remote: document, overlay: nil, local: document), at: 0)
      default: break
      }
    }
  }

  /// The open document changes, here or at the server.
  private func change(_ key: DocumentKey, _ step: Int, _ random: inout SeededGenerator, _ driver: inout Driver) {
    let isLocal = Bool.random(using: &random)
    func version(_ pending: Document.PendingWrites) -> Document {
      document(
        key.path.text, at: 20 + Double(step) / 10, pending: pending,
        ["status": .integer(Int64.random(in: 0..<3, using: &random)), "lines": .array([.map(["n": .integer(1)])])])
    }
    let patch = Mutation(key: key, operation: .patch(["status": 1], FieldMask([FieldPath("status")])))
    let remote = version(.none)
    driver.client(
      .detail(key, remote: remote, overlay: isLocal ? patch : nil, local: isLocal ? version(.local) : remote), at: 0)
  }

  private func checkInvariants(_ state: DashboardState) -> Bool {
    var holds = true
    func check(_ condition: Bool, _ text: String) {
      #expect(condition, "\(text)")
      holds = holds && condition
    }
    check(state.focus != .detail || state.detail != nil, "the focus is on a pane that is there")
    let layout = state.layout(state.size)
    if layout.layoutClass != .line {
      check(layout.panes[state.focus]?.isEmpty == false, "the pane with the focus is drawn")
      if state.overlay == nil { check(view(state).lit == [state.focus], "the pane with the focus is lit") }
    }
    check(state.writes.cursor.id == nil || state.writes.selected != nil, "the selected write exists")
    if state.feed.isPaused, !state.feed.shown.isEmpty {
      check(state.feed.cursor.id.map { state.feed.shown.contains($0) } ?? false, "the selected row is shown")
    }
    if state.now.microseconds / 100_000 % 5 == 0, let detail = state.detail {
      var fresh = detail
      // Setting it drops the lines that are kept.
      fresh.folding = detail.folding
      let anew = DetailContent.lines(of: fresh, in: state)
      check(
        state.detailLines.map { "\($0)" } == anew.map { "\($0)" },
        "the lines of the document are what they would be now")
    }
    check(state.toasts.count <= 3, "at most three toasts")
    check(state.nextTick > state.now, "the next tick lies ahead")
    return holds
  }
}
