// SPDX-License-Identifier: Apache-2.0
import DashboardModel
import FirestoreBackend
import FirestoreModel
import FirestoreProtocol
import FirestoreTesting
import Synchronization
import Testing

@testable import Dashboard
@testable import DashboardHost

/// What a screen of this dashboard once claimed and was not so, one test for each fault.
@Suite("Fixed errors in what the screen shows", .serialized, .timeLimit(.minutes(10)))
@MainActor
struct NamedUntruthTests {
  @Test("A row has the number of its write; the header has the count of pending writes")
  func numbers() async throws {
    try await WatchedScreen.run { screen in
      try await screen.others(set("items/a", ["n": 0]), set("items/b", ["n": 0]))
      try await screen.wait(for: "the documents") { $0.row(of: "b") != nil }
      screen.press("o")
      try await screen.wait(for: "the switched-off network") { $0.header.contains("OFFLINE") }
      screen.write(set("items/a", ["n": 1]))
      screen.write(set("items/b", ["n": 2]))
      try await screen.wait(for: "both writes") { $0.header.contains("⇡2 pending") }
      try await screen.wait(for: "their numbers") { screen in
        screen.row(of: "a")?.contains("#1") == true && screen.row(of: "b")?.contains("#2") == true
      }
      #expect(screen.row(of: "a")?.contains("⇡") == false && screen.row(of: "b")?.contains("⇡") == false)
    }
  }

  @Test("The rows of a denied collection do not have the sign of server data")
  func denied() async throws {
    let gate = Gate()
    try await WatchedScreen.run(datastore: { DenyingDatastore(base: $0, gate: gate) }) { screen in
      try await screen.others(set("items/a", ["n": 0]))
      try await screen.wait(for: "the document") { $0.row(of: "a")?.contains(" S ") == true }
      gate.isClosed.withLock { $0 = true }
      screen.press("o")
      try await screen.wait(for: "the switched-off network") { $0.header.contains("OFFLINE") }
      try await screen.wait(for: "cached rows") { $0.row(of: "a")?.contains(" Sc ") == true }
      screen.press("o")
      try await screen.wait(for: "the denial") { $0.text.contains("denied") && $0.header.contains("ONLINE") }
      #expect(screen.row(of: "a")?.contains(" S ") == false)
    }
  }

