// SPDX-License-Identifier: Apache-2.0
import Hearth
import HearthTesting
import Testing

/// Each expectation fails when it should, and says why, where and with which seed.
@Suite("Unmet expectations", .timeLimit(.minutes(10)))
struct ExpectationTests {
  private struct Failed: Error {}

  /// The failure of a body on a stage with one client.
  private func failure(
    seed: UInt64 = 1, longest: Duration = .seconds(86_400),
    _ body: @escaping @Sendable (TestStage, TestClient) async throws -> Void
  ) async throws -> StageFailure {
    do {
      try await TestStage.run(seed: seed, longest: longest) { stage in
        try await body(stage, try await stage.client("ada"))
      }
    } catch let failure as StageFailure { return failure }
    throw Failed()
  }

  @Test("A missing snapshot is reported with received snapshots, the seed and the time")
  func snapshot() async throws {
    let line = #line + 4
    let failure = try await failure(seed: 42) { stage, client in
      try await stage.server.set("cities/SF", ["state": "CA"])
      let listener = try await client.listen(to: client.db.collection("cities"))
      try await listener.expect(.added("LA"), .synced, within: .seconds(60))
    }
    #expect(failure.kind == .notInTime && failure.line == line && failure.seed == 42)
    #expect(failure.file == "HearthTestingTests/ExpectationTests.swift")
    #expect(failure.elapsed == .seconds(60))
    #expect(failure.reason.contains("added LA, synced; arrived: "), "\(failure)")
    #expect(failure.reason.hasSuffix("1 document (SF), added SF, synced."), "\(failure)")
    #expect(failure.description.contains("ExpectationTests.swift:\(line): ada, listener of cities: expected"))
    #expect(failure.description.hasSuffix("(60.0 s after the start; HEARTH_SEED=42 repeats the run)"), "\(failure)")
  }

  @Test(
    "A snapshot expectation that is not met reports the snapshots it skipped",
    arguments: [
      .fromCache, .pendingWrites, .empty, .count(2), .documents("LA"), .field("state", "NY", of: "SF"),
      .field("state", 1, of: "SF"), .field("state", "CA", of: "LA"), .modified("SF"), .removed("SF"), .added("LA"),
      .that("anything else") { _ in false },
    ] as [SnapshotExpectation])
  func unmet(_ wanted: SnapshotExpectation) async throws {
    let failure = try await failure { stage, client in
      try await stage.server.set("cities/SF", ["state": "CA"])
      let listener = try await client.listen(to: client.db.collection("cities"), includeMetadataChanges: false)
      try await listener.expect(.synced, wanted)
    }
    #expect(failure.kind == .notInTime && failure.reason.contains(wanted.description), "\(failure)")
  }

  @Test("While offline, expecting a synced result or no pending writes fails")
  func offline() async throws {
    for wanted in [SnapshotExpectation.synced, .noPendingWrites] {
      let failure = try await failure { _, client in
        try await client.goOffline()
        try client.db.document("cities/SF").enqueueData([:])
        let listener = try await client.listen(to: client.db.collection("cities"))
        try await listener.expect(.count(1), wanted)
      }
      #expect(failure.reason.contains("1 document (SF), added SF, from the cache, with pending writes"), "\(failure)")
    }
  }

  @Test("expectNothing fails for a new or unread snapshot or an ended listener")
  func nothing() async throws {
    let waiting = try await failure { _, client in
      let listener = try await client.listen(to: client.db.collection("cities"))
      try await listener.expectNothing()
    }
    #expect(waiting.kind == .surprise && waiting.reason.contains("but one arrived: 0 documents"), "\(waiting)")
    let coming = try await failure { stage, client in
      let listener = try await client.listen(to: client.db.collection("cities"))
      try await listener.expect(.synced)
      async let nothing: Void = listener.expectNothing(within: .seconds(60))
      try await stage.wait(.seconds(30))
      try await stage.server.set("cities/SF", [:])
      try await nothing
    }
    #expect(coming.kind == .surprise && coming.reason.contains("added SF"), "\(coming)")
    #expect(coming.elapsed == .seconds(30))
    let ended = try await failure { _, client in
      try client.fault("next listen permission-denied")
      let listener = try await client.listen(to: client.db.collection("cities"), includeMetadataChanges: false)
      try await listener.expectNothing()
    }
    #expect(ended.reason.contains("the listener ended with permission-denied"), "\(ended)")
  }

  @Test("Expecting a failure fails if the listener continues or fails with another code")
  func listenerFailure() async throws {
    let goesOn = try await failure { _, client in
      let listener = try await client.listen(to: client.db.collection("cities"))
      try await listener.expectFailure(.permissionDenied)
    }
    #expect(goesOn.kind == .notInTime && goesOn.reason.contains("but it continues"), "\(goesOn)")
    let other = try await failure { _, client in
      try client.fault("next listen permission-denied")
      let listener = try await client.listen(to: client.db.collection("cities"))
      try await listener.expectFailure(.notFound)
    }
    #expect(other.kind == .surprise && other.reason.contains("; the listener ended with permission-denied"), "\(other)")
    let snapshot = try await failure { _, client in
      let listener = try await client.listen(to: client.db.collection("cities"))
      try await client.restart()
      try await listener.expect(.count(3))
    }
    #expect(snapshot.kind == .surprise && snapshot.reason.contains("failed-precondition"), "\(snapshot)")
  }

