// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreTesting
import Foundation
import Testing

@testable import CommandOutput
@testable import HearthCommand
@testable import Scenarios

/// The lines of a proxy as scenarios.
@Suite("Recorded traffic as scenarios", .timeLimit(.minutes(10)))
struct ProxyRecordTests {
  @Test("Two connections become two clients with listeners, writes and lost responses")
  func whole() async throws {
    let data = ProxyTraffic.lines([
      ("request", 1, 1, "Listen", ProxyTraffic.listen), ("response", 1, 1, "Listen", ProxyTraffic.document("LA", 7)),
      ("response", 1, 1, "Listen", ProxyTraffic.current), ("response", 1, 1, "Listen", ProxyTraffic.moment),
      ("request", 2, 2, "Commit", ProxyTraffic.commit("SF", 1)),
      ("response", 2, 2, "Commit", ProxyTraffic.content("{}")),
      ("response", 1, 1, "Listen", ProxyTraffic.document("SF", 1)), ("response", 1, 1, "Listen", ProxyTraffic.moment),
      ("request", 3, 3, "Commit", ProxyTraffic.commit("SF", 2)),
      ("fault", 3, 3, "Commit", #""remark": "the write is passed on, its answer will be lost""#),
      ("response", 1, 1, "Listen", ProxyTraffic.document("SF", 2)), ("response", 1, 1, "Listen", ProxyTraffic.moment),
      ("response", 1, 1, "Listen", ProxyTraffic.document("LA", 8)), ("response", 1, 1, "Listen", ProxyTraffic.moment),
    ])
    let written = ScenarioExporter.write(try ProxyRecord.draft(data, name: "lines"))
    #expect(written.gaps.isEmpty, "\(written.gaps)")
    let steps = written.text.split(separator: "\n").map(String.init).filter { !$0.hasPrefix("wait ") }
    #expect(
      steps == [
        "# The traffic of a proxy, recorded in lines.", "client client-1", "client client-2", "client client-3",
        #"server: set cities/LA {"n": 7}"#, "client-1: listen cities as cities with metadata",
        "client-1: expect added cities/LA on cities", "client-1: expect synced on cities",
        #"client-2: set cities/SF {"n": 1}"#, "client-2: expect acknowledged cities/SF",
        "client-1: expect added cities/SF on cities", "client-3: fault next write drop-ack",
        #"client-3: set cities/SF {"n": 2}"#, "client-1: expect modified cities/SF on cities",
        #"server: set cities/LA {"n": 8}"#, "client-1: expect modified cities/LA on cities",
        "# The record ends here, with 1 pending write.", "client-3: expect pending 1", "client-3: calm",
      ])
    let checked = try await ScenarioDraftCheck.check(written.text, in: database)
    // The write whose answer was lost is sent again at once by a client of Hearth.
    #expect(checked.unmet == ["client-3: expect pending 1"] && checked.failure == nil, "\(checked)")
  }

  @Test("A reconnecting client continues with its earlier listener and retried write")
  func reconnection() async throws {
    let writes = ProxyTraffic.commit("SF", 1)
    let data = ProxyTraffic.lines([
      ("request", 1, 1, "Listen", ProxyTraffic.listen), ("response", 1, 1, "Listen", ProxyTraffic.current),
      ("request", 1, 2, "Write", ProxyTraffic.content(#"{"database": "\#(ProxyTraffic.root)"}"#)),
      ("request", 1, 2, "Write", writes),
      ("ended", 1, 1, "Listen", #""status": {"code": "unavailable", "message": ""}"#),
      ("ended", 1, 2, "Write", #""status": {"code": "unavailable", "message": ""}"#),
      ("request", 2, 3, "Listen", ProxyTraffic.listen),
      ("request", 2, 4, "Write", ProxyTraffic.content(#"{"database": "\#(ProxyTraffic.root)"}"#)),
      ("request", 2, 4, "Write", writes),
      (
        "response", 2, 4, "Write",
        ProxyTraffic.content(#"{"writeResults": [{}], "commitTime": "2026-01-01T00:00:01Z"}"#)
      ),
      ("response", 2, 3, "Listen", ProxyTraffic.document("SF", 1)), ("response", 2, 3, "Listen", ProxyTraffic.current),
    ])
    let steps = ScenarioExporter.write(try ProxyRecord.draft(data, name: "lines")).text.split(separator: "\n").map(
      String.init)
    #expect(steps.count { $0.hasPrefix("client ") } == 1 && steps.count { $0.contains(": listen ") } == 1, "\(steps)")
    #expect(steps.count { $0.contains(": set ") } == 1, "\(steps)")
    #expect(
      steps.suffix(2) == ["client-1: expect acknowledged cities/SF", "client-1: expect added cities/SF on cities"])
  }

  @Test("Rejections are reproduced, and reads and content-free messages become comments")
  func gaps() throws {
    let refused = ProxyTraffic.lines([
      ("request", 1, 1, "Commit", ProxyTraffic.commit("SF", 1)),
      ("fault", 1, 1, "Commit", #""remark": "the write is rejected: aborted""#),
      ("ended", 1, 1, "Commit", #""status": {"code": "aborted", "message": ""}"#), ("request", 1, 2, "RunQuery", ""),
    ])
    let written = ScenarioExporter.write(try ProxyRecord.draft(refused, name: "lines"))
    let steps = written.text.split(separator: "\n").map(String.init).filter { !$0.hasPrefix("wait ") }
    #expect(
      steps.suffix(3) == [
        "client-1: fault next write aborted", #"client-1: set cities/SF {"n": 1}"#,
        "client-1: expect rejected cities/SF with aborted",
      ])
    #expect(written.gaps == ["reads, and other calls without a step"])
    let names = ProxyTraffic.lines([("request", 1, 1, "Listen", #""kind": "addTarget""#)])
    #expect {
      _ = try ProxyRecord.draft(names, name: "lines")
    } throws: { error in
      (error as? CommandFailure)?.message.contains("--json --values") == true
    }
    #expect {
      _ = try ProxyRecord.draft(
        Data("{\"at\": \"2026-01-01T00:00:00Z\", \"event\": \"listening\"}\n{\"event\"\n".utf8), name: "lines")
    } throws: { error in
      (error as? CommandFailure).map { $0.status == .badData && $0.message.hasPrefix("lines:2, column ") } == true
    }
    let times = ["2026-11-28T07:00:05Z", "2026-11-28T07:00:03Z"]
    let shuffled = times.map { #"{"event": "listening", "at": "\#($0)"}"# }.joined(separator: "\n")
    #expect {
      _ = try ProxyRecord.draft(Data(shuffled.utf8), name: "lines")
    } throws: { error in
      (error as? CommandFailure)?.message.hasPrefix("lines:2, column 1: The time of this line is 2 s before") == true
    }
  }
}
