// SPDX-License-Identifier: Apache-2.0
import ClientPort
import FirestoreClientState
import FirestoreGRPC
import FirestoreModel
import Testing

@testable import DashboardHost

@Suite("Reading rule decisions from a server")
struct DecisionsTests {
  private func read(_ text: String) throws -> [RuleDecision] { try DecisionsReader.decisions(in: Array(text.utf8)) }

  private let plain = """
    "number": 3, "time": "2026-03-02T12:04:03.5Z", "method": "update", "path": "orders/a", "allowed": false,
    "line": 8, "user": "bob", "reason": "false for 'update' @ L8"
    """

  @Test("Rule decisions are read from a server that does not report rule values")
  func earlier() throws {
    let decision = try #require(try read("{\"requests\": [{\(plain)}]}").first)

    #expect(decision.user == "bob" && decision.line == 8 && decision.verdict == .denied)
    #expect(decision.milliseconds == nil && decision.statements == nil)
  }

  @Test("A decision's time, statements and values are read if the server reports them")
  func whole() throws {
    let decision = try #require(
      try read(
        """
        {"requests": [{\(plain), "milliseconds": 0.184, "statements": [
          {"line": 7, "text": "allow update: if a.b", "result": "false", "values": [
            {"expression": "a.b", "value": "false"}, {"expression": "a.c", "error": "none"}, {"value": "x"}]},
          {"line": 8, "result": "error", "message": "Null value error."}, {"text": "no line"}]}], "rules": true}
        """
      ).first)

    #expect(decision.milliseconds == 0.184 && decision.verdict == .failed)
    #expect(
      decision.statements == [
        RuleDecision.Statement(
          line: 7, text: "allow update: if a.b", isTrue: false,
          values: [
            RuleDecision.SeenValue("a.b", "false"), RuleDecision.SeenValue("a.c", "none", isFailure: true),
          ]),
        RuleDecision.Statement(line: 8, text: "", isTrue: nil, message: "Null value error."),
      ])
  }

  @Test("A server without security rules is reported")
  func open() throws {
    let status = try #require(throws: RPCStatus.self) { try read(#"{"requests": [], "rules": false}"#) }
    #expect(status.code == .failedPrecondition && status.message.contains("no rules"))
    #expect(throws: RPCStatus.self) { try read("[]") }
  }

  @Test(
    "Only a local emulator without TLS is queried for an attached program's decisions",
    arguments: [
      (InspectionGreeting.BackendKind.emulator, "127.0.0.1:8080", false, true), (.emulator, "localhost:9", false, true),
      (.emulator, "127.0.0.1:8080", true, false), (.emulator, "10.0.0.1:8080", false, false),
      (.cloud, "127.0.0.1:8080", false, false), (.emulator, ":::", false, false),
      (.embedded, "this process", false, false),
    ])
  func attached(kind: InspectionGreeting.BackendKind, host: String, isTLS: Bool, isAsked: Bool) {
    let greeting = InspectionGreeting(
      process: 1, name: "shop", database: DatabaseID(project: "p"), backend: kind, host: host, isTLS: isTLS,
      since: Timestamp(seconds: 0))
    #expect((EmulatorControl(of: greeting) != nil) == isAsked)
  }
}
