// SPDX-License-Identifier: Apache-2.0
import Hearth
import HearthTesting
import Synchronization
import Testing

/// Stories on a stage: what clients, server and time do there.
@Suite("Test stages", .timeLimit(.minutes(10)))
struct StageTests {
  @Test("Two clients increment a counter, one of them offline, and converge")
  func counter() async throws {
    try await TestStage.run { stage in
      let ada = try await stage.client("ada")
      let bob = try await stage.client("bob")
      try await stage.server.set("counters/a", ["n": 1])
      let hers = try await ada.listen(to: ada.db.collection("counters"))
      try await hers.expect(.synced, .field("n", 1, of: "a"), .noPendingWrites)
      try await bob.goOffline()
      try bob.db.document("counters/a").enqueueData(["n": FieldValue.increment(Int64(1))], merge: true)
      try await bob.expectPending(1)
      try await hers.expectNothing(within: .seconds(3600))
      try await bob.goOnline()
      try await hers.expect(.modified("a"), .field("n", 2, of: "a"))
      try await bob.expectAcknowledged("counters/a")
      try await stage.expectSame()
      #expect(stage.elapsed >= .seconds(3600))
      #expect(try await stage.server.document("counters/a").get("n") as? Int == 2)
    }
  }

  @Test("A local write reaches its listener first from the cache and then as synced")
  func ownWrite() async throws {
    try await TestStage.run { stage in
      let client = try await stage.client()
      let listener = try await client.listen(to: client.db.collection("cities"))
      try await listener.expect(.synced, .empty)
      try client.fault("latency 200ms")
      let write = try client.db.document("cities/SF").enqueueData(["name": "San Francisco"])
      try await listener.expect(.added("SF"), .pendingWrites)
      try await write.acknowledged
      try await listener.expect(.modified("SF"), .noPendingWrites)
      try await stage.waitForSync()
      try await listener.expectNothing()
      #expect(listener.current?.documents.map(\.documentID) == ["SF"])
    }
  }

  @Test("Pending writes, user, faults and network survive restarts and kills")
  func lives() async throws {
    try await TestStage.run { stage in
      let client = try await stage.client("phone", user: "ada")
      try await client.goOffline()
      try client.db.document("notes/1").enqueueData(["text": "one"])
      try await client.expectPending(1)
      let before = client.db
      try await client.restart()
      #expect(client.db !== before)
      try await client.expectPending(1)
      try client.db.document("notes/2").enqueueData(["text": "two"])
      try await client.expectPending(2)
      try await client.kill()
      try await client.expectPending(2)
      #expect(try await client.db.document("notes/2").getDocument(source: .cache).get("text") as? String == "two")
      // The queue of another user is another one.
      client.users.signIn(userID: "bob") { _ in "bob" }
      try await client.expectPending(0)
      client.users.signIn(userID: "ada") { _ in "ada" }
      try await client.expectPending(2)
      try await client.goOnline()
      try await stage.waitForSync()
      #expect(try await stage.server.document("notes/1").exists)
      #expect(try await stage.server.document("notes/2").exists)
    }
  }

  @Test("A lost response does not repeat an increment, and a rejection has its code")
  func faults() async throws {
    try await TestStage.run { stage in
      let client = try await stage.client()
      try await stage.server.set("counters/a", ["n": 0])
      try client.fault("next write drop-ack")
      try await client.db.document("counters/a").updateData(["n": FieldValue.increment(Int64(1))])
      #expect(try await stage.server.document("counters/a").get("n") as? Int == 1)
      try client.fault("next write permission-denied")
      try client.db.document("counters/a").enqueueUpdate(["n": 9])
      let error = try await client.expectRejected(.permissionDenied, "counters/a")
      #expect(error.code == .permissionDenied)
      try client.fault("next listen permission-denied")
      let listener = try await client.listen(to: client.db.document("counters/a"))
      try await listener.expectFailure(.permissionDenied)
      try client.fault("down")
      try await client.expectConnection(.unknown)
      try client.db.document("counters/a").enqueueUpdate(["n": 5])
      try await client.expectConnection(.offline, within: .seconds(60))
      client.calm()
      try await client.expectAcknowledged("counters/a", within: .seconds(120))
    }
  }

  @Test("Callbacks, completions, transactions and sequences run in simulated time")
  func everyKindOfCall() async throws {
    try await TestStage.run { stage in
      let client = try await stage.client()
      try client.fault("latency 1s")
      try await client.db.document("a/b").setData(["n": 1])
      #expect(stage.elapsed >= .seconds(1))
      let (told, continuation) = AsyncStream.makeStream(of: Int.self)
      let listener = client.db.document("a/b").addSnapshotListener { snapshot, _ in
        if let n = snapshot?.get("n") as? Int { continuation.yield(n) }
      }
      let total = try await client.db.runTransaction { transaction in
        let n = try await transaction.getDocument(client.db.document("a/b")).get("n") as? Int ?? 0
        transaction.updateData(["n": n + 1], forDocument: client.db.document("a/b"))
        return n + 1
      }
      #expect(total == 2)
      for await n in told where n == 2 { break }
      listener.remove()
      for try await all in client.db.collection("a").snapshots where all.documents.first?.get("n") as? Int == 2 {
        break
      }
      #expect(stage.elapsed < .seconds(60))
    }
  }

  @Test("Simulated time does not advance while another thread works")
  func standingStill() async throws {
    try await TestStage.run { stage in
      let before = stage.elapsed
      let value = await stage.standingStill { await Task.detached { (1...1000).reduce(0, +) }.value }
      #expect(value == 500_500)
      #expect(stage.elapsed == before)
      let client = try await stage.client()
      // What needs no time goes on meanwhile.
      try await stage.standingStill {
        try await Task.detached { try await client.db.document("a/b").setData([:]) }.value
      }
      #expect(stage.elapsed == before)
      let later = Task(executorPreference: stage.executor) {
        try await stage.clock.sleep(for: .seconds(5))
        return stage.elapsed
      }
      #expect(try await later.value == before + .seconds(5))
    }
  }

  /// All that a story with chance in it tells: times, ids, snapshots.
  private static func account(seed: UInt64) async throws -> String {
    try await TestStage.run(seed: seed) { stage in
      var lines: [String] = []
      let ada = try await stage.client("ada")
      let bob = try await stage.client("bob")
      try ada.fault("latency 50ms jitter 300ms")
      try bob.fault("loss 40% before")
      let hers = try await ada.listen(to: ada.db.collection("notes"))
      var random = stage.random()
      for number in 0..<20 {
        let client = Bool.random(using: &random) ? ada : bob
        let (reference, write) = try client.db.collection("notes").enqueueDocument(data: ["number": number])
        try await write.acknowledged
        let snapshot = try await hers.expect(.count(number + 1), within: .seconds(300))
        lines.append("\(stage.elapsed) \(reference.path) \(snapshot.documents.map(\.documentID))")
      }
      try await stage.expectSame(within: .seconds(300))
      return lines.joined(separator: "\n")
    }
  }

  @Test("The same seed repeats a run byte for byte, and another seed differs")
  func seeds() async throws {
    let first = try await Self.account(seed: 7)
    for _ in 0..<5 { #expect(try await Self.account(seed: 7) == first) }
    #expect(try await Self.account(seed: 8) != first)
    let seen = Mutex<[UInt64]>([])
    try await TestStage.run(seeds: 1...3) { stage in seen.withLock { $0.append(stage.seed) } }
    #expect(seen.withLock { $0 } == [1, 2, 3])
  }
}
