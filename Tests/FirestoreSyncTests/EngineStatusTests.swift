// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreLocal
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
import FirestoreSync
import FirestoreTesting
import Synchronization
import Testing

/// What is told about the queue and the connection, from the stream to the status.
@Suite("Engine status", .timeLimit(.minutes(10)))
struct EngineStatusTests {
  private let gone = RPCStatus(.unavailable, "gone")

  @Test("Each send increments a write's attempt count and records the stream's last error")
  func attempts() async throws {
    try await EngineHarness.run { test in
      let handle = test.engine.write([set("rooms/a", ["text": .string("hello")])])
      let batch = try await handle.local
      let first = try #require(await test.backend.writes.next())
      _ = await first.request()
      let sent = try await test.write(where: { $0.attempts == 1 })
      #expect(sent.id == batch)
      #expect(sent.mutations == [set("rooms/a", ["text": .string("hello")])])
      #expect(sent.localWriteTime == Timestamp(seconds: 0))
      #expect(sent.byteCount > 30 && sent.byteCount < 60)
      #expect(sent.state == .inFlight)
      #expect(sent.lastError == nil)

      first.fail(gone)
      let second = try #require(await test.backend.writes.next())
      _ = await second.request()
      let again = try await test.write(where: { $0.attempts == 2 })
      #expect(again.state == .inFlight)
      #expect(again.lastError == gone)

      second.fail(RPCStatus(.aborted, "contention"))
      let waiting = try await test.write(where: { if case .backoff = $0.state { true } else { false } })
      #expect(waiting.attempts == 2)
      #expect(waiting.lastError == RPCStatus(.aborted, "contention"))

      await test.engine.retryNow()
      let third = try #require(await test.backend.writes.next())
      _ = await third.request()
      let retried = try await test.write(where: { $0.attempts == 3 })
      #expect(retried.state == .inFlight)
      await third.send(.committed(streamToken: [2], committed(at: 9)))
      _ = try await handle.acknowledged
    }
  }

  @Test("A write in flight cannot be canceled, but a later write can")
  func cancelInFlight() async throws {
    try await EngineHarness.run { test in
      let batch = try await test.engine.write([set("rooms/a")]).local
      let stream = try #require(await test.backend.writes.next())
      _ = await stream.request()
      _ = try await test.write(where: { $0.state == .inFlight })

      let refused = await #expect(throws: RPCStatus.self) { try await test.engine.cancelWrite(batch) }
      #expect(refused?.code == .failedPrecondition)
      #expect(refused?.message.contains("Go offline first") == true)

      await test.engine.disableNetwork()
      let held = try await test.write(where: { $0.state == .held })
      #expect(held.id == batch)
      try await test.engine.cancelWrite(batch)
    }
  }

  @Test("A rejected write is in the status until it is sent again")
  func rejected() async throws {
    try await EngineHarness.run { test in
      let handle = test.engine.write([set("rooms/a")])
      let batch = try await handle.local
      let stream = try #require(await test.backend.writes.next())
      _ = await stream.request()
      stream.fail(RPCStatus(.permissionDenied, "no"))
      await #expect(throws: RPCStatus(.permissionDenied, "no")) { try await handle.acknowledged }
      let status = try await test.status { !$0.rejectedWrites.isEmpty }
      #expect(status.rejectedWrites.map(\.id) == [batch])
      #expect(status.rejectedWrites.first?.rejection.attempts == 1)
      #expect(status.pendingWrites.isEmpty)

      let again = test.engine.resend(batch)
      #expect(try await again.local > batch)
      let second = try #require(await test.backend.writes.next())
      #expect(await second.request()?.mutations == [set("rooms/a")])
      await second.send(.committed(streamToken: [2], committed(at: 9)))
      _ = try await again.acknowledged
      #expect(try await test.status { $0.pendingWrites.isEmpty }.rejectedWrites.isEmpty)

      let missing = await #expect(throws: RPCStatus.self) { try await test.engine.resend(batch).local }
      #expect(missing?.code == .notFound)
    }
  }

  @Test("The status of a long queue has its first and last writes and the total")
  func longQueue() async throws {
    try await EngineHarness.run { test in
      await test.engine.disableNetwork()
      var batches: [BatchID] = []
      for number in 0..<100 { batches.append(try await test.engine.write([set("rooms/\(number)")]).local) }

      var seen: ClientStatus?
      for await status in test.engine.status(queueEnds: 3) {
        seen = status
        break
      }
      let short = try #require(seen)
      let all = try await test.status { _ in true }

      #expect(short.pendingWrites.map(\.id) == batches.prefix(3) + batches.suffix(3))
      #expect(short.queue == all.queue)
      #expect(short.queue.count == 100 && short.queue.total == 100)
      #expect(short.queue.byteCount == all.pendingWrites.reduce(0) { $0 + $1.byteCount })
      try await test.engine.cancelWrite(batches[0])
      let rest = try await test.status { $0.queue.count == 99 }
      #expect(rest.queue.total == 100)
      #expect(rest.queue.byteCount == rest.pendingWrites.reduce(0) { $0 + $1.byteCount })
    }
  }