  @Test("A silent server is shown in the header, with the age of the oldest write")
  func silence() async throws {
    let gate = Gate()
    try await WatchedScreen.run(clockStands: true, datastore: { MuteDatastore(base: $0, gate: gate) }) { screen in
      try await screen.others(set("items/a", ["n": 0]))
      try await screen.wait(for: "the document") { $0.row(of: "a") != nil }
      gate.isClosed.withLock { $0 = true }
      screen.write(set("items/a", ["n": 1]))
      try await screen.wait(for: "the pending write") { $0.header.contains("⇡1") }
      screen.pass(seconds: 600)
      // The client's own clock does not stand, so the write is some seconds younger.
      let ages = screen.header.firstMatch(of: #/silent (9:\d\d|10:0\d) +⇡1 pending (9:\d\d|10:0\d)/#)
      #expect(ages != nil, "\(screen.header)")
    }
  }

  @Test("An ongoing outage of 30 seconds covers 30 seconds of the session band")
  func band() async throws {
    try await WatchedScreen.run(clockStands: true) { screen in
      try await screen.others(set("items/a", ["n": 0]))
      try await screen.wait(for: "the document") { $0.row(of: "a") != nil }
      screen.press("o")
      try await screen.wait(for: "the switched-off network") { $0.header.contains("OFFLINE") }
      screen.pass(seconds: 30)
      #expect(screen.text.filter { $0 == "▒" }.count == 30, "\(screen.text)")
    }
  }

  @Test("A conflict is counted as a change by others, with and without a listener", arguments: [true, false])
  func conflict(listens: Bool) async throws {
    try await WatchedScreen.run { screen in
      try await screen.others(set("items/a", ["n": 0]))
      try await screen.wait(for: "the document") { $0.row(of: "a") != nil }
      if listens {
        screen.press("g space")
        try await screen.wait(for: "the listener") { $0.text.contains("in sync") }
      }
      screen.press("o")
      try await screen.wait(for: "the switched-off network") { $0.header.contains("OFFLINE") }
      screen.write(patch("items/a", ["n": 1]))
      try await screen.wait(for: "the pending write") { $0.header.contains("⇡1") }
      try await screen.others(set("items/a", ["n": 2]))
      screen.press("o")
      try await screen.wait(for: "the summary") { $0.text.contains("1 conflict") }
      try await screen.wait(for: "the change by others") { $0.text.contains("1 document changed by others") }
    }
  }

  @Test("A document that was deleted offline is not reported as uncached")
  func deleted() async throws {
    try await WatchedScreen.run { screen in
      try await screen.others(set("items/a", ["n": 0]))
      try await screen.wait(for: "the document") { $0.row(of: "a") != nil }
      screen.press("o")
      try await screen.wait(for: "the switched-off network") { $0.header.contains("OFFLINE") }
      screen.write(delete("items/a"))
      try await screen.wait(for: "the deletion") { $0.text.contains("deleted here, pending") }
      #expect(!screen.text.contains("not in the cache"))
    }
  }

  @Test("An empty database says that another database of the backend has documents")
  func elsewhere() async throws {
    try await WatchedScreen.run { screen in
      try await screen.wait(for: "the empty page") { $0.text.contains("no collections yet") }
      let other = DatabaseID(project: "demo-shop")
      try await screen.backend.commit([set("items/a", ["n": 0])], in: other)
      // Going online lists the collections again.
      screen.press("o")
      try await screen.wait(for: "the switched-off network") { $0.header.contains("OFFLINE") }
      screen.press("o")
      try await screen.wait(for: "the other database") { $0.text.contains("data is in demo-shop/(default)") }
      #expect(screen.text.contains("hearth --project demo-shop"))
      try await screen.others(set("items/a", ["n": 0]))
      try await screen.wait(for: "the document here") { $0.row(of: "a") != nil }
    }
  }

  @Test("A rejected write has an age in minutes and seconds, like a pending one")
  func rejected() async throws {
    try await WatchedScreen.run { screen in
      try await screen.others(set("items/a", ["n": 0]))
      try await screen.wait(for: "the document") { $0.row(of: "a") != nil }
      screen.press("o")
      try await screen.wait(for: "the switched-off network") { $0.header.contains("OFFLINE") }
      screen.write(patch("items/none", ["n": 1]))
      try await screen.wait(for: "the pending write") { $0.header.contains("⇡1") }
      screen.press("o")
      try await screen.wait(for: "the rejection") { $0.header.contains("!1 rejected") }
      let row = screen.text.split(separator: "\n").first { $0.contains("#1") && $0.contains("rejected") }
      #expect(row?.contains(#/ \d:\d\d rejected/#) == true, "\(screen.text)")
    }
  }
}

/// What a test switches while the client runs.
private final class Gate: Sendable { let isClosed = Mutex(false) }

/// A datastore whose rules deny all listening while the gate is closed.
private struct DenyingDatastore: DatastoreWrapper {
  let base: any Datastore
  let gate: Gate

  func watch(
    requests: StreamRequests<WatchRequest>, deliver: @Sendable (WatchEvent) async -> Void
  ) async throws(RPCStatus) {
    try await base.watch(requests: requests) { event in
      guard case .changes(let changes) = event, gate.isClosed.withLock({ $0 }) else { return await deliver(event) }
      let denied = changes.compactMap { change -> WatchChange? in
        guard case .added(let ids) = change else { return nil }
        return .removed(ids, cause: RPCStatus(.permissionDenied, "Missing or insufficient permissions."))
      }
      if !denied.isEmpty { await deliver(.changes(denied)) }
    }
  }
}

/// A datastore that takes writes and does not answer them while the gate is closed.
private struct MuteDatastore: DatastoreWrapper {
  let base: any Datastore
  let gate: Gate

  func watch(
    requests: StreamRequests<WatchRequest>, deliver: @Sendable (WatchEvent) async -> Void
  ) async throws(RPCStatus) {
    try await base.watch(requests: requests) { event in
      if !gate.isClosed.withLock({ $0 }) { await deliver(event) }
    }
  }

  func write(
    requests: StreamRequests<WriteRequest>, deliver: @Sendable (WriteEvent) async -> Void
  ) async throws(RPCStatus) {
    try await base.write(requests: requests) { event in
      if !gate.isClosed.withLock({ $0 }) { await deliver(event) }
    }
  }
}
