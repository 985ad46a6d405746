// SPDX-License-Identifier: Apache-2.0
import ClientPort
import Dashboard
import DashboardModel
import FirestoreClientState
import FirestoreJSON
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
import FirestoreTesting
import Foundation
import TerminalCanvas
import Testing

@testable import CommandOutput
@testable import DashboardHost
@testable import DatastoreTapping

@MainActor
@Suite("Protocol messages in a recording", .serialized)
struct MessageTests {
  private static let secret = "Tr0ub4dor"

  /// What passes by while a client listens, writes, counts and lists.
  private func session() async throws -> [ProtocolEvent] {
    let tap = MessageTap { .now }
    try await BridgeHarness.run(tap) { test in
      let hidden = Value.map(["secret": .array([.string(Self.secret), 1]), "open": "seen"])
      try await test.others(set("rooms/a", ["secret": .string(Self.secret), "n": 1, "m": hidden]))
      let query = Query(
        path: ResourcePath("rooms"), filters: [.field(FieldFilter(FieldPath("secret"), .equal, .string(Self.secret)))])
      test.bridge.perform(.listen(ListenerTag(1), query, ListenerOptions(includeMetadataChanges: true)))
      _ = try await test.next { event -> Bool? in
        if case .snapshot(let snapshot) = event, !snapshot.isFromCache, snapshot.count == 1 { true } else { nil }
      }
      test.bridge.perform(.write([set("rooms/b", ["secret": .string(Self.secret), "list": .array([hidden])])]))
      try await test.acknowledged()
      test.bridge.perform(.count(ResourcePath("rooms")))
      _ = try await test.next { event -> Int? in if case .counted(_, let count, _) = event { count } else { nil } }
      test.bridge.perform(.listCollections(below: .root))
      // The cache's collections, then the server's.
      for _ in 0..<2 {
        _ = try await test.next { event -> [String]? in if case .collections(_, let ids) = event { ids } else { nil } }
      }
      _ = try await test.bridge.datastore.lookup([key("rooms/a"), key("rooms/none")])
      _ = try await test.bridge.datastore.missingDocuments(in: ResourcePath("rooms"))
    }
    return tap.take()
  }

  private func text(_ json: JSONSyntax?) -> String { json?.lineText ?? "" }
  private func content(_ event: ProtocolEvent?) -> JSONSyntax? { event?.message?.content?.json }

  private func line(_ event: ProtocolEvent) -> String {
    RecordedMessage(event: event).json(JSONContext()).lineText
  }

  private func event(_ line: String) throws -> ProtocolEvent {
    try RecordingLine.value(RecordedMessage.self, of: line.utf8, numbers: .ofAnySize).event
  }

