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
  private func session() async throws -> [MessageLine] {
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
    return tap.take().map(MessageLine.init)
  }

  private func text(_ json: JSONSyntax?) -> String { json?.lineText ?? "" }

  @Test("Every stream message and call is recorded in order with its contents")
  func whole() async throws {
    let lines = try await session()
    func kinds(_ channel: TappedMessage.Channel, _ events: Set<TappedMessage.Event> = [.sent, .received]) -> [String] {
      lines.filter { $0.channel == channel && events.contains($0.event) }.map(\.kind)
    }

    let listen = kinds(.listen)
    #expect(listen.first == "addTarget" && listen.contains("added"), "\(listen)")
    let change = try #require(listen.firstIndex(of: "documentChange"), "\(listen)")
    #expect(try #require(listen.lastIndex(of: "snapshot")) > change && listen.contains("current"))
    let added = try #require(lines.first { $0.kind == "addTarget" })
    #expect(added.type == "ListenRequest" && added.targets.count == 1 && added.number == 1)
    let source = text(added.content?["addTarget"]?["query"]?["structuredQuery"]?["from"])
    #expect(source == #"[{"collectionId": "rooms"}]"#)
    let document = try #require(lines.first { $0.kind == "documentChange" })
    #expect(document.documents == ["rooms/a"] && document.targets == added.targets && document.event == .received)
    #expect(text(document.content?["documentChange"]?["document"]?["fields"]?["n"]) == #"{"integerValue": "1"}"#)

    #expect(kinds(.write) == ["handshake", "writes", "writeResults"])
    let (request, answer) = (lines.first { $0.kind == "writes" }, lines.first { $0.kind == "writeResults" })
    #expect(request?.documents == ["rooms/b"] && request?.event == .sent && request?.type == "WriteRequest")
    #expect(answer?.documents == ["rooms/b"] && answer?.tokenLength ?? 0 > 0)
    let results = text(answer?.content?["writeResults"])
    #expect(results.contains("updateTime"))

    for kind in ["RunAggregationQuery", "ListCollectionIds", "BatchGetDocuments", "ListDocuments"] {
      let call = lines.filter { $0.channel == .call && $0.kind == kind }
      #expect(call.map(\.event) == [.sent, .received] && Set(call.map(\.number)).count == 1, "\(kind)")
    }
    let figures = lines.last { $0.kind == "RunAggregationQuery" }
    #expect(text(figures?.content) == #"{"aggregateFields": {"n": {"integerValue": "2"}}}"#)
    let found = try #require(lines.last { $0.kind == "BatchGetDocuments" })
    #expect(found.count == 2 && found.documents == ["rooms/a", "rooms/none"])
    #expect(text(found.content).contains("\"missing\"") && text(found.content).contains("\"found\""))

    // An empty list is told as what was asked for.
    #expect(lines.last { $0.kind == "ListDocuments" }?.type == nil)

    for channel in [TappedMessage.Channel.listen, .write] {
      let events = lines.filter { $0.channel == channel }.map(\.event)
      #expect(events.first == .begun && events.last == .ended, "\(channel)")
    }
    let all = lines.map(\.text).joined()
    for token in ["resumeToken", "streamToken"] { #expect(!all.contains(token)) }
  }

  @Test("A message line reads back as written and has a text form")
  func lines() async throws {
    let lines = try await session()
    for line in lines {
      let again = try MessageLine(parsing: line.text)
      #expect(again.text == line.text)
      #expect(line.text.hasPrefix(MessageLine.beginning))
      #expect(!MessageReport.sentence(line, offset: 0).contains("\n"))
    }
    let said = lines.map {
      MessageReport.sentence($0, offset: 0).split(separator: " ").dropFirst().joined(separator: " ")
    }
    for start in [
      "listen 1 begins", "listen 1 > addTarget target 2 rooms,", "listen 1 < documentChange target 2 rooms/a,",
      "write 1 > writes rooms/b,", "write 1 < writeResults rooms/b, token of ", "call 1 > RunAggregationQuery rooms,",
      "call 3 < BatchGetDocuments rooms/a rooms/none,", "listen 1 ends",
    ] {
      #expect(said.contains { $0.hasPrefix(start) }, "\(start) is not in \(said)")
    }
  }

  @Test("Redaction removes the field's values and ids from every message", arguments: ["secret", "all"])
  func redaction(_ fields: String) async throws {
    let lines = try await session()
    try #require(lines.contains { $0.text.contains(Self.secret) })
    let redaction = Redaction(fields, hidesIDs: true)
    let state = DashboardState(
      DashboardConfiguration(database: database, backend: .init(.embedded, project: "p")),
      size: Size(width: 80, height: 24), now: Timestamp(seconds: 0))
    let redactor = RecordingRedactor(
      redaction, RecordingHeader(start: state.now, size: state.size, configuration: state.configuration))
    let redacted = lines.map { redactor.redacted($0) }
    let all = redacted.map(\.text).joined(separator: "\n")
    #expect(!all.contains(Self.secret) && all.contains("‹string 9›"))
    #expect(!all.contains("rooms/a") && !all.contains("rooms/b"))
    #expect(all.contains("\"seen\"") == (fields == "secret"))
    #expect(redacted.map(\.kind) == lines.map(\.kind) && redacted.map(\.byteCount) == lines.map(\.byteCount))
    try redaction.account.check(["secret"])
    // What is left is still what it says it is.
    for line in redacted { #expect(try MessageLine(parsing: line.text).text == line.text) }
  }

  @Test("A message without a known schema loses its content")
  func unknown() throws {
    let redactor = Redaction("a").ofMessages
    var line = MessageLine(TappedMessage(Timestamp(seconds: 1), .call, 1, .sent))
    line.content = try JSONSyntax(parsing: #"{"writes": [{"update": {"name": "x", "fields": {}}}], "color": "red"}"#)
    line.type = "Weather"
    #expect(redactor.redacted(line).content == nil)
    line.type = "CommitRequest"
    #expect(text(redactor.redacted(line).content) == #"{"writes": [{"update": {"name": "x", "fields": {}}}]}"#)
  }

  // MARK: Bounds

  @Test("A large message keeps only its size, and excess messages only their number")
  func bounds() throws {
    let names = DocumentNames(database)
    var message = TappedMessage(Timestamp(seconds: 1), .listen, 1, .received)
    let large = doc("rooms/a", at: 5, ["text": .string(String(repeating: "x", count: 100_000))])
    message.note(.document(large, updated: [TargetID(2)], removed: []), names)
    let line = MessageLine(message)
    #expect(line.content == nil && line.type == nil && line.byteCount ?? 0 > 100_000 && line.documents == ["rooms/a"])
    #expect(MessageReport.sentence(line, offset: 0).hasSuffix("bytes, not kept"))
    #expect(message.cost < 1000)

    let tap = MessageTap(room: 10_000) { Timestamp(seconds: 1) }
    for _ in 0..<100 { tap.note(.listen, 1, .received) }
    let taken = tap.take()
    #expect(taken.last?.event == .missed && taken.count > 10)
    #expect(taken.count - 1 + (taken.last?.count ?? 0) == 100)
    let gap = MessageLine(try #require(taken.last))
    #expect(try MessageLine(parsing: gap.text).count == gap.count)
    tap.note(.listen, 1, .received)
    #expect(tap.take().map(\.event) == [.received])
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

  @Test("A recording contains messages, and an invalid one has its line and column")
  func recording() throws {
    let tick = String(decoding: RecordingLine.data(Action.tick(Timestamp(seconds: 6))), as: UTF8.self).dropLast()
    let end = String(
      decoding: RecordingLine.data(RecordingEnd(end: "over", at: Timestamp(seconds: 7))), as: UTF8.self
    ).dropLast()
    let good = MessageLine(TappedMessage(Timestamp(seconds: 6), .listen, 1, .begun)).text
    let whole = try Recording(try file([good, String(tick), good, String(end)]), name: "file")
    #expect(whole.problems.isEmpty && whole.actions.count == 1)
    #expect(whole.messages.map(\.place) == [0, 1])

    let damaged = try Recording(
      try file([
        #"{"message": {"at": "noon", "event": "begun"}}"#, String(tick),
        #"{"message": {"at": "2026-03-02T12:00:00Z", "event": "sent", "stream": "call", "number": 1, "type": "X", "content": {}}}"#,
        String(good.dropLast(3)), String(end),
      ]), name: "file")
    #expect(damaged.actions.count == 1 && damaged.messages.isEmpty)
    #expect(damaged.problems.count == 3)
    #expect(damaged.problems[0].hasPrefix("file:2: ") && damaged.problems[0].contains("Expected a time"))
    #expect(damaged.problems[1].hasPrefix("file:4: ") && damaged.problems[1].contains("no message that is known"))
    #expect(damaged.problems[2].hasPrefix("file:5: "))

    // Cut within its last line it breaks off there, as without messages.
    let data = try file([String(tick), good])
    let cut = try Recording(data.prefix(data.count - 9), name: "file")
    #expect(cut.actions.count == 1 && cut.messages.isEmpty && cut.problems.count == 1)
    #expect(cut.problems[0].contains("the recording breaks off here"))
  }
}
