// SPDX-License-Identifier: Apache-2.0
import ClientPort
import FirestoreClientState
import FirestoreJSON
import FirestoreModel
import FirestoreQuery
import FirestoreTesting
import TerminalCanvas
import Testing

@testable import Dashboard
@testable import DashboardHost
@testable import DashboardModel

@Suite("A headless session as JSON")
struct SessionLinesTests {
  private func time(_ seconds: Int64) -> Timestamp { Timestamp(seconds: 1_772_453_040 + seconds) }

  private func session() -> DashboardState {
    let configuration = DashboardConfiguration(database: database, backend: .init(.embedded, project: "p"))
    var state = DashboardState(configuration, size: Size(width: 120, height: 36), now: time(0))
    func send(_ event: ClientEvent, _ seconds: Int64) { _ = update(&state, .client(event, at: time(seconds))) }
    _ = update(&state, .listen(Query(path: ResourcePath("rooms")), name: "rooms", ListenerOptions(), at: time(0)))
    send(.status(ClientStatus(onlineState: .online, since: time(0), activeTargets: 1)), 1)
    let room = doc("rooms/a", at: 5, ["n": 1])
    send(
      .snapshot(
        ListenerSnapshot(
          listener: state.listeners[0].tag, changes: [.init(.added, room)], isFromCache: false, syncStateChanged: true,
          hasPendingWrites: false, count: 1, causes: [.listenerAdded])), 2)
    send(
      .pendingWrites([
        PendingWrite(
          id: BatchID(7), mutations: [set("rooms/b", ["n": 2])], localWriteTime: time(3), byteCount: 40, attempts: 0,
          state: .held)
      ]), 3)
    send(
      .rejectedWrites([
        RejectedWrite(
          id: BatchID(5), mutations: [set("rooms/c", [:])], localWriteTime: time(1),
          rejection: Rejection(status: .setAside, time: time(4), attempts: 0), byteCount: 20)
      ]), 4)
    return state
  }

  private func parsed(_ line: String) throws -> JSONSyntax {
    #expect(!line.contains("\n"))
    return try JSONSyntax(parsing: line)
  }

  private func text(_ value: JSONSyntax?) -> String? { value?.lineText }

