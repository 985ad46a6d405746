// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreModel
import FirestoreTesting
import TerminalCanvas
import Testing

@testable import CommandOutput
@testable import Dashboard
@testable import DashboardHost
@testable import DashboardModel
@testable import Scenarios

/// A shipped scenario on a screen, from its first step to its end.
@MainActor
private final class ShowHarness {
  private var show: ScenarioShow?
  private var waiter: (isMet: () -> Bool, continuation: CheckedContinuation<Void, Never>)?

  private init(_ name: String) throws {
    let shipped = try #require(ShippedScenario.all.first { $0.name == name })
    let scenario = try ScenarioParser(database: database).scenario(shipped.text, of: name)
    var live = LiveScenario(scenario, in: "a separate backend") { scenario in
      try ScenarioWorld(simulating: database, seed: scenario.seed)
    }
    live.isStepped = true
    let configuration = DashboardConfiguration(
      database: database, backend: .init(.embedded, project: database.project))
    show = ScenarioShow(live, configuration, size: Size(width: 200, height: 60)) { _ in
    } changed: { [weak self] in
      self?.check()
    }
  }

  static func run(_ name: String, _ body: @MainActor (ShowHarness) async throws -> Void) async throws {
    let harness = try ShowHarness(name)
    harness.show?.begin()
    do { try await body(harness) } catch {
      await harness.show?.end()
      throw error
    }
    await harness.show?.end()
  }

  private func check() {
    guard let waiter, waiter.isMet() else { return }
    self.waiter = nil
    waiter.continuation.resume()
  }

  /// Waits until the screen meets a condition.
  func until(_ isMet: @escaping () -> Bool) async {
    if isMet() { return }
    await withCheckedContinuation { waiter = (isMet, $0) }
  }

  /// Runs every step.
  func play() async {
    let count = show?.clientSet.play?.steps.count ?? 0
    for done in 0..<count {
      await until { [self] in show?.clientSet.play?.doneCount == done }
      show?.apply(.input(.key(.character("n")), at: .now))
    }
    await until { [self] in show?.result != nil }
  }

  var result: ScenarioShow.Result? { show?.result }

  func state(_ name: String) -> DashboardState? {
    show?.clientSet.members.first { $0.name == name }?.session.live
  }

  func conflicts(_ name: String) -> [String] {
    state(name)?.feed.rows.filter { $0.kind == .conflict }.map(\.summary) ?? []
  }
}

@MainActor
@Suite("Scenarios on the screen", .timeLimit(.minutes(10)))
struct ScenarioShowTests {
  @Test("In the scenario 'conflict' both clients report the conflict and the changes")
  func conflict() async throws {
    try await ShowHarness.run("conflict") { harness in
      await harness.play()
      await harness.until { !harness.conflicts("bob").isEmpty }

      #expect(harness.result == .passed)
      let ada = harness.conflicts("ada")
      #expect(ada.count == 1 && ada[0].hasPrefix("conflict: \"ada\" replaced bob's mayor \"bob\", "), "\(ada)")
      #expect(ada.first?.hasSuffix(" later, saw \"none\"") == true, "\(ada)")
      let bob = harness.conflicts("bob")
      #expect(bob.count == 1 && bob[0].hasPrefix("conflict: ada replaced mayor \"bob\" with \"ada\", "), "\(bob)")
      #expect(bob.first?.hasSuffix(" later, unseen by ada") == true, "\(bob)")
      let card = harness.state("ada")?.feed.rows.filter { $0.kind == .divider }.map(\.summary) ?? []
      #expect(card.contains { $0.contains("1 conflicting \u{B7} 1 document changed by others") }, "\(card)")
    }
  }

  @Test("In the scenario different-fields no client reports a conflict")
  func noConflict() async throws {
    try await ShowHarness.run("different-fields") { harness in
      await harness.play()
      #expect(harness.result == .passed)
      #expect(harness.conflicts("ada").isEmpty && harness.conflicts("bob").isEmpty)
    }
  }
}
