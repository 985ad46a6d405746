// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
import FirestoreSync
import FirestoreTesting
import Testing

@Suite(.timeLimit(.minutes(10))) struct SyncEngineTests {
  @Test("A listener receives the backend's documents and nothing after it stops")
  func listen() async throws {
    try await EngineHarness.run { test in
      let (id, mailbox) = test.listen("rooms")
      let (watch, target) = try await test.nextWatch()
      await watch.sync(target, [doc("rooms/a", at: 5)], at: 5)

      let snapshot = try await mailbox.snapshot()
      #expect(snapshot.documents.documents == [doc("rooms/a", at: 5)])
      #expect(!snapshot.isFromCache)
      #expect(snapshot.causes == [.listenerAdded, .server(at(5))])

      test.engine.stopListening(id)
      guard case .remove(target)? = await watch.request() else {
        Issue.record("the target has to be taken back")
        return
      }
      let ended = await mailbox.next() == nil
      #expect(ended)
    }
  }

  @Test("get() waits for a reachable backend and uses the cache after 10 s of silence")
  func getOffline() async throws {
    try await EngineHarness.run { test in
      var options = ListenerOptions()
      options.waitForSyncWhenOnline = true
      _ = try await test.engine.write([set("rooms/a")]).local
      let (_, mailbox) = test.listen("rooms", options)
      _ = try await test.nextWatch()

      await test.clock.waitForSleeper(.seconds(10))
      test.clock.advance(by: .seconds(10))

      let snapshot = try await mailbox.snapshot()
      #expect(snapshot.isFromCache)
      #expect(snapshot.hasPendingWrites)
      #expect(snapshot.documents.count == 1)
    }
  }

  @Test("A write is visible immediately and acknowledged when the backend responds")
  func write() async throws {
    try await EngineHarness.run { test in
      let (_, mailbox) = test.listen("rooms")
      let handle = test.engine.write([set("rooms/a")])
      let batch = try await handle.local
      let snapshot = try await mailbox.snapshot()
      #expect(snapshot.hasPendingWrites)
      #expect(snapshot.causes.contains(.localWrite(batch)))

      let stream = try #require(await test.backend.writes.next())
      let request = await stream.request()
      #expect(request?.mutations == [set("rooms/a")])
      await stream.send(.committed(streamToken: [2], committed(at: 9)))

      #expect(try await handle.acknowledged.commitTime == at(9))
    }
  }

  @Test("Calls from synchronous code take effect in call order")
  func order() async throws {
    try await EngineHarness.run { test in
      await test.engine.disableNetwork()
      let handles = (0..<200).map { test.engine.write([set("rooms/\($0)")]) }
      let (_, mailbox) = test.listen("rooms")

      #expect(try await mailbox.snapshot().documents.count == 200)
      var batches: [BatchID] = []
      for handle in handles { batches.append(try await handle.local) }
      #expect(batches == batches.sorted())
    }
  }

  @Test("S7, S8: Disabling the network ends the streams, and enabling resends writes")
  func network() async throws {
    try await EngineHarness.run { test in
      let (_, mailbox) = test.listen("rooms")
      let (watch, target) = try await test.nextWatch()
      await watch.sync(target, [], at: 5)
      #expect(try await !mailbox.snapshot().isFromCache)

      await test.engine.disableNetwork()
      await watch.waitForEnd()
      let offline = try await mailbox.snapshot()
      #expect(offline.isFromCache)
      #expect(offline.causes == [.networkDisabled])

      let handle = test.engine.write([set("rooms/a")])
      _ = try await handle.local
      var statuses = test.engine.status().makeAsyncIterator()
      let held = try #require(await statuses.next())
      #expect(held.pendingWrites.map(\.state) == [.held])
      #expect(held.onlineState == .offline)
      #expect(!held.isNetworkEnabled)

      await test.engine.enableNetwork()
      let (again, _) = try await test.nextWatch()
      _ = again
      let stream = try #require(await test.backend.writes.next())
      _ = await stream.request()
      await stream.send(.committed(streamToken: [2], committed(at: 9)))
      _ = try await handle.acknowledged
    }
  }

  @Test("A failed stream reopens with the newest token, immediately and then after delays")
  func reconnect() async throws {
    try await EngineHarness.run { test in
      let (_, mailbox) = test.listen("rooms")
      let (first, target) = try await test.nextWatch()
      await first.sync(target, [doc("rooms/a", at: 5)], at: 5)
      _ = try await mailbox.snapshot()
      first.fail(RPCStatus(.unavailable, "gone"))

      let second = try #require(await test.backend.watches.next())
      guard case .add(let resumed)? = await second.request() else {
        Issue.record("the target has to be sent again")
        return
      }
      #expect(resumed.resume == token("t5").map { .token($0) })
      #expect(resumed.expectedCount == 1)

      second.fail(RPCStatus(.unavailable, "gone again"))
      await test.clock.wait { $0.contains { $0 > .milliseconds(400) && $0 < .milliseconds(1600) } }
      await test.engine.retryNow()
      _ = try await test.nextWatch()
    }
  }

  @Test("A rejected listen fails its listener permanently")
  func refused() async throws {
    try await EngineHarness.run { test in
      let (_, mailbox) = test.listen("rooms")
      let (watch, target) = try await test.nextWatch()
      let denied = RPCStatus(.permissionDenied, "no")

      await watch.send(.changes([.removed([target], cause: denied)]))

      await #expect(throws: denied) { try await mailbox.snapshot() }
    }
  }

  @Test("An idle stream closes after a minute")
  func idle() async throws {
    try await EngineHarness.run { test in
      let (id, _) = test.listen("rooms")
      let (watch, _) = try await test.nextWatch()
      test.engine.stopListening(id)
      _ = await watch.request()

      await test.clock.waitForSleeper(.seconds(60))
      test.clock.advance(by: .seconds(60))

      await watch.waitForEnd()
    }
  }

  @Test("waitForPendingWrites waits for earlier writes but not for later ones")
  func pendingWrites() async throws {
    try await EngineHarness.run { test in
      try await test.engine.waitForPendingWrites()
      let first = test.engine.write([set("rooms/a")])
      _ = try await first.local
      async let waited: Void = test.engine.waitForPendingWrites()
      let stream = try #require(await test.backend.writes.next())
      _ = await stream.request()

      await stream.send(.committed(streamToken: [2], committed(at: 9)))

      try await waited
    }
  }

  @Test("A canceled write fails with cancelled and disappears")
  func cancelWrite() async throws {
    try await EngineHarness.run { test in
      await test.engine.disableNetwork()
      let (_, mailbox) = test.listen("rooms")
      let handle = test.engine.write([set("rooms/a")])
      let batch = try await handle.local

      try await test.engine.cancelWrite(batch)

      let failure = await #expect(throws: RPCStatus.self) { try await handle.acknowledged }
      #expect(failure?.code == .cancelled)
      #expect(try await mailbox.snapshot().documents.isEmpty)
      let status = try #require(await test.engine.status().first { _ in true })
      #expect(status.pendingWrites.isEmpty)
      #expect(status.recentOutcomes.last?.rejection?.code == .cancelled)
    }
  }

  @Test("After terminate every call fails with failed-precondition and none hangs")
  func terminate() async throws {
    try await EngineHarness.run { test in
      let (_, mailbox) = test.listen("rooms")
      let handle = test.engine.write([set("rooms/a")])
      _ = try await handle.local
      _ = try await mailbox.snapshot()

      await test.engine.terminate()

      let codes = [
        await #expect(throws: RPCStatus.self) { try await handle.acknowledged }?.code,
        await #expect(throws: RPCStatus.self) { try await test.engine.write([set("rooms/b")]).local }?.code,
        await #expect(throws: RPCStatus.self) { try await test.engine.cachedDocument(key("rooms/a")) }?.code,
        await #expect(throws: RPCStatus.self) { try await test.engine.waitForPendingWrites() }?.code,
        await #expect(throws: RPCStatus.self) { try await mailbox.snapshot() }?.code,
        await #expect(throws: RPCStatus.self) { try await test.listen("rooms").mailbox.snapshot() }?.code,
      ]
      #expect(codes.allSatisfy { $0 == .failedPrecondition })
    }
  }

  @Test("A task that waits for an acknowledgement can be canceled")
  func cancelledWait() async throws {
    try await EngineHarness.run { test in
      await test.engine.disableNetwork()
      let handle = test.engine.write([set("rooms/a")])
      let waiting = Task { try await handle.acknowledged }

      waiting.cancel()

      let failure = await #expect(throws: RPCStatus.self) { try await waiting.value }
      #expect(failure?.code == .cancelled)
    }
  }
}
