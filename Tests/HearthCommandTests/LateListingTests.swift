// SPDX-License-Identifier: Apache-2.0
import DashboardModel
import FirestoreModel
import FirestoreProtocol
import FirestoreTesting
import Synchronization
import Testing

@testable import Dashboard

/// Listings of the collections that are answered when much else has happened.
@Suite(.timeLimit(.minutes(10)))
@MainActor
struct LateListingTests {
  /// Holds listings of collections back while it is closed.
  private final class Gate: Sendable {
    private let state = Mutex((isClosed: false, fails: false, waiting: [CheckedContinuation<Bool, Never>]()))

    var waiting: Int { state.withLock { $0.waiting.count } }

    func close() { state.withLock { $0.isClosed = true } }

    func open(failing: Bool) {
      let waiting = state.withLock { state in
        defer { (state.isClosed, state.waiting) = (false, []) }
        return state.waiting
      }
      for continuation in waiting { continuation.resume(returning: failing) }
    }

    /// - Returns: whether the listing fails.
    func pass() async -> Bool {
      await withCheckedContinuation { continuation in
        let isOpen = state.withLock { state in
          if state.isClosed { state.waiting.append(continuation) }
          return !state.isClosed
        }
        if isOpen { continuation.resume(returning: false) }
      }
    }
  }

  private struct GatedDatastore: DatastoreWrapper {
    let base: any Datastore
    let gate: Gate

    func read<Read: DatastoreRead>(_ read: Read) async throws(RPCStatus) -> Read.Answer {
      guard read is CollectionIDsRead else { return try await base.read(read) }
      // The answer is as old as the question.
      let answer = try await base.read(read)
      if await gate.pass() { throw RPCStatus(.unavailable, "The line was cut.") }
      return answer
    }

    func followCommits(deliver: @Sendable (CommitUpdate) async -> Void) async throws(RPCStatus) {
      try await base.followCommits(deliver: deliver)
    }
  }

  @Test(
    "The selection does not move when a listing arrives while offline",
    arguments: [true, false])
  func plug(fails: Bool) async throws {
    let gate = Gate()
    try await WatchedScreen.run(datastore: { GatedDatastore(base: $0, gate: gate) }) { screen in
      try await screen.others(set("cities/SF", ["n": 1]), set("cities/LA", ["n": 1]))
      try await screen.wait(for: "the documents") { $0.text.contains("▸ LA") }
      screen.press("g j j")
      let selected = screen.state.browser.cursor.id
      #expect(selected == .document(key("cities/SF")))

      gate.close()
      try await screen.others(set("rooms/a", ["n": 1]))
      try await screen.wait(for: "a listing that waits") { _ in gate.waiting > 0 }
      screen.press("o")
      try await screen.wait(for: "the plug") { $0.text.contains("OFFLINE") }
      if fails {
        // A write made here meanwhile has a collection of its own.
        screen.write(set("mine/a", ["n": 1]))
        try await screen.wait(for: "the write's collection") { $0.state.browser.roots == ["cities", "mine"] }
      }
      gate.open(failing: fails)
      if fails { try await screen.wait(for: "the failure") { $0.state.browser.rootsFailure != nil } }
      // The cache's own list may come before the late answer, or behind it.
      try await screen.wait(for: "what is known") {
        $0.state.browser.roots == (fails ? ["cities", "mine"] : ["cities", "rooms"])
          || !fails && $0.state.browser.roots == ["cities"]
      }
      #expect(screen.state.browser.cursor.id == selected)
      screen.press("o")
      let all = ["cities"] + (fails ? ["mine"] : []) + ["rooms"]
      try await screen.wait(for: "all of it") { $0.state.browser.roots == all }
      #expect(screen.state.browser.cursor.id == selected)
    }
  }
}
