// SPDX-License-Identifier: Apache-2.0
import ClientPort
import DashboardModel
import FirestoreClientState
import FirestoreGRPC
import FirestoreJSON
import FirestoreModel
import FirestoreProxy
import FirestoreQuery
import Foundation
import Testing

@testable import DashboardHost
@testable import HearthCommand

/// The clients of a proxy as programs that can be watched.
@Suite(.timeLimit(.minutes(10)))
struct WatchedProxyTests {
  /// A proxy that takes lines in place of traffic, with watchers in a folder of its own.
  private final class Watched: Sendable {
    let folder = InspectionFolder(path: NSTemporaryDirectory() + "/hp-\(UUID().uuidString.prefix(8))")
    let proxy: WatchedProxy

    init() throws {
      let target = try Endpoint("127.0.0.1:1", defaultPort: nil, security: .plaintext, from: "the test")
      let configuration = ProxyServer.Configuration(host: "127.0.0.1", port: 0, target: target)
      proxy = WatchedProxy(ProxyServer(configuration), configuration, in: folder)
    }

    deinit { try? FileManager.default.removeItem(atPath: folder.path) }

    func note(_ data: Data) throws {
      for line in data.split(separator: UInt8(ascii: "\n")) {
        proxy.note(try RecordingLine.value(ProtocolEvent.self, of: line, numbers: .ofAnySize))
      }
    }

    var names: [String] {
      get throws { try InspectablePrograms(in: folder).entries.compactMap(\.name).sorted() }
    }

    /// The events of a client up to the one that is wanted.
    func events(of name: String, until isLast: (ClientEvent) -> Bool) async throws -> [ClientEvent] {
      let (_, _, link) = try InspectablePrograms(in: folder).entry(name)
      link.send(InspectionWord(control: true))
      return try await Self.events(link, until: isLast)
    }

    static func events(_ link: InspectionLink, until isLast: (ClientEvent) -> Bool) async throws -> [ClientEvent] {
      var events: [ClientEvent] = []
      while let lines = await link.next() {
        for line in lines {
          events.append(try InspectionLine.value(ClientEvent.self, of: line))
          if isLast(events[events.count - 1]) { return events }
        }
      }
      return events
    }
  }

  private static let listening: [(String, Int, Int, String, String)] = [
    ("opened", 1, 1, "Listen", ""), ("request", 1, 1, "Listen", ProxyTraffic.listen),
    ("response", 1, 1, "Listen", ProxyTraffic.document("LA", 7)), ("response", 1, 1, "Listen", ProxyTraffic.current),
    ("response", 1, 1, "Listen", ProxyTraffic.moment),
  ]

  @Test("A watcher sees a client's listeners, documents, writes and connection")
  func client() async throws {
    let watched = try Watched()
    try watched.note(
      ProxyTraffic.lines(Self.listening + [("request", 1, 2, "Commit", ProxyTraffic.commit("SF", 1))]))
    #expect(try watched.names == ["client-1", "hearth proxy"])
    let (_, greeting, link) = try InspectablePrograms(in: watched.folder).entry("client-1")
    #expect(greeting.database == DatabaseID(project: "p") && greeting.listeners == 1)
    link.send(InspectionWord(control: false))
    link.send(ClientRequest.ask(WindowTag(1), Query(path: ResourcePath("cities"))))
    link.send(ClientRequest.listCollections(below: .root))
    link.send(ClientRequest.lookInside)
    var (started, waiting, isOnline) = (false, false, false)
    var (documents, collections): ([String]?, [String]?)
    var refusal: RPCStatus?
    _ = try await Watched.events(link) { event in
      switch event {
      case .listenerStarted(let listener): started = listener.result.count == 1 && listener.client == nil
      case .pendingWrites(let writes, _): waiting = writes.map(\.mutations.count) == [1]
      case .status(let status): isOnline = status.onlineState == .online
      case .windowLoaded(_, let found, _, _): documents = found.map(\.key.path.text)
      case .collections(_, let ids): collections = ids
      case .inside(.failure(let status)): refusal = status
      default: break
      }
      return started && waiting && isOnline && documents != nil && collections != nil && refusal != nil
    }
    #expect(documents == ["cities/LA"] && collections == ["cities"])
    #expect(refusal?.code == .unimplemented && refusal?.message.contains("only the client's messages") == true)
  }