  @Test("Every stream message and call is recorded in order with its contents")
  func whole() async throws {
    let lines = try await session()
    func kinds(_ method: String) -> [String] {
      lines.filter { $0.method == method && [.request, .response].contains($0.kind) }.compactMap(\.message?.kind)
    }
    func first(_ kind: String) -> ProtocolEvent? { lines.first { $0.message?.kind == kind } }

    let listen = kinds("Listen")
    #expect(listen.first == "addTarget" && listen.contains("added"), "\(listen)")
    let change = try #require(listen.firstIndex(of: "documentChange"), "\(listen)")
    #expect(try #require(listen.lastIndex(of: "snapshot")) > change && listen.contains("current"))
    let added = try #require(first("addTarget"))
    #expect(added.method == "Listen" && added.kind == .request && added.message?.targets.count == 1)
    #expect(added.stream == lines.first { $0.method == "Listen" }?.stream && added.message?.collection == "rooms")
    let source = text(content(added)?["addTarget"]?["query"]?["structuredQuery"]?["from"])
    #expect(source == #"[{"collectionId": "rooms"}]"#)
    let document = try #require(first("documentChange"))
    #expect(document.message?.documents == ["rooms/a"] && document.kind == .response)
    #expect(document.message?.targets == added.message?.targets)
    #expect(text(content(document)?["documentChange"]?["document"]?["fields"]?["n"]) == #"{"integerValue": "1"}"#)

    #expect(kinds("Write") == ["handshake", "writes", "writeResults"])
    let (request, answer) = (first("writes"), first("writeResults"))
    #expect(request?.message?.documents == ["rooms/b"] && request?.kind == .request && request?.method == "Write")
    #expect(answer?.message?.documents == ["rooms/b"] && answer?.message?.tokenLength ?? 0 > 0)
    let results = text(content(answer)?["writeResults"])
    #expect(results.contains("updateTime"))

    for kind in ["RunAggregationQuery", "ListCollectionIds", "BatchGetDocuments", "ListDocuments"] {
      let call = lines.filter { $0.method == kind }
      #expect(call.map(\.kind) == [.request, .response] && Set(call.map(\.stream)).count == 1, "\(kind)")
    }
    let figures = lines.last { $0.method == "RunAggregationQuery" }
    #expect(text(content(figures)) == #"{"result": {"aggregateFields": {"n": {"integerValue": "2"}}}}"#)
    let found = try #require(lines.last { $0.method == "BatchGetDocuments" })
    #expect(found.message?.count == 2 && found.message?.documents == ["rooms/a", "rooms/none"])
    #expect(text(content(found)).contains("\"missing\"") && text(content(found)).contains("\"found\""))

    // An empty list is told as what was asked for.
    #expect(content(lines.last { $0.method == "ListDocuments" }) == nil)

    for method in ["Listen", "Write"] {
      let events = lines.filter { $0.method == method }.map(\.kind)
      #expect(events.first == .opened && events.last == .ended, "\(method)")
    }
    let all = lines.map(line).joined()
    for token in ["resumeToken", "streamToken"] { #expect(!all.contains(token)) }
  }

  @Test("A recorded message round-trips and can be printed as a sentence")
  func lines() async throws {
    let lines = try await session()
    for event in lines {
      let text = line(event)
      #expect(line(try self.event(text)) == text)
      #expect(text.hasPrefix(RecordedMessage.prefix))
      #expect(!MessageReport.sentence(event, offset: 0, hasContents: false).contains("\n"))
      #expect(MessageReport.sentence(event, offset: 0, hasContents: true).hasSuffix(self.text(content(event))))
    }
    let said = lines.map { event in
      let words = MessageReport.sentence(event, offset: 0, hasContents: false).split(separator: " ")
      return (event.stream ?? 0, words.dropFirst(2).joined(separator: " "))
    }
    let streams = Dictionary(lines.map { ($0.method, $0.stream) }) { first, _ in first }
    for (method, starts) in [
      "Listen": ["opens", "> addTarget target 2 rooms, no token", "< documentChange target 2 rooms/a,", "ends"],
      "Write": ["> writes rooms/b,", "< writeResults rooms/b, token of "], "RunAggregationQuery": ["> rooms,"],
      "BatchGetDocuments": ["< rooms/a rooms/none,"],
    ] {
      for start in starts {
        #expect(
          said.contains { $0.0 == streams[method] && $0.1.hasPrefix("\(method) \(start)") },
          "\(method) \(start) is not in \(said)")
      }
    }
  }