  @Test("The connection status shows the connection's failures and retries")
  func connection() async throws {
    try await EngineHarness.run { test in
      let idle = try await test.status { _ in true }
      #expect(idle.onlineState == .unknown && idle.reason == .idle && idle.nextRetry == nil)

      let (_, mailbox) = test.listen("rooms")
      let (first, target) = try await test.nextWatch()
      let connecting = try await test.status { $0.reason == .connecting }
      #expect(connecting.onlineState == .unknown)

      test.clock.advance(by: .seconds(3))
      await first.sync(target, [], at: 5)
      _ = try await mailbox.snapshot()
      let online = try await test.status { $0.onlineState == .online }
      #expect(online.reason == nil && online.nextRetry == nil && online.since == Timestamp(seconds: 3))

      first.fail(gone)
      let second = try #require(await test.backend.watches.next())
      second.fail(gone)
      let offline = try await test.status { $0.nextRetry != nil }
      #expect(offline.onlineState == .offline && offline.reason == .failed(gone))
      let wait = try #require(offline.nextRetry).microseconds - 3_000_000
      #expect((500_000...1_500_000).contains(wait))

      // Once the pause is over, the attempt is no longer in the future.
      await test.clock.wait { $0.contains { $0 > .milliseconds(400) && $0 < .milliseconds(1600) } }
      test.clock.advance(by: .seconds(2))
      _ = try await test.nextWatch()
      let trying = try await test.status { $0.nextRetry == nil }
      #expect(trying.reason == .failed(gone))

      await test.engine.disableNetwork()
      let disabled = try await test.status { !$0.isNetworkEnabled }
      #expect(disabled.onlineState == .offline && disabled.reason == .networkDisabled && disabled.nextRetry == nil)
    }
  }

  @Test(
    "A client is offline after its first failed attempt, even if it only writes")
  func offlineWithoutListeners() async throws {
    try await EngineHarness.run { test in
      let outages = Inbox<ConnectionReason?>()
      test.engine.watchOutages { outages.put($0) }
      test.backend.opensWrites.withLock { $0 = false }
      let handle = test.engine.write([set("rooms/a")])
      _ = try await handle.local
      #expect(await outages.next() ?? nil == .connecting)
      let stream = try #require(await test.backend.writes.next())
      stream.fail(gone)

      let offline = try await test.status { $0.onlineState == .offline }
      #expect(offline.reason == .failed(gone))
      #expect(await outages.next() ?? nil == .failed(gone))

      let next = try #require(await test.backend.writes.next())
      await next.send(.opened(streamToken: [1]))
      _ = await next.request()
      let answered = try await test.status { $0.onlineState != .offline }
      #expect(answered.onlineState == .unknown)
      #expect((await outages.next() ?? .idle) == nil)
      await next.send(.committed(streamToken: [2], committed(at: 9)))
      _ = try await handle.acknowledged

      let (listener, _) = test.listen("rooms")
      let (watch, _) = try await test.nextWatch()
      watch.fail(gone)
      _ = try await test.status { $0.onlineState == .offline }
      test.engine.stopListening(listener)
      let after = try await test.status { $0.activeTargets == 0 }
      #expect(after.onlineState == .offline && after.reason == .failed(gone))
    }
  }

  @Test("A backend that is silent for ten seconds is reported as silent")
  func silence() async throws {
    try await EngineHarness.run { test in
      _ = test.listen("rooms")
      _ = try await test.nextWatch()
      await test.clock.waitForSleeper(.seconds(10))
      test.clock.advance(by: .seconds(10))

      let status = try await test.status { $0.onlineState == .offline }
      #expect(status.reason == .noAnswer && status.since == Timestamp(seconds: 10))
    }
  }
}

extension EngineHarness {
  /// The first status, now or later, that is as asked.
  func status(where isWanted: (ClientStatus) -> Bool) async throws -> ClientStatus {
    for await status in engine.status() where isWanted(status) { return status }
    throw RPCStatus(.internal, "the engine ended before its status was as expected")
  }

  /// The oldest pending write, as soon as it is as asked.
  func write(where isWanted: (PendingWrite) -> Bool) async throws -> PendingWrite {
    let status = try await status { $0.pendingWrites.first.map(isWanted) ?? false }
    return try #require(status.pendingWrites.first)
  }
}
