// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreLocal
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
import FirestoreTesting
import Testing

@testable import FirestoreSync

/// The rules between the parts (SyncCore.swift), each where only the whole core can break it.
@Suite(.timeLimit(.minutes(10))) struct InvariantTests {
  private let rooms = TargetID(2)

  /// Listens to `rooms`, which holds these documents and is current.
  private func synced(_ paths: String..., at version: Int64 = 5) throws -> CoreHarness {
    var harness = try CoreHarness()
    harness.listen(1, to: "rooms")
    for path in paths { _ = harness.receive(.document(doc(path, at: version), updated: [rooms], removed: [])) }
    _ = harness.receive(.current([rooms], token("t")), .snapshot(at(version), nil))
    return harness
  }

  @Test("All listeners affected by a backend snapshot receive it in one delivery (S1)")
  func snapshotTogether() throws {
    var harness = try CoreHarness()
    harness.listen(1, to: "rooms")
    harness.listen(2, to: "rooms/a")
    harness.listen(3, to: "halls")
    harness.listen(4, to: "empty")

    let effects = harness.receive(
      .document(doc("rooms/a", at: 5), updated: [rooms, TargetID(4)], removed: []),
      .document(doc("halls/b", at: 5), updated: [TargetID(6)], removed: []),
      .current([], token("t")), .snapshot(at(5), nil))

    #expect(effects.deliveries.count == 1)
    let delivered = effects.deliveries.first ?? []
    #expect(delivered.map(\.listener) == (1...4).map { ListenerID($0) })
    #expect(
      delivered.map(\.snapshot.documents.documents) == [
        [doc("rooms/a", at: 5)], [doc("rooms/a", at: 5)], [doc("halls/b", at: 5)], [],
      ])
    #expect(delivered.allSatisfy { !$0.snapshot.isFromCache })
  }

  @Test("An existence filter is compared with the last snapshot and later changes (S2)")
  func filterCounts() throws {
    var harness = try synced("rooms/a")

    _ = harness.receive(
      .document(doc("rooms/b", at: 6), updated: [rooms], removed: []), .filter(rooms, ExistenceFilter(count: 2)),
      .snapshot(at(6), nil))
    let afterAddition = harness.core.takeWatchRequest(in: harness.core.watchStream.epoch) == nil
    _ = harness.receive(
      .document(doc("rooms/a", at: 7, nil), updated: [], removed: [rooms]), .snapshot(at(7), nil),
      .filter(rooms, ExistenceFilter(count: 1)), .snapshot(at(8), nil))
    let afterRemoval = harness.core.takeWatchRequest(in: harness.core.watchStream.epoch) == nil

    #expect(afterAddition, "the target is asked for again although its two documents add up")
    #expect(afterRemoval, "the target is asked for again although its one document adds up")
  }

  @Test("A lookup that found its document never reports it as deleted later (S2)")
  func lookupFound() throws {
    var harness = try synced("rooms/a")
    _ = harness.receive(.documentRemoved(key("rooms/a"), removed: [rooms]), .snapshot(at(6), nil))
    guard case .add(let lookup)? = harness.core.takeWatchRequest(in: harness.core.watchStream.epoch) else {
      Issue.record("the document that is shown but not listed has to be looked up")
      return
    }

    _ = harness.receive(
      .added([lookup.id]), .document(doc("rooms/a", at: 5), updated: [lookup.id], removed: []),
      .current([lookup.id], token("l")), .snapshot(at(7), nil), .snapshot(at(8), nil))

    #expect(try harness.core.store.document(key("rooms/a")) == doc("rooms/a", at: 5))
  }

  @Test("A write's result is reported before the snapshot that shows it (S3)")
  func resultFirst() async throws {
    try await EngineHarness.run { test in
      let (_, mailbox) = test.listen("rooms")
      let handle = test.engine.write([set("rooms/a")])
      #expect(try await mailbox.snapshot().hasPendingWrites)
      let stream = try #require(await test.backend.writes.next())
      _ = await stream.request()

      // A mailbox that has failed takes no snapshot, but hands out one that came before.
      let called = RPCStatus(.aborted, "The result is known.")
      handle.whenAnswered { _ in mailbox.fail(called) }
      stream.fail(RPCStatus(.permissionDenied, "no"))

      await #expect(throws: called) { try await mailbox.snapshot() }
    }
  }

  @Test("A returning user's queue is sent in its original order (S4)")
  func queueOfUser() throws {
    var harness = try CoreHarness()
    let batches = try (0..<12).map { try harness.write(set("rooms/\($0)")).batch }
    _ = harness.effects { core in
      core.changeUser(to: "ada")
      core.changeUser(to: nil)
    }

    let sent = harness.send()

    #expect(sent == Array(batches.prefix(PendingWrites.capacity)))
    _ = harness.effects { core in
      for time in 1...2 {
        let epoch = core.writeStream.epoch
        core.receive(committed(at: Int64(time)), token: [2], in: epoch, at: Timestamp(seconds: Int64(time)))
      }
    }
    #expect(harness.core.writes.queue.pipeline.map(\.batch.id) == Array(batches.dropFirst(2)))
  }

  @Test("Only a change of user ends a wait for pending writes with the error cancelled")
  func userChangeEndsWait() throws {
    var harness = try CoreHarness()
    _ = try harness.write(set("rooms/a"))
    let wait = PendingWritesWait(1)
    let waiting = harness.effects { core in
      core.waitForPendingWrites(wait)
      core.changeUser(to: nil)
    }
    let ended = harness.effects { core in core.changeUser(to: "ada") }

    func ends(_ effects: [SyncEffect]) -> [StatusCode?] {
      effects.compactMap { if case .finishWait(wait, let status) = $0 { .some(status?.code) } else { nil } }
    }
    #expect(ends(waiting) == [])
    #expect(ends(ended) == [.cancelled])
  }

  @Test("A removed target awaits a response once its removal request is sent (S5)")
  func removalOwed() throws {
    var harness = try synced()
    _ = harness.effects { core in core.stopListening(ListenerID(1)) }
    #expect(harness.core.watching.responsesOwed(rooms) == 0)

    let request = harness.core.takeWatchRequest(in: harness.core.watchStream.epoch)

    guard case .remove(rooms)? = request else {
      Issue.record("the target has to be taken back")
      return
    }
    #expect(harness.core.watching.responsesOwed(rooms) == 1)
    _ = harness.receive(.removed([rooms], cause: nil))
    #expect(harness.core.watching.responsesOwed(rooms) == 0)
  }

  @Test("A backend snapshot older than the last one is not applied (S6)")
  func olderSnapshot() throws {
    var harness = try synced("rooms/a")

    let effects = harness.receive(
      .document(doc("rooms/b", at: 4), updated: [rooms], removed: []), .token([rooms], token("old")),
      .snapshot(at(4), nil))

    #expect(effects.deliveries.isEmpty)
    #expect(harness.core.store.activeTarget(rooms)?.resumeToken == token("t"))
    #expect(try harness.core.store.document(key("rooms/b")) == nil)
  }

  @Test("Going offline delivers delayed first snapshots together with all others (S7)")
  func offlineReleases() throws {
    var harness = try synced()
    harness.listen(2, to: "halls")

    let effects = harness.effects { core in core.disableNetwork() }

    #expect(effects.deliveries.count == 1)
    let delivered = effects.deliveries.first ?? []
    #expect(Set(delivered.map(\.listener)) == [ListenerID(1), ListenerID(2)])
    #expect(delivered.allSatisfy { $0.snapshot.isFromCache })
  }

  @Test("A message of an abandoned write stream neither resolves nor removes a write (S8)")
  func oldWriteStream() throws {
    var harness = try CoreHarness()
    let batch = try harness.write(set("rooms/a")).batch
    let sentFirst = harness.send()
    let old = harness.core.writeStream.epoch
    _ = harness.effects { core in
      core.disableNetwork()
      core.enableNetwork()
      core.writeStreamOpened(token: [1], in: old)
    }
    #expect(!harness.core.writeStream.isOpen)
    let sentAgain = harness.send()
    #expect(sentFirst == [batch] && sentAgain == [batch])
    let waiting = try harness.write(set("rooms/b")).batch

    let effects = harness.effects { core in
      core.receive(committed(at: 5), token: [2], in: old, at: Timestamp(seconds: 0))
      core.streamEnded(.write, RPCStatus(.permissionDenied, "no"), in: old, at: Timestamp(seconds: 0))
    }
    let taken = harness.core.takeWrite(in: old, at: Timestamp(seconds: 0)) == nil

    #expect(effects.isEmpty)
    #expect(taken)
    #expect(try harness.core.store.pendingBatches().map(\.id) == [batch, waiting])
    #expect(harness.core.writes.queue.isInFlight(batch))
  }

  @Test("A canceled timer that still fires changes nothing (S8)", arguments: SyncTimer.allCases)
  func cancelledTimer(_ timer: SyncTimer) throws {
    var harness = try synced("rooms/a")
    _ = try harness.write(set("rooms/b"))
    _ = harness.send()

    let effects = harness.effects { core in core.fire(timer) }

    #expect(effects.isEmpty)
    #expect(harness.core.onlineState == .online)
    #expect(harness.core.watchStream.isOpen && harness.core.writeStream.isOpen)
  }
}
