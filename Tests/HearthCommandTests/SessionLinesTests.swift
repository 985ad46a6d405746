// SPDX-License-Identifier: Apache-2.0
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

@Suite("A session without a screen as JSON")
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

  @Test("The queue tells what waits, and what was set aside; the feed a line for each row, with its data")
  func parts() throws {
    let state = session()
    let queue = try parsed(try #require(SessionLines.lines(of: .queue, state).first))
    #expect(text(queue["type"]) == "\"queue\"" && text(queue["waiting"]) == "1")
    guard case .array(let writes)? = queue["writes"]?.kind, case .array(let rejected)? = queue["rejected"]?.kind else {
      Issue.record("no lists: \(queue.lineText)")
      return
    }
    #expect(text(writes.first?["batch"]) == "7" && text(writes.first?["state"]) == "\"held\"")
    #expect(text(rejected.first?["setAside"]) == "true" && text(rejected.first?["paths"]) == "[\"rooms/c\"]")

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

  @Test("As a stream each row and message is told once, the queue and the status when they change")
  func stream() throws {
    var (state, lines) = (session(), SessionLines())
    let first = lines.news(of: state)
    let types = try first.map { text(try parsed($0)["type"]) ?? "" }
    #expect(types.count { $0 == "\"queue\"" } == 1 && types.count { $0 == "\"status\"" } == 1)
    #expect(types.contains("\"feed\""))
    #expect(lines.news(of: state).isEmpty)

    _ = update(&state, .client(.notice(.warning, "a \"b\""), at: time(9)))
    _ = update(&state, .client(.pendingWrites([]), at: time(9)))
    let next = try lines.news(of: state).map(parsed)
    #expect(next.map { text($0["type"]) } == ["\"queue\"", "\"message\""])
    #expect(text(next.last?["text"]) == #""a \"b\"""#)
  }

  @Test("The same parts in sentences")
  func sentences() {
    let state = session()
    let queue = PlainAccount.lines(of: .queue, state)
    #expect(queue.first == "queue: 1 write waits, 0 refused, 1 set aside")
    #expect(queue.contains { $0.contains("#5") && $0.contains("set aside by hand, not sent") })
    #expect(PlainAccount.lines(of: .network, state).first?.hasPrefix("network: online since") == true)
    #expect(PlainAccount.lines(of: .feed, state).contains { $0.contains("rooms/a") })
    let inside = PlainAccount.inside(ClientInside(time: time(0)), CacheSurvey.nothing)
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
