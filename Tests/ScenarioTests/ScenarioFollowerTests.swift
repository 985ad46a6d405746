// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreSync
import FirestoreTesting
import Synchronization
import Testing

import class Hearth.Client

@testable import CommandOutput
@testable import Scenarios

/// Runs with one who looks.
@Suite struct ScenarioFollowerTests {
  /// The clients that are open, and the calls of a follower.
  private final class Looker: Sendable {
    let clients = Mutex<[String: Client]>([:])
    let news = Mutex<[String]>([])

    /// A follower that looks at the listeners, the status and the cache of each client before each step.
    var follower: ScenarioFollower {
      ScenarioFollower(
        before: { step in
          self.news.withLock { $0.append("before \(step)") }
          for (_, client) in self.clients.withLock({ $0 }) {
            _ = try await client.engine.cachedCollectionIDs(below: .root)
            for await _ in client.engine.status() { break }
          }
        },
        opened: { name, client, _ in
          self.news.withLock { $0.append("opened \(name ?? "-")") }
          self.clients.withLock { $0[name ?? "-"] = client }
          client.engine.setTap(ListenerTap {})
        },
        ended: { error in self.news.withLock { $0.append(error == nil ? "passed" : "failed") } })
    }
  }

  private func lines(
    _ scenario: Scenario, _ follower: ScenarioFollower? = nil
  ) async throws -> (lines: [String], failure: CommandFailure?) {
    let lines = Mutex<[String]>([])
    let report = ScenarioReport(.json)
    var world = try ScenarioWorld(simulating: database, seed: scenario.seed)
    world.follower = follower
    let run = ScenarioRun(scenario, in: world) { done in
      lines.withLock { $0 += report.lines(done, of: scenario) }
    } note: { _ in
    }
    do { try await run.run() } catch let error as CommandFailure { return (lines.withLock { $0 }, error) }
    return (lines.withLock { $0 }, nil)
  }

  private func scenario(_ text: String) throws -> Scenario {
    try ScenarioParser(database: database).scenario(text, of: "test")
  }

  @Test(
    "A built-in scenario passes with an observer and prints the same number of lines", arguments: ShippedScenario.all)
  func same(_ shipped: ShippedScenario) async throws {
    let scenario = try ScenarioParser(database: database).scenario(shipped.text, of: shipped.name)
    let alone = try await lines(scenario)
    let looker = Looker()
    let seen = try await lines(scenario, looker.follower)
    #expect(seen.lines.count == alone.lines.count && seen.failure == nil)
    #expect(looker.news.withLock { $0.last } == "passed")
  }

  @Test("An observer runs before each step, after each opening and at the end")
  func calls() async throws {
    let looker = Looker()
    _ = try await lines(try scenario("client ada\nada: offline\nada: restart"), looker.follower)
    #expect(
      looker.news.withLock { $0 } == ["before 0", "opened ada", "before 1", "before 2", "opened ada", "passed"])
    let late = Looker()
    let failed = try await lines(try scenario("expect pending 1 within 1h"), late.follower)
    #expect(failed.failure?.status == .tryAgain)
    #expect(late.news.withLock { $0 } == ["before 0", "opened -", "failed"])
  }

  @Test("An observer's error ends the run with that error")
  func ends() async throws {
    let follower = ScenarioFollower(before: { step in
      if step == 1 { throw CommandFailure(.failure, "enough") }
    })
    let run = try await lines(try scenario("offline\nonline"), follower)
    #expect(run.failure == CommandFailure(.failure, "enough") && run.lines.count == 1)
  }

  @Test("The names of a scenario's clients are known before they open")
  func names() throws {
    #expect(try scenario("client bob\nclient ada\nserver: set a/b {}\nbob: offline").clientNames == ["bob", "ada"])
    #expect(try scenario("caption x\nlisten a").clientNames == ["client"])
    #expect(try scenario("# none").clientNames == ["client"])
  }
}
