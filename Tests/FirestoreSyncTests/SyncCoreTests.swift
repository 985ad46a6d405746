// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreLocal
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
import FirestoreTesting
import Testing

@testable import FirestoreSync

@Suite struct SyncCoreTests {
  @Test("S1: One write reaches all its listeners in one delivery")
  func together() throws {
    var harness = try CoreHarness()
    harness.listen(1, to: "rooms")
    harness.listen(2, to: "rooms/a")
    harness.listen(3, to: "halls")

    let (batch, effects) = try harness.write(set("rooms/a"))

    #expect(effects.deliveries.count == 1)
    let delivered = effects.deliveries.first ?? []
    #expect(delivered.map(\.listener) == [ListenerID(1), ListenerID(2)])
    #expect(delivered.allSatisfy { $0.snapshot.documents[key("rooms/a")]?.hasLocalMutations == true })
    #expect(delivered.allSatisfy { $0.snapshot.causes.last == .localWrite(batch) })
  }

  @Test("S3: A rejection is reported before the snapshot that reverts the write")
  func rejectionFirst() throws {
    var harness = try CoreHarness()
    harness.listen(1, to: "rooms")
    let (batch, _) = try harness.write(set("rooms/a"))
    let sent = harness.send()
    #expect(sent == [batch])

    let status = RPCStatus(.permissionDenied, "no")
    let effects = harness.effects { core in
      core.streamEnded(.write, status, in: core.writeStream.epoch, at: Timestamp(seconds: 0))
    }

    let completed = try #require(
      effects.position { if case .complete(batch, .failure(status)) = $0 { true } else { false } })
    let delivered = try #require(effects.position { if case .deliver = $0 { true } else { false } })
    #expect(completed < delivered)
    #expect(effects.deliveries.first?.first?.snapshot.causes == [.rejected(batch, status)])
  }

  @Test("The outcome of a batch lists up to twenty documents and counts the rest")
  func outcomes() throws {
    var harness = try CoreHarness()
    let (_, _) = try harness.write(set("rooms/a", ["n": 1], .exists(false)))
    _ = harness.effects { core in
      _ = try? core.write([delete("rooms/b")] + (0..<30).map { set("rooms/c\($0)") }, at: Timestamp(seconds: 1))
    }
    _ = harness.send()
    for time in [5, 6] {
      _ = harness.effects { core in
        core.receive(
          committed(at: Int64(time), writes: time == 5 ? 1 : 31), token: [2], in: core.writeStream.epoch,
          at: Timestamp(seconds: 0))
      }
    }
    let outcomes = harness.core.writes.answers.history.outcomes.compactMap(\.documents)
    #expect(outcomes.map { $0.first.count } == [1, 20] && outcomes.map(\.unnamed) == [0, 11])
    #expect(outcomes.first?.first == [WrittenDocument(key("rooms/a"), .created)])
    #expect(outcomes.last?.first.prefix(2).map(\.effect) == [.deleted, .changed])
  }

  @Test("S4: A response belongs to the oldest write in flight")
  func oldestAnswered() throws {
    var harness = try CoreHarness()
    let first = try harness.write(set("rooms/a")).batch
    let second = try harness.write(set("rooms/b")).batch
    let sent = harness.send()
    #expect(sent == [first, second])

    let effects = harness.effects { core in
      core.receive(committed(at: 5), token: [2], in: core.writeStream.epoch, at: Timestamp(seconds: 0))
    }

    #expect(effects.position { if case .complete(first, .success) = $0 { true } else { false } } != nil)
    #expect(harness.core.writes.queue.pipeline.map(\.batch.id) == [second])
  }

  @Test("An unexpected response ends the stream but not the process")
  func unaskedAnswer() throws {
    var harness = try CoreHarness()
    let batch = try harness.write(set("rooms/a")).batch
    let sent = harness.send()
    #expect(sent == [batch])

    let effects = harness.effects { core in
      core.receive(committed(at: 5, writes: 2), token: [2], in: core.writeStream.epoch, at: Timestamp(seconds: 0))
    }

    #expect(effects.position { if case .close(.write, _) = $0 { true } else { false } } != nil)
    #expect(harness.core.writes.queue.pipeline.map(\.batch.id) == [batch])
  }

  @Test("S5: A target awaits a response once its listen request is sent")
  func owedWhenHandedOut() throws {
    var harness = try CoreHarness()
    _ = harness.effects { core in
      core.listen(ListenerID(1), to: query("rooms"), options: .metadata)
      core.watchStreamOpened(in: core.watchStream.epoch)
    }
    #expect(harness.core.watching.responsesOwed(TargetID(2)) == 0)

    _ = harness.core.takeWatchRequest(in: harness.core.watchStream.epoch)

    #expect(harness.core.watching.responsesOwed(TargetID(2)) == 1)
  }

  @Test("After a repeated listen, messages for the first listen are ignored")
  func relistened() throws {
    var harness = try CoreHarness()
    harness.listen(1, to: "rooms")
    _ = harness.effects { core in
      core.stopListening(ListenerID(1))
      core.listen(ListenerID(2), to: query("rooms"), options: .metadata)
    }

    let effects = harness.receive(
      .document(doc("rooms/a", at: 5), updated: [TargetID(2)], removed: []),
      .current([TargetID(2)], token("t")), .snapshot(at(5), nil))

    #expect(effects.deliveries.isEmpty)
    let epoch = harness.core.watchStream.epoch
    guard case .remove(TargetID(2))? = harness.core.takeWatchRequest(in: epoch) else {
      Issue.record("the old listen has to be taken back first")
      return
    }
    guard case .add(let target)? = harness.core.takeWatchRequest(in: epoch) else {
      Issue.record("the new listen has to be sent")
      return
    }
    #expect(target.id == TargetID(2))
    let rest = harness.core.takeWatchRequest(in: epoch) == nil
    #expect(rest)
  }

  @Test("A listen request that was never sent needs no removal request")
  func neverSent() throws {
    var harness = try CoreHarness()
    harness.listen(1, to: "rooms")
    _ = harness.effects { core in
      core.listen(ListenerID(2), to: query("halls"), options: .metadata)
      core.stopListening(ListenerID(2))
    }

    let isQuiet = harness.core.takeWatchRequest(in: harness.core.watchStream.epoch) == nil
    #expect(isQuiet)
  }

  @Test("S6: A snapshot that the store rejects changes neither documents nor token")
  func refusedSnapshot() throws {
    var harness = try CoreHarness()
    harness.listen(1, to: "rooms")
    harness.core.store.faults = [.applyRemoteEvent]

    let effects = harness.receive(
      .document(doc("rooms/a", at: 5), updated: [TargetID(2)], removed: []),
      .current([TargetID(2)], token("t")), .snapshot(at(5), nil))

    #expect(harness.core.onlineState == .offline)
    #expect(effects.position { if case .schedule(.storeRetry, _) = $0 { true } else { false } } != nil)
    #expect(try harness.core.store.document(key("rooms/a")) == nil)
    #expect(harness.core.store.activeTarget(TargetID(2))?.resumeToken == nil)
    harness.core.store.faults = []
    _ = harness.effects { core in core.fire(.storeRetry) }
    #expect(harness.core.watchStream.isStarted)
  }

  @Test("S7: Going offline turns all views to from-cache in one delivery")
  func offlineTogether() throws {
    var harness = try CoreHarness()
    harness.listen(1, to: "rooms")
    harness.listen(2, to: "halls")
    _ = harness.receive(.current([TargetID(2), TargetID(4)], token("t")), .snapshot(at(5), nil))

    let effects = harness.effects { core in core.disableNetwork() }

    #expect(effects.deliveries.count == 1)
    let snapshots = effects.deliveries.first?.map(\.snapshot) ?? []
    #expect(snapshots.count == 2)
    #expect(snapshots.allSatisfy { $0.isFromCache && $0.causes == [.networkDisabled] })
    #expect(harness.core.onlineState == .offline)
  }

  @Test("S8: A message from an old stream changes nothing")
  func oldEpoch() throws {
    var harness = try CoreHarness()
    harness.listen(1, to: "rooms")
    let old = harness.core.watchStream.epoch
    _ = harness.effects { core in
      core.disableNetwork()
      core.enableNetwork()
      core.watchStreamOpened(in: core.watchStream.epoch)
    }
    let state = harness.core.onlineState

    let effects = harness.effects { core in
      core.receive([.snapshot(at(5), token("t"))], in: old)
      core.streamEnded(.watch, RPCStatus(.unavailable, "gone"), in: old, at: Timestamp(seconds: 0))
    }

    #expect(effects.isEmpty)
    #expect(harness.core.onlineState == state)
    let isQuiet = harness.core.takeWatchRequest(in: old) == nil
    #expect(isQuiet)
  }

  @Test("A change does not update views of other collections")
  func untouchedViews() throws {
    var harness = try CoreHarness()
    for id in 1...50 { harness.listen(id, to: "halls\(id)") }

    let (_, effects) = try harness.write(set("rooms/a"))

    #expect(effects.deliveries.isEmpty)
  }

  @Test("A large result sent in parts reports each part's changes with previous documents")
  func largeResult() throws {
    var harness = try CoreHarness()
    harness.listen(1, to: "rooms")
    let ids = (0..<400).map { $0 * 7919 % 400 + 1000 }
    var (shown, merged): ([Document], ViewSnapshot?) = ([], nil)
    func snapshot(_ documents: [Document], at version: Int64) throws -> ViewSnapshot {
      let core = harness.core.watchStream.epoch
      let effects = harness.effects { state in
        for document in documents {
          state.receive([.document(document, updated: [TargetID(2)], removed: [])], in: core)
        }
        state.receive([.current([TargetID(2)], token("t")), .snapshot(at(version), token("t"))], in: core)
      }
      return try #require(effects.deliveries.last?.last).snapshot
    }
    _ = try snapshot([doc("rooms/1", at: 1)], at: 1)
    shown = [doc("rooms/1", at: 1)]

    for part in 0..<4 {
      let added = ids[(part * 100)..<(part * 100 + 100)].map { doc("rooms/\($0)", at: Int64(part + 2)) }
      let snapshot = try snapshot(added, at: Int64(part + 2))

      let sorted = added.sorted { $0.key < $1.key }
      #expect(snapshot.changes == sorted.map { DocumentChange(kind: .added, document: $0) })
      #expect(snapshot.onlyAdds && snapshot.oldDocuments.documents == shown && snapshot.previous(added[0].key) == nil)
      shown = (shown + added).sorted { $0.key < $1.key }
      #expect(snapshot.documents.documents == shown && !snapshot.isFromCache)
      merged = merged?.merged(with: snapshot) ?? snapshot
    }
    #expect(merged?.changes.count == 400 && merged?.oldDocuments.documents == [doc("rooms/1", at: 1)])

    let changed = try snapshot([doc("rooms/1", at: 7, ["n": .integer(2)])], at: 7)
    let all = try #require(merged).merged(with: changed)
    #expect(all.oldDocuments.documents == [doc("rooms/1", at: 1)] && all.changes.count == 401)
    #expect(all.previous(key("rooms/1")) == doc("rooms/1", at: 1))
  }

  @Test("A write that is not in flight can be canceled")
  func cancel() throws {
    var harness = try CoreHarness()
    harness.listen(1, to: "rooms")
    let (batch, _) = try harness.write(set("rooms/a"))

    let effects = try harness.effects { core in try core.cancelWrite(batch) }

    guard case .complete(batch, .failure(let status))? = effects.first else {
      Issue.record("the write's failure comes first (S3)")
      return
    }
    #expect(status.code == .cancelled)
    #expect(effects.deliveries.first?.first?.snapshot.documents.isEmpty == true)
    #expect(try harness.core.store.pendingBatches().isEmpty)
    #expect(harness.core.writes.queue.isEmpty)
  }

  @Test("Canceling a write in mid-queue keeps the order of the others (S4)")
  func cancelMiddle() throws {
    var harness = try CoreHarness()
    let batches = try (0..<3).map { try harness.write(set("rooms/\($0)")).batch }

    _ = try harness.effects { core in try core.cancelWrite(batches[1]) }

    let sent = harness.send()
    #expect(sent == [batches[0], batches[2]])
  }

  @Test("A write that is in flight or unknown cannot be canceled")
  func cancelRefused() throws {
    var harness = try CoreHarness()
    let (batch, _) = try harness.write(set("rooms/a"))
    let sent = harness.send()
    #expect(sent == [batch])

    var codes: [StatusCode] = []
    for id in [batch, BatchID(99)] {
      _ = harness.effects { core in
        do throws(RPCStatus) { try core.cancelWrite(id) } catch { codes.append(error.code) }
      }
    }

    #expect(codes == [.failedPrecondition, .notFound])
  }

  @Test(
    "An unreadable bundle reports the position of the error", arguments: ["", "x", "5{}", "2{}", "13{\"document\":1}"])
  func brokenBundle(text: String) {
    #expect {
      try BundleReader.read(Array(text.utf8), database: database)
    } throws: { error in
      (error as? RPCStatus)?.code == .invalidArgument && (error as? RPCStatus)?.message.contains("byte 0") == true
    }
  }
}
