// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
import FirestoreTesting
import Testing

@testable import FirestoreSync

@Suite("Client inspection", .timeLimit(.minutes(10)))
struct InsideTests {
  @Test("A target reports its stream state, its reads and its token's age")
  func targets() async throws {
    try await EngineHarness.run { test in
      let (_, mailbox) = test.listen("rooms")
      let (watch, target) = try await test.nextWatch()
      var state = try #require(try await test.engine.inside().targets.first)
      #expect(state.id == target.rawValue && state.progress == .asked && state.tokenTime == nil)

      await watch.send(.changes([.added([target])]))
      state = try #require(try await test.engine.inside().targets.first)
      #expect(state.progress == .receiving && state.documents == 0)

      await watch.update(target, [doc("rooms/a", at: 5), doc("rooms/b", at: 5)], at: 5)
      while try await mailbox.snapshot().isFromCache {}
      let inside = try await test.engine.inside()
      state = try #require(inside.targets.first)
      #expect(state.progress == .current && state.purpose == .listen)
      #expect(state.documents == 2 && state.sent == 2 && state.kept == 0)
      #expect(state.tokenTime == at(5).timestamp && inside.targetCount == 1)
      #expect(inside.peers == nil && inside.lookups.asked == 0)

      watch.fail(RPCStatus(.unavailable, "gone"))
      _ = try #require(await test.backend.watches.next())
      #expect(try await test.engine.inside().targets.first?.tokenTime == at(5).timestamp)
    }
  }

  @Test("A document in limbo is reported while its lookup runs")
  func lookups() async throws {
    try await EngineHarness.run { test in
      let (_, mailbox) = test.listen("rooms")
      let (first, target) = try await test.nextWatch()
      await first.sync(target, [doc("rooms/a", at: 5), doc("rooms/b", at: 5)], at: 5)
      while try await mailbox.snapshot().isFromCache {}
      // The server forgets one of them, and sends the whole result.
      await first.send(.changes([.reset([target], nil)]))
      await first.update(target, [doc("rooms/b", at: 6)], at: 6)
      guard case .add(let lookup)? = await first.request() else {
        Issue.record("the document has to be looked up")
        return
      }
      let lookups = try await test.engine.inside().lookups
      #expect(lookups.listed == [Lookups.Lookup(key("rooms/a"), target: lookup.id.rawValue)])
      #expect(lookups.asked == 1 && lookups.waiting == 0 && lookups.limit == 100)
      let state = try #require(try await test.engine.inside().targets.first { $0.id == lookup.id.rawValue })
      #expect(state.purpose == .lookup && state.progress == .asked)

      await first.sync(lookup.id, [], at: 7)
      while try await mailbox.snapshot().documents.count > 1 {}
      #expect(try await test.engine.inside().lookups.asked == 0)
    }
  }

  @Test("The delays until the first snapshot and the first server snapshot are measured")
  func beginning() async throws {
    try await EngineHarness.run { test in
      #expect(try await test.engine.inside().beginning.firstSnapshot == nil)
      let (_, mailbox) = test.listen("rooms")
      let (watch, target) = try await test.nextWatch()
      test.clock.advance(by: .seconds(2))
      await watch.sync(target, [doc("rooms/a", at: 5)], at: 5)
      while try await mailbox.snapshot().isFromCache {}
      let first = try await test.engine.inside().beginning
      #expect(first.firstSnapshot == .seconds(2) && first.firstInSync == .seconds(2))
      test.clock.advance(by: .seconds(2))
      await watch.update(target, [doc("rooms/b", at: 6)], at: 6)
      _ = try await mailbox.snapshot()
      #expect(try await test.engine.inside().beginning == first)
    }
  }

  @Test("Messages are counted in both directions, with the time since the last one")
  func meters() async throws {
    try await EngineHarness.run { test in
      let (_, mailbox) = test.listen("rooms")
      let (watch, target) = try await test.nextWatch()
      await watch.sync(target, [doc("rooms/a", at: 5)], at: 5)
      while try await mailbox.snapshot().isFromCache {}
      test.clock.advance(by: .seconds(7))
      let inside = try await test.engine.inside()
      let use = try #require(inside.streams.first { $0.kind == .watch })
      #expect(use.status.state == .open && use.begun == 1)
      // The target; its confirmation, a document, its currency and a snapshot.
      #expect(use.messagesSent == 1 && use.messagesReceived == 4)
      #expect(use.heardAt.map { inside.time.seconds - $0.seconds } == 7)
      #expect(use.bytes == nil && use.longestSilence == WatchSilence.limit)
      let writes = try #require(inside.streams.first { $0.kind == .write })
      #expect(writes.status.state == .closed && writes.begun == 0 && writes.heardAt == nil)
    }
  }

