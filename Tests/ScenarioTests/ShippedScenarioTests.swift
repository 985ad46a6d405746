// SPDX-License-Identifier: Apache-2.0
import FirestoreTesting
import Synchronization
import Testing

@testable import CommandOutput
@testable import Scenarios

/// The scenarios that come with the program, in simulated worlds.
@Suite struct ShippedScenarioTests {
  /// The lines that a run prints as JSON.
  private func play(_ shipped: ShippedScenario, seed: UInt64? = nil) async throws -> [String] {
    var scenario = try ScenarioParser(database: database).scenario(shipped.text, of: shipped.name)
    if let seed { scenario.seed = seed }
    let lines = Mutex<[String]>([])
    let played = scenario
    let report = ScenarioReport(.json)
    let run = ScenarioRun(scenario, in: try ScenarioWorld(simulating: database, seed: scenario.seed)) { done in
      lines.withLock { $0 += report.lines(done, of: played) }
    } note: { note in
      lines.withLock { $0.append(note) }
    }
    try await run.run()
    return lines.withLock { $0 }
  }

  @Test("Each built-in scenario passes", arguments: ShippedScenario.all)
  func holds(_ shipped: ShippedScenario) async throws {
    _ = try await play(shipped)
  }

  @Test("The same scenario and seed give the same output each time", arguments: ShippedScenario.all)
  func repeats(_ shipped: ShippedScenario) async throws {
    let first = try await play(shipped, seed: 7)
    for _ in 0..<2 { #expect(try await play(shipped, seed: 7) == first) }
  }

  @Test("There are at least forty scenarios, each with a unique name and a summary")
  func catalogue() {
    #expect(ShippedScenario.all.count >= 40)
    #expect(Set(ShippedScenario.all.map(\.name)).count == ShippedScenario.all.count)
    for shipped in ShippedScenario.all {
      #expect(shipped.summary.hasSuffix(".") && shipped.summary.count > 20, "\(shipped.name)")
      #expect(shipped.name.allSatisfy { $0.isLowercase || $0 == "-" }, "\(shipped.name)")
    }
  }
}

extension ShippedScenario: CustomTestStringConvertible {
  public var testDescription: String { name }
}