  @Test("Redaction removes a field's values, and ids, from every message", arguments: ["secret", "all"])
  func redaction(_ fields: String) async throws {
    let lines = try await session()
    try #require(lines.contains { line($0).contains(Self.secret) })
    let redaction = Redaction(fields, hidesIDs: true)
    let state = DashboardState(
      DashboardConfiguration(database: database, backend: .init(.embedded, project: "p")),
      size: Size(width: 80, height: 24), now: Timestamp(seconds: 0))
    let redactor = RecordingRedactor(
      redaction, RecordingHeader(start: state.now, size: state.size, configuration: state.configuration))
    let texts = lines.map { String(String(decoding: redactor.line(of: $0), as: UTF8.self).dropLast()) }
    let redacted = try texts.map(event)
    let all = texts.joined(separator: "\n")
    #expect(!all.contains(Self.secret) && all.contains("‹string 9›"))
    #expect(!all.contains("rooms/a") && !all.contains("rooms/b"))
    #expect(all.contains("\"seen\"") == (fields == "secret"))
    #expect(redacted.map(\.kind) == lines.map(\.kind) && redacted.map(\.bytes) == lines.map(\.bytes))
    #expect(redacted.map { $0.message?.kind ?? "" } == lines.map { $0.message?.kind ?? "" })
    try redaction.account.check(["secret"])
    // What is left is still what it says it is.
    for (event, text) in zip(redacted, texts) { #expect(line(event) == text) }
  }

  @Test("Redaction drops the content of a message that has no known schema")
  func unknown() throws {
    let redaction = Redaction("a")
    let json = try JSONSyntax(parsing: #"{"writes": [{"update": {"name": "x", "fields": {}}}], "color": "red"}"#)
    var event = ProtocolEvent(.request, at: Timestamp(seconds: 1), stream: 1, method: "Weather")
    event.message = MessageSummary()
    event.message?.content = MessageContent(.json(json), nil)
    func redacted(_ event: ProtocolEvent) throws -> String { text(content(try redaction.redacted(event))) }
    #expect(try redacted(event) == "")
    // The line of a program that knows a method which this one does not.
    let foreign = try self.event(line(event))
    #expect(text(content(foreign)) == json.lineText)
    #expect(try redacted(foreign) == "")
    event.method = "Commit"
    let schema = event.schema
    event.message?.content?.schema = schema
    #expect(try redacted(event) == #"{"writes": [{"update": {"name": "x", "fields": {}}}]}"#)
  }

  // MARK: Bounds

  @Test("Large messages are recorded only by size, and excess messages only as a count")
  func bounds() throws {
    let names = DocumentNames(database)
    var event = ProtocolEvent(.response, at: Timestamp(seconds: 1), stream: 1, method: "Listen")
    let large = doc("rooms/a", at: 5, ["text": .string(String(repeating: "x", count: 100_000))])
    event.set(.document(large, updated: [TargetID(2)], removed: []), names)
    #expect(content(event) == nil && event.bytes ?? 0 > 100_000 && event.message?.documents == ["rooms/a"])
    #expect(MessageReport.sentence(event, offset: 0, hasContents: false).hasSuffix("bytes, not recorded"))
    #expect(event.cost < 1000)

    let tap = MessageTap(room: 10_000) { Timestamp(seconds: 1) }
    for _ in 0..<100 { tap.note(.response, 1, "Listen") }
    let taken = tap.take()
    #expect(taken.last?.kind == .missed && taken.count > 10)
    #expect(taken.count - 1 + (taken.last?.message?.count ?? 0) == 100)
    let gap = try #require(taken.last)
    #expect(try self.event(line(gap)).message?.count == gap.message?.count)
    tap.note(.response, 1, "Listen")
    #expect(tap.take().map(\.kind) == [.response])
    #expect(tap.take().isEmpty)
  }

  // MARK: Files

  private func file(_ lines: [String]) throws -> Data {
    let state = DashboardState(
      DashboardConfiguration(database: database, backend: .init(.embedded, project: "p")),
      size: Size(width: 80, height: 24), now: Timestamp(seconds: 5))
    let header = RecordingHeader(start: state.now, size: state.size, configuration: state.configuration)
    var data = RecordingLine.data(header)
    for line in lines { data.append(Data((line + "\n").utf8)) }
    return data
  }

  @Test("Messages are read from a recording; invalid ones are reported by line and column")
  func recording() throws {
    let tick = String(decoding: RecordingLine.data(Action.tick(Timestamp(seconds: 6))), as: UTF8.self).dropLast()
    let end = String(
      decoding: RecordingLine.data(RecordingEnd(end: "over", at: Timestamp(seconds: 7))), as: UTF8.self
    ).dropLast()
    let good = line(ProtocolEvent(.opened, at: Timestamp(seconds: 6), stream: 1, method: "Listen"))
    let whole = try Recording(try file([good, String(tick), good, String(end)]), name: "file")
    #expect(whole.problems.isEmpty && whole.actions.count == 1)
    #expect(whole.messages.map(\.place) == [0, 1])

    let damaged = try Recording(
      try file([
        #"{"message": {"at": "noon", "event": "opened"}}"#, String(tick),
        #"{"message": {"at": "2026-03-02T12:00:00Z", "event": "sung", "stream": 1, "method": "Listen"}}"#,
        String(good.dropLast(3)), String(end),
      ]), name: "file")
    #expect(damaged.actions.count == 1 && damaged.messages.isEmpty)
    #expect(damaged.problems.count == 3)
    #expect(damaged.problems[0].hasPrefix("file:2: ") && damaged.problems[0].contains("Invalid time \"noon\""))
    #expect(damaged.problems[1].hasPrefix("file:4: ") && damaged.problems[1].contains("Unknown value \"sung\""))
    #expect(damaged.problems[2].hasPrefix("file:5: "))

    // Cut within its last line it breaks off there, as without messages.
    let data = try file([String(tick), good])
    let cut = try Recording(data.prefix(data.count - 9), name: "file")
    #expect(cut.actions.count == 1 && cut.messages.isEmpty && cut.problems.count == 1)
    #expect(cut.problems[0].contains("the recording ends early here"))
  }
}