  @Test("The queue prints pending and set-aside writes; the feed prints a line per row")
  func parts() throws {
    let state = session()
    let queue = try parsed(try #require(SessionLines.lines(of: .queue, state).first))
    #expect(text(queue["type"]) == "\"queue\"" && text(queue["waiting"]) == "1")
    guard case .array(let writes)? = queue["writes"]?.kind, case .array(let rejected)? = queue["rejected"]?.kind else {
      Issue.record("no lists: \(queue.lineText)")
      return
    }
    #expect(text(writes.first?["batch"]) == "7" && text(writes.first?["state"]) == "\"held\"")
    #expect(
      text(rejected.first?["setAside"]) == "true" && text(rejected.first?["writes"])?.contains("\"rooms/c\"") == true)

    let feed = try SessionLines.lines(of: .feed, state).map(parsed)
    let added = try #require(feed.first { text($0["path"]) == "\"rooms/a\"" })
    #expect(text(added["kind"]) == "\"added\"" && text(added["listener"]) == "\"rooms\"")
    #expect(text(added["source"]) == "\"server\"" && text(added["data"]) == "{\"n\": 1}")

    let network = try parsed(try #require(SessionLines.lines(of: .network, state).first))
    #expect(text(network["online"]) == "\"online\"" && text(network["targets"]) == "1")
    let listeners = try parsed(try #require(SessionLines.lines(of: .listeners, state).first))
    guard case .array(let all)? = listeners["listeners"]?.kind else {
      Issue.record("no listeners: \(listeners.lineText)")
      return
    }
    #expect(all.count == 1 && text(all[0]["documents"]) == "1")
  }

  /// The session with a document open that a write of its own waits for.
  private func opened() -> DashboardState {
    var state = session()
    let room = key("rooms/a")
    _ = state.openDetail(room)
    func send(_ event: ClientEvent, _ seconds: Int64) { _ = update(&state, .client(event, at: time(seconds))) }
    let remote = doc("rooms/a", at: 5, ["n": 1])
    send(.detail(room, remote: remote, overlay: nil, local: remote, isFromCache: false), 5)
    var local = doc("rooms/a", at: 5, ["n": 2, "note": "x"])
    local.pending = .local
    let overlay = set("rooms/a", ["n": 2, "note": "x"])
    send(.detail(room, remote: remote, overlay: overlay, local: local, isFromCache: false), 6)
    return state
  }

  @Test("An open document prints all its tabs: data, writes, diff, history, listeners")
  func document() throws {
    let state = opened()
    let told = try parsed(DetailJSON.line(try #require(state.detail), state))
    #expect(text(told["type"]) == "\"document\"" && text(told["path"]) == "\"rooms/a\"")
    #expect(text(told["exists"]) == "true" && text(told["fromCache"]) == "false")
    #expect(text(told["pendingWrites"]) == "true")
    #expect(text(told["data"]) == #"{"n": 2, "note": "x"}"# && text(told["server"]) == #"{"n": 1}"#)
    #expect(text(told["overlay"]?["set"]) == "\"rooms/a\"")
    #expect(
      text(told["diff"]?["fields"])
        == #"[{"field": "n", "old": 1, "new": 2}, {"field": "note", "old": null, "new": "x"}]"#)
    guard case .array(let history)? = told["history"]?.kind,
      case .array(let listeners)? = told["meta"]?["listeners"]?.kind
    else {
      Issue.record("no lists: \(told.lineText)")
      return
    }
    #expect(history.map { text($0["source"]) } == ["\"server\"", "\"local\""])
    #expect(history.map { text($0["data"]) } == [#"{"n": 1}"#, #"{"n": 2, "note": "x"}"#])
    #expect(text(listeners.first?["name"]) == "\"rooms\"" && text(listeners.first?["verdict"]) == "\"here\"")
    #expect(text(told["meta"]?["fields"]) == "2")

    let lines = PlainSummary.lines(of: try #require(state.detail), state)
    #expect(lines.first == "document rooms/a, from the server")
    for line in [
      "  data:", "    n: 2, at the server 1", "    note: \"x\", not at the server", "    n 1 to 2", "  history:",
      "    n: server 1, queued 2, seen 2", "    rooms: here",
    ] {
      #expect(lines.contains(line), "\(line) is not in \(lines)")
    }
  }

  @Test("Missing and unknown documents are labeled")
  func missing() throws {
    var state = session()
    let room = key("rooms/none")
    _ = state.openDetail(room)
    let unknown = try parsed(DetailJSON.line(try #require(state.detail), state))
    #expect(text(unknown["exists"]) == "null" && text(unknown["fromCache"]) == "true")
    let missing = Document(key: room, version: nil, state: .missing)
    _ = update(
      &state, .client(.detail(room, remote: missing, overlay: nil, local: missing, isFromCache: false), at: time(5)))
    let told = try parsed(DetailJSON.line(try #require(state.detail), state))
    #expect(text(told["exists"]) == "false" && text(told["data"]) == "null" && text(told["history"]) == "[]")
    let lines = PlainSummary.lines(of: try #require(state.detail), state)
    #expect(lines.contains("    the document does not exist"), "\(lines)")
    #expect(lines.contains("      does not hold: the document does not exist"), "\(lines)")
    #expect(text(told["meta"]?["updated"]) == "null")
  }

  @Test("The tree prints each root collection with its count and listeners")
  func collections() throws {
    var state = session()
    #expect(PlainSummary.lines(of: .collections, state) == ["collections: not listed yet"])
    func send(_ event: ClientEvent, _ seconds: Int64) { _ = update(&state, .client(event, at: time(seconds))) }
    send(.collections(below: .root, ["rooms", "users"]), 5)
    send(.counted(ResourcePath("users"), 1200), 6)
    let told = try parsed(try #require(SessionLines.lines(of: .collections, state).first))
    guard case .array(let all)? = told["collections"]?.kind, all.count == 2 else {
      Issue.record("\(told.lineText)")
      return
    }
    #expect(text(all[0]["path"]) == "\"rooms\"" && text(all[0]["heard"]) == "\"all\"")
    #expect(text(all[1]["documents"]) == "1200" && text(all[1]["heard"]) == "\"nothing\"")
    let lines = PlainSummary.lines(of: .collections, state)
    #expect(lines.first == "collections: 2", "\(lines)")
    #expect(lines.contains { $0.hasPrefix("  users: \(grouped(1200)) documents") }, "\(lines)")
    #expect(lines.contains { $0.hasPrefix("  rooms: ") && $0.hasSuffix(", listened to") }, "\(lines)")
  }

  @Test("Requests print verdict and values, or the reason why there are none")
  func requests() throws {
    let embedded = try parsed(try #require(SessionLines.lines(of: .requests, session()).first))
    #expect(text(embedded["problem"])?.contains("hearth serve --rules") == true)

    let configuration = DashboardConfiguration(database: database, backend: .init(.emulator, project: "p"))
    var state = DashboardState(configuration, size: Size(width: 120, height: 36), now: time(0))
    let statement = RuleDecision.Statement(
      line: 5, text: "allow get: if owner", isTrue: false, values: [.init("owner", "\"ada\"")])
    let decisions = [
      RuleDecision(
        number: 1, time: time(1), method: "get", path: ResourcePath("rooms/a"), user: "ada", isAllowed: true, line: 4),
      RuleDecision(
        number: 2, time: time(2), method: "update", path: ResourcePath("rooms/b"), user: nil, isAllowed: false, line: 5,
        reason: "no statement allows it", milliseconds: 0.25, statements: [statement]),
    ]
    _ = update(&state, .client(.decisions(.success(decisions)), at: time(3)))
    let told = try parsed(try #require(SessionLines.lines(of: .requests, state).first))
    #expect(text(told["allowed"]) == "1" && text(told["denied"]) == "1" && text(told["problem"]) == "null")
    guard case .array(let all)? = told["requests"]?.kind, all.count == 2 else {
      Issue.record("\(told.lineText)")
      return
    }
    #expect(text(all[0]["verdict"]) == "\"allow\"" && text(all[0]["user"]) == "\"ada\"")
    #expect(text(all[1]["verdict"]) == "\"deny\"" && text(all[1]["milliseconds"]) == "0.25")
    #expect(text(all[1]["statements"])?.contains(#"{"expression": "owner", "value": "\"ada\""}"#) == true)

    let lines = PlainSummary.lines(of: .requests, state)
    #expect(lines.first == "requests: 2, 1 of them denied", "\(lines)")
    #expect(lines.contains { $0.contains("update rooms/b as nobody: denied by line 5: no statement allows it") })
    #expect(lines.contains { $0.contains("owner = \"ada\"") }, "\(lines)")
  }

  @Test("The event stream prints each feed row once, and changes of queue and status")
  func stream() throws {
    var (state, lines) = (session(), SessionLines())
    let first = lines.news(of: state)
    let types = try first.map { text(try parsed($0)["type"]) ?? "" }
    #expect(types.count { $0 == "\"queue\"" } == 1 && types.count { $0 == "\"status\"" } == 1)
    #expect(types.contains("\"feed\""))
    #expect(lines.news(of: state).isEmpty)

    _ = update(&state, .host(.notice(.warning, "a \"b\""), at: time(9)))
    _ = update(&state, .client(.pendingWrites([]), at: time(9)))
    let next = try lines.news(of: state).map(parsed)
    #expect(next.map { text($0["type"]) } == ["\"queue\"", "\"message\""])
    #expect(text(next.last?["text"]) == #""a \"b\"""#)
  }

  @Test("The parts of the dashboard are also printed as sentences")
  func sentences() {
    let state = session()
    let queue = PlainSummary.lines(of: .queue, state)
    #expect(queue.first == "queue: 1 write pending, 0 rejected, 1 set aside")
    #expect(queue.contains { $0.contains("#5") && $0.contains("set aside by hand, not sent") })
    #expect(PlainSummary.lines(of: .network, state).first?.hasPrefix("network: online since") == true)
    #expect(PlainSummary.lines(of: .feed, state).contains { $0.contains("rooms/a") })
    let inside = PlainSummary.inside(
      ClientInside(time: time(0), connection: ConnectionState(.online, since: time(0))), CacheSurvey.nothing)
    for section in InsideSection.allCases where section != .fields {
      #expect(inside.contains { $0.hasPrefix("\(section.rawValue): ") }, "\(section)")
    }
  }
}

extension CacheSurvey {
  fileprivate static let nothing = CacheSurvey(
    time: Timestamp(seconds: 0), policy: .never, bytes: 0, freeBytes: 0, limit: nil, shares: [], targets: 0,
    leavingTargets: 0)
}