  @Test("A restarted watch stream resumes from its token without a listener event")
  func watchRestarted() async throws {
    try await EngineHarness.run { test in
      let (_, mailbox) = test.listen("rooms")
      let (first, target) = try await test.nextWatch()
      await first.sync(target, [doc("rooms/a", at: 5)], at: 5)
      while try await mailbox.snapshot().isFromCache {}

      try await test.engine.restartStream(.watch)
      await first.waitForEnd()
      let second = try #require(await test.backend.watches.next())
      guard case .add(let resumed)? = await second.request() else {
        Issue.record("the target has to be sent again")
        return
      }
      #expect(resumed.id == target && resumed.resume == token("t5").map { .token($0) })
      await second.send(.changes([.added([target])]))
      await second.update(target, [doc("rooms/b", at: 6)], at: 6)
      let next = try await mailbox.snapshot()
      #expect(!next.isFromCache && next.documents.count == 2 && next.changes.map(\.document.key) == [key("rooms/b")])
      #expect(try await test.engine.inside().streams.first?.begun == 2)
    }
  }

  @Test("A write in flight is sent again after a stream restart")
  func writeRestarted() async throws {
    try await EngineHarness.run { test in
      let handle = test.engine.write([set("rooms/a")])
      let first = try #require(await test.backend.writes.next())
      _ = await first.request()
      try await test.engine.restartStream(.write)
      await first.waitForEnd()
      let second = try #require(await test.backend.writes.next())
      let request = await second.request()
      #expect(request?.mutations == [set("rooms/a")])
      await second.send(.committed(streamToken: [2], committed(at: 9)))
      #expect(try await handle.acknowledged.commitTime == at(9))
    }
  }

  @Test("The connection reports why it is down and when it retries")
  func connection() async throws {
    try await EngineHarness.run { test in
      let idle = try await test.engine.inside().connection
      #expect(idle.online == .unknown && idle.reason == .idle && idle.nextAttempt == nil)
      let (_, mailbox) = test.listen("rooms")
      let (watch, target) = try await test.nextWatch()
      await watch.sync(target, [doc("rooms/a", at: 5)], at: 5)
      while try await mailbox.snapshot().isFromCache {}
      let online = try await test.engine.inside().connection
      #expect(online.online == .online && online.reason == nil)

      watch.fail(RPCStatus(.resourceExhausted, "too much"))
      for await status in test.engine.status(queueEnds: 1) where status.nextRetry != nil { break }
      let inside = try await test.engine.inside()
      let failed = inside.connection
      #expect(failed.reason == .failed(RPCStatus(.resourceExhausted, "too much")))
      // The longest pause follows at once.
      #expect(try #require(failed.nextAttempt) > inside.time)
      await test.engine.disableNetwork()
      let disabled = try await test.engine.inside().connection
      #expect(disabled.reason == .networkDisabled && disabled.nextAttempt == nil && disabled.online == .offline)
    }
  }

  @Test("The status and the inspection report pins until they are removed")
  func retentions() async throws {
    try await EngineHarness.run { test in
      let pin = Retention(query("rooms").target, .pinned, since: Timestamp(seconds: 1))
      try await test.engine.retain(pin)
      #expect(try await test.engine.inside().retentions == [pin])
      for await status in test.engine.status(queueEnds: 1) where status.retentions == [pin] { break }
      #expect(try await test.engine.release(pin))
      #expect(try await !test.engine.release(pin))
      #expect(try await test.engine.inside().retentions == [])
    }
  }

  @Test("A closed stream cannot be restarted, and the error gives the reason")
  func closed() async throws {
    try await EngineHarness.run { test in
      await #expect(throws: RPCStatus(.failedPrecondition, "The write stream is closed: no write is pending.")) {
        try await test.engine.restartStream(.write)
      }
      await test.engine.disableNetwork()
      _ = test.listen("rooms")
      await #expect(throws: RPCStatus(.failedPrecondition, "The watch stream is closed: the network is disabled.")) {
        try await test.engine.restartStream(.watch)
      }
    }
  }
}