  @Test("Unmet expectations of pending writes, connection and results report the values")
  func clients() async throws {
    let pending = try await failure { _, client in
      try await client.goOffline()
      try client.db.document("a/b").enqueueData([:])
      try await client.expectPending(0, within: .seconds(30))
    }
    #expect(pending.reason.hasSuffix("expected 0 pending writes within 30.0 seconds; there are 1."), "\(pending)")
    let connection = try await failure { _, client in try await client.expectConnection(.online) }
    #expect(connection.reason.hasSuffix("; unknown."), "\(connection)")
    let accepted = try await failure { _, client in
      try await client.db.document("a/b").setData([:])
      try await client.expectRejected(.permissionDenied)
    }
    #expect(accepted.kind == .notInTime && accepted.reason.contains("no write was rejected"), "\(accepted)")
    for (code, path) in [(.aborted, nil), (nil, "a/c")] as [(FirestoreErrorCode.Code?, String?)] {
      let other = try await failure { _, client in
        try client.db.document("a/b").enqueueUpdate(["n": 1])
        try await client.expectRejected(code, path)
      }
      #expect(other.kind == .surprise && other.reason.contains("of a/b was rejected with not-found"), "\(other)")
    }
    let unanswered = try await failure { _, client in
      try await client.db.document("a/b").setData([:])
      try await client.expectAcknowledged("a/c")
    }
    #expect(unanswered.kind == .notInTime && unanswered.reason.contains("a write of a/c"), "\(unanswered)")
  }

  @Test("Clients that are out of sync or differ are reported with the difference")
  func agreement() async throws {
    let waiting = try await failure { stage, client in
      try await client.goOffline()
      try client.db.document("a/b").enqueueData([:])
      try await stage.waitForSync()
    }
    #expect(waiting.kind == .notInTime && waiting.reason.contains("ada: 1 unanswered write"), "\(waiting)")
    let silent = try await failure { stage, client in
      try client.fault("silent")
      _ = try await client.listen(to: client.db.collection("a"))
      try await stage.waitForSync()
    }
    #expect(silent.reason.contains("ada: the listener of a is not in sync"), "\(silent)")
    let apart = try await failure { stage, client in
      let listener = try await client.listen(to: client.db.collection("a"))
      try await listener.expect(.synced)
      try await client.goOffline()
      try await stage.server.set("a/b", [:])
      try await stage.expectSame()
    }
    #expect(apart.kind == .disagreement && apart.reason.hasSuffix("the listener of a lacks a/b."), "\(apart)")
  }

  @Test("Invalid names, faults and queries, and calls after the end, are rejected")
  func misuse() async throws {
    let taken = try await failure { stage, _ in _ = try await stage.client("ada") }
    #expect(taken.kind == .misuse && taken.reason.contains("a client ada already exists"), "\(taken)")
    let name = try await failure { stage, _ in _ = try await stage.client("a/b") }
    #expect(name.reason.contains("\"a/b\" is not a client name"), "\(name)")
    let words = try await failure { _, client in try client.fault("latency soon") }
    #expect(words.kind == .misuse && words.reason.hasPrefix("fault \"latency soon\", column 9: "), "\(words)")
    let meaningless = try await failure { _, client in try client.fault("expire-token") }
    #expect(meaningless.kind == .misuse, "\(meaningless)")
    let foreign = try await failure { stage, client in
      let bob = try await stage.client("bob")
      _ = try await client.listen(to: bob.db.collection("a"))
    }
    #expect(foreign.reason.contains("Create it with ada.db"), "\(foreign)")
    let (stage, client) = try await TestStage.run { stage in (stage, try await stage.client()) }
    await #expect(throws: StageFailure.self) { _ = try await stage.client("late") }
    await #expect(throws: StageFailure.self) { try await client.expectPending(0) }
    await #expect(throws: FirestoreError.self) { try await client.db.document("a/b").getDocument() }
  }

  @Test("A test body that never ends is stopped by the time limit")
  func ends() async throws {
    let endless = try await failure(longest: .seconds(7 * 86_400)) { _, client in
      for try await _ in client.db.collection("a").snapshots {}
    }
    #expect(endless.kind == .notInTime && endless.reason.contains("did not end within"), "\(endless)")
    await #expect(throws: Failed.self) { try await TestStage.run { _ in throw Failed() } }
    await #expect(throws: FirestoreError.self) {
      try await TestStage.run { stage in try await stage.server.update("a/b", ["n": 1]) }
    }
  }
}
