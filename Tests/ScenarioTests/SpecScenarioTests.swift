// SPDX-License-Identifier: Apache-2.0
import FirestoreTesting
import Foundation
import Testing

@testable import CommandOutput
@testable import FirestoreSpec
@testable import Scenarios

/// Spec tests as scenarios: small ones of our own, and each one of the published data if they are there.
@Suite struct SpecScenarioTests {
  private static let query = #"{"path":"notes","filters":[["n",">",1]],"orderBys":[]}"#

  /// A test that listens, offline, to a query of which nothing is cached.
  private func text(fromCache: Bool = true, tags: String = "[]") -> String {
    """
    {"Offline: A first": {"describeName": "Offline:", "itName": "A first", "tags": \(tags),
      "config": {"numClients": 1, "useEagerGCForMemory": true}, "steps": [
      {"enableNetwork": false},
      {"userListen": {"query": \(Self.query), "targetId": 2},
       "expectedSnapshotEvents": [
         {"query": \(Self.query), "errorCode": 0, "fromCache": \(fromCache), "hasPendingWrites": false}]}]},
     "Offline: Another": {"describeName": "Offline:", "itName": "Another", "tags": [],
      "config": {"numClients": 1, "useEagerGCForMemory": true}, "steps": [{"userSet": ["notes/x", {"n": 1}]}]}}
    """
  }

  private func failure(_ text: String, only part: String? = nil) -> CommandFailure? {
    do throws(CommandFailure) { _ = try SpecScenario.read(text, of: "own.json", only: part) } catch { return error }
    return nil
  }

  @Test("Steps and expectations are words, those of users as scenarios have them, with the lines of the file")
  func words() throws {
    let test = try #require(try SpecScenario.read(text(), of: "own.json", only: nil).first)
    #expect(
      test.steps == [
        SpecScenario.Step(line: 3, text: "offline", expectations: []),
        SpecScenario.Step(
          line: 4, text: "listen notes where n > 1, target 2",
          expectations: ["expect a snapshot of notes where n > 1: no changes, from cache"]),
      ])
    #expect(test.text.hasPrefix("# Offline: A first\noffline\nlisten notes"))
  }

  @Test("A test that holds passes; one that does not names its file, line, step and what came instead")
  func outcomes() throws {
    let passing = try #require(try SpecScenario.read(text(), of: "own.json", only: "A first").first)
    #expect(passing.play() == .passed)
    let failing = try #require(try SpecScenario.read(text(fromCache: false), of: "own.json", only: "A first").first)
    guard case .failed(let done, let failure) = failing.play() else {
      Issue.record("it passed")
      return
    }
    #expect(done == 1 && failure.status == .failure)
    #expect(failure.message.hasPrefix("own.json, line 4, Offline: A first, step 2 userListen: events: expected "))
    #expect(!failure.message.contains("\n"))
    let benchmark = try #require(try SpecScenario.read(text(tags: #"["benchmark"]"#), of: "own.json", only: nil).first)
    #expect(benchmark.play() == .skipped("is a benchmark"))
  }

  @Test("A name chooses the test that has it, or those that contain it; one that none has is 66")
  func only() throws {
    #expect(try SpecScenario.read(text(), of: "own.json", only: "Offline").count == 2)
    #expect(try SpecScenario.read(text(), of: "own.json", only: "Offline: Another").map(\.name) == ["Offline: Another"])
    let unknown = failure(text(), only: "Offline: Anothre")
    #expect(unknown?.status == .noInput && unknown?.message.contains("mean \"Offline: Another\"?") == true)
    #expect(failure(text(), only: "nothing of the kind")?.message.contains("--show prints all 2") == true)
  }

  @Test(
    "JSON that is no spec test is 65 with line and column",
    arguments: [
      ("{", "own.json, line 1, column 2: "), ("[1]", "own.json, line 1, column 1: "),
      ("{}", "line 1, column 1: There is no"),
      ("{\n \"a\": 1}", "own.json, line 2, column 7: test \"a\": "),
    ])
  func unknown(text: String, part: String) {
    let failure = failure(text)
    #expect(failure?.status == .badData && failure?.message.contains(part) == true, "\(failure as Any)")
  }

  @Test("A scenario is no spec test, whatever blanks are in front of it")
  func recognized() {
    #expect(SpecScenario.isSpec(" \n{") && SpecScenario.isSpec("[") && !SpecScenario.isSpec("# {\nlisten a"))
    #expect(!SpecScenario.isSpec(""))
  }

  @Test("Skipped tests are named in each form")
  func skipped() {
    var tap = ScenarioReport(.tap)
    #expect(tap.end("a", after: .zero, .skipped("is a benchmark")) == ["ok 1 - a # SKIP is a benchmark"])
    var junit = ScenarioReport(.junit)
    _ = junit.end("a", after: .zero, .skipped("is a benchmark"))
    #expect(junit.finish()[1].contains(#"failures="0" skipped="1""#))
    #expect(junit.finish()[3].contains(#"<skipped message="is a benchmark"/>"#))
    var json = ScenarioReport(.json)
    #expect(json.end("a", after: .zero, .skipped("is a benchmark"))[0].contains(#""skipped": "is a benchmark""#))
  }

  @Test(
    "Each published file is read, and each of its steps has words",
    .enabled(if: SpecFiles.areThere(for: "words of spec tests")), arguments: SpecFiles.names(in: "sync"))
  func published(_ name: String) throws {
    let text = String(decoding: try SpecFiles.data("sync/\(name).json"), as: UTF8.self)
    for test in try SpecScenario.read(text, of: name, only: nil) {
      #expect(test.steps.count == test.test.steps.count && test.steps.allSatisfy { !$0.text.isEmpty && $0.line > 1 })
      #expect(!test.text.dropLast().contains("\n\n"))
    }
  }

  @Test("A published file passes as a scenario", .enabled(if: SpecFiles.areThere(for: "spec tests as scenarios")))
  func plays() throws {
    let text = String(decoding: try SpecFiles.data("sync/offline_spec_test.json"), as: UTF8.self)
    for test in try SpecScenario.read(text, of: "offline", only: nil) {
      if case .failed(_, let failure) = test.play() { Issue.record("\(failure.message)") }
    }
  }
}
