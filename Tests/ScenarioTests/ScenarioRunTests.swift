// SPDX-License-Identifier: Apache-2.0
import FirestoreTesting
import Synchronization
import Testing

@testable import CommandOutput
@testable import Scenarios

/// What a run says of scenarios that go wrong.
@Suite struct ScenarioRunTests {
  private func failure(_ text: String) async throws -> CommandFailure? {
    let scenario = try ScenarioParser(database: database).scenario(text, of: "test")
    let run = ScenarioRun(scenario, in: try ScenarioWorld(simulating: database, seed: 1)) { _ in
    } note: { _ in
    }
    do { try await run.run() } catch let error as CommandFailure { return error }
    return nil
  }

  @Test(
    "A scenario that times out after simulated hours exits with 75 and names the step",
    arguments: [
      "expect added a/b within 1h", "expect pending 1 within 1h", "expect pending 1 within 10000h",
      "expect document a/b within 1h",
      "listen a\nexpect results 1 within 1h",
      "offline\nset a/b {}\nwait for sync within 1h",
    ])
  func late(_ text: String) async throws {
    let failure = try await failure(text)
    let last = text.split(separator: "\n").count
    #expect(
      failure?.status == .tryAgain && failure?.message.hasPrefix("test, line \(last), ") == true, "\(failure as Any)")
  }

  @Test("A scenario with an unexpected event exits with 1 and names the event")
  func surprise() async throws {
    let failure = try await failure("listen a\nset a/b {}\nexpect nothing within 1s")
    #expect(failure?.status == .failure && failure?.message.hasSuffix("added a/b happened.") == true)
  }

  @Test("A scenario with an unexpected rejection exits with 1; an expected one passes")
  func rejections() async throws {
    let failure = try await failure("update a/b n=1")
    #expect(failure?.status == .failure && failure?.message.contains("line 1, update a/b n=1") == true)
    #expect(try await self.failure("update a/b n=1\nexpect rejected a/b with not-found") == nil)
    let other = try await self.failure("update a/b n=1\nexpect rejected a/b with aborted within 1s")
    #expect(other?.message.contains("no step expected a rejection: not-found") == true, "\(other as Any)")
  }

  @Test("An unexpected listener failure ends the run with its status")
  func refusedListener() async throws {
    let failure = try await failure("fault next listen permission-denied\nlisten a\nwait 1s")
    #expect(failure?.status == .permissionDenied, "\(failure as Any)")
  }

  @Test("A scenario that ends offline reports the writes that were not sent")
  func unsent() async throws {
    let notes = Mutex<[String]>([])
    let scenario = try ScenarioParser(database: database).scenario("offline\nset a/b {}", of: "test")
    let run = ScenarioRun(scenario, in: try ScenarioWorld(simulating: database, seed: 1)) { _ in
    } note: { note in
      notes.withLock { $0.append(note) }
    }
    await #expect(throws: CommandFailure(.failure, "test: 1 write was not sent and lost.")) { try await run.run() }
    #expect(notes.withLock { $0 } == ["write #1, set a/b, was not sent."])
  }

  @Test("'expect same' fails if the clients never converge")
  func same() async throws {
    let apart = try await failure(
      "client ada\nclient bob\nada: listen a\nbob: listen a\nbob: offline\nada: set a/b {}\nexpect same within 1m")
    #expect(apart?.status == .tryAgain, "\(apart as Any)")
  }

  @Test("TAP, JUnit and JSON results name each scenario and the reason for a failure")
  func reports() throws {
    let scenario = Scenario(name: "a<b", summary: "", seed: 1, steps: [])
    var tap = ScenarioReport(.tap)
    #expect(tap.end(scenario, after: .zero, nil) == ["ok 1 - a<b"])
    #expect(tap.end(scenario, after: .zero, CommandFailure(.failure, "no \"way\""))[2] == #"  message: "no \"way\"""#)
    #expect(tap.finish() == ["1..2"])
    var junit = ScenarioReport(.junit)
    _ = junit.end(scenario, after: .milliseconds(1_500), CommandFailure(.failure, "x < y"))
    let lines = junit.finish()
    #expect(lines[1] == #"<testsuite name="hearth.play" tests="1" failures="1">"#)
    #expect(lines[2] == #"  <testcase classname="hearth.play" name="a&lt;b" time="1.5">"#)
    #expect(lines[3].contains(#"message="x &lt; y""#))
    var json = ScenarioReport(.json)
    #expect(json.end(scenario, after: .zero, nil)[0].contains(#""isPassed": true"#))
  }
}
