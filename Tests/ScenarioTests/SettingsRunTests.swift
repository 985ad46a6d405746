// SPDX-License-Identifier: Apache-2.0
import FirestoreTesting
import Testing

@testable import CommandOutput
@testable import Scenarios

/// Runs in which rules, bundles, tabs, indexes, sizes and clocks are not as a step says.
@Suite struct SettingsRunTests {
  private func failure(_ text: String) async throws -> CommandFailure? {
    let scenario = try ScenarioParser(database: database).scenario(text, of: "test")
    let run = ScenarioRun(scenario, in: try ScenarioWorld(simulating: database, seed: 1)) { _ in
    } note: { _ in
    }
    do { try await run.run() } catch let error as CommandFailure { return error }
    return nil
  }

  @Test(
    "A scenario whose expected state is not met exits with 75 and names the step",
    arguments: [
      "client ada\nclient bob shares ada\nada: expect no streams",
      "client ada\nclient bob shares ada\nbob: expect streams",
      "set a/b {\"n\": 1}\nexpect index a where n == 1",
      "index a n\nset a/b {\"n\": 1}\nwait 5m\nexpect scan a where n == 1",
      "expect cached a/b", "set a/b {}\nexpect not cached a/b",
      "set a/b {}\nexpect estimate a/b",
      "offline\nset a/b {\"at\": {\"$serverTimestamp\": true}}\nexpect no estimate a/b",
      "offline\nset a/b {\"at\": {\"$serverTimestamp\": true}}\nexpect estimate a/b where at > 2026-01-01T00:30:00Z",
    ])
  func late(_ text: String) async throws {
    let failure = try await failure(text)
    let last = text.split(separator: "\n").count
    #expect(
      failure?.status == .tryAgain && failure?.message.hasPrefix("test, line \(last), ") == true, "\(failure as Any)")
  }

  @Test("'expect estimate' checks the result of the listener that it names")
  func estimateOfListener() async throws {
    let start = """
      listen a where n == 1 as mine
      offline
      set a/b {"n": 2, "at": {"$serverTimestamp": true}}
      set a/c {"n": 1, "at": {"$serverTimestamp": true}}

      """
    let ofBoth = "expect estimate a/b\nexpect estimate a/c where n == 1 on mine\nonline\nexpect pending 0"
    #expect(try await failure(start + ofBoth) == nil)
    #expect(try await failure(start + "expect estimate a/b on mine")?.status == .tryAgain)
  }

  @Test("A listener unexpectedly denied by rules ends the run with 77 and the rule")
  func refused() async throws {
    let failure = try await failure("rules\nmatch /a/{b} {\n  allow read: if false;\n}\nend\nlisten a\nwait 1s")
    #expect(failure?.status == .permissionDenied, "\(failure as Any)")
    #expect(failure?.message.contains("Missing or insufficient permissions.") == true)
  }

  @Test("A query name that is in no bundle ends the run with status 1")
  func unnamed() async throws {
    let failure = try await failure("listen named menu")
    #expect(failure?.message.hasSuffix("no loaded bundle has a query named menu.") == true)
  }

  @Test("Bundle contents do not replace newer documents, and reloading changes nothing")
  func bundleTwice() async throws {
    let text = """
      server: set a/b {"n": 1}
      bundle first from a
      server: set a/b {"n": 2}
      bundle second from a
      offline
      load second
      expect document a/b where n == 2 in cache
      load first
      expect document a/b where n == 2 in cache
      load second
      expect document a/b where n == 2 in cache
      """
    #expect(try await failure(text) == nil)
  }

  @Test("A signed-in user stays signed in when the client reopens")
  func userStays() async throws {
    let text = """
      rules
      match /a/{b} { allow read, write: if request.auth.uid == "ada"; }
      end
      user ada
      restart
      listen a as rows
      expect synced on rows
      kill
      set a/b {}
      expect acknowledged a/b
      """
    #expect(try await failure(text) == nil)
  }
}