  @Test("The proxy's own entry shows all clients with their names and calls")
  func everyone() async throws {
    let watched = try Watched()
    try watched.note(ProxyTraffic.lines(Self.listening))
    let (_, _, link) = try InspectablePrograms(in: watched.folder).entry("hearth proxy")
    link.send(InspectionWord(control: false))
    _ = try await Watched.events(link) { if case .status = $0 { true } else { false } }
    try watched.note(
      ProxyTraffic.lines([
        ("opened", 2, 2, "Commit", ""), ("request", 2, 2, "Commit", ProxyTraffic.commit("SF", 1)),
        ("response", 2, 2, "Commit", ProxyTraffic.content("{}")),
        ("ended", 2, 2, "Commit", #""status": {"code": "ok", "message": ""}, "milliseconds": 4.1"#),
      ]))
    var (acknowledged, call): (BatchID?, FeedRow?)
    _ = try await Watched.events(link) { event in
      if case .writeAcknowledged(let batch, _, let documents) = event, documents?.first.isEmpty == false {
        acknowledged = batch
      }
      if case .traffic(let event) = event { call = FeedRow(event) }
      return acknowledged != nil && call != nil
    }
    #expect(call?.listenerName == "#2 Commit" && call?.summary == "ok, 4.1 ms" && call?.kind == .call)
    #expect(try watched.names == ["client-1", "client-2", "hearth proxy"])
    let events = try await watched.events(of: "hearth proxy") { event in
      if case .listenerStarted(let listener) = event { listener.client == "client-1" } else { false }
    }
    #expect(!events.isEmpty)
  }

  @Test("The proxy forgets a client after a minute's absence and notifies its watchers")
  func departed() async throws {
    let watched = try Watched()
    try watched.note(ProxyTraffic.lines(Self.listening))
    let (_, _, link) = try InspectablePrograms(in: watched.folder).entry("client-1")
    link.send(InspectionWord(control: false))
    _ = try await Watched.events(link) { if case .status = $0 { true } else { false } }
    for (event, time) in [("disconnected", "00:01:00"), ("connected", "00:01:59"), ("connected", "00:02:01")] {
      let connection = event == "disconnected" ? 1 : 9
      try watched.note(
        Data(#"{"at": "2026-01-01T\#(time)Z", "event": "\#(event)", "connection": \#(connection)}"#.utf8))
    }
    let last = try await Watched.events(link) { if case .closed = $0 { true } else { false } }.last
    guard case .closed? = last else { return #expect(Bool(false), "\(String(describing: last))") }
  }

  @Test("After a reset, a document that the target does not receive again is removed")
  func reset() throws {
    var clients = ProxiedClients()
    var changes: [(DocumentChange.Kind, String)] = []
    let reset = ProxyTraffic.content(#"{"targetChange": {"targetChangeType": "RESET", "targetIds": [2]}}"#)
    let lines = ProxyTraffic.lines(
      Self.listening + [
        ("response", 1, 1, "Listen", reset), ("response", 1, 1, "Listen", ProxyTraffic.document("SF", 1)),
        ("response", 1, 1, "Listen", ProxyTraffic.current), ("response", 1, 1, "Listen", ProxyTraffic.moment),
      ])
    for line in lines.split(separator: UInt8(ascii: "\n")) {
      let event = try RecordingLine.value(ProtocolEvent.self, of: line, numbers: .ofAnySize)
      for case (_, .event(.snapshot(let snapshot))) in clients.receive(event) {
        changes += snapshot.changes.map { ($0.kind, $0.document.key.path.text) }
      }
    }
    #expect(changes.map(\.1) == ["cities/LA", "cities/SF", "cities/LA"])
    #expect(changes.map(\.0) == [.added, .added, .removed])
    #expect(clients.documentBytes > 0)
  }

  @Test("The row of a call has its code, time and reason, and a failure is marked")
  func rows() {
    func event(_ kind: ProtocolEvent.Kind, _ change: (inout ProtocolEvent) -> Void) -> FeedRow {
      var event = ProtocolEvent(kind, at: Timestamp(seconds: 0), connection: 3, method: kind == .ended ? "Listen" : "")
      change(&event)
      return FeedRow(event)
    }
    let refused = event(.ended) {
      ($0.status, $0.duration) = (RPCStatus(.permissionDenied, "no"), .milliseconds(3))
      $0.message = MessageSummary()
      $0.message?.collection = "cities"
    }
    #expect(refused.kind == .failed && refused.summary == "cities, permission-denied, 3.0 ms, no")
    #expect(event(.ended) { $0.httpStatus = 404 }.kind == .failed)
    let connected = event(.connected) { ($0.address, $0.remark) = ("127.0.0.1:5000", "HTTP/2") }
    #expect(connected.summary == "connected from 127.0.0.1:5000 over HTTP/2" && connected.listenerName == "#3")
  }
}
