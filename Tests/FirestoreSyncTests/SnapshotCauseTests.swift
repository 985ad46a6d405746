// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreLocal
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
import FirestoreSync
import FirestoreTesting
import Testing

/// Causes that no listener of the public API can bring about by itself.
@Suite("Snapshot causes")
struct SnapshotCauseTests {
  @Test("A user change is the cause of the snapshot that shows it")
  func userChanged() throws {
    var harness = try CoreHarness()
    harness.listen(1, to: "rooms")
    _ = try harness.write(set("rooms/a"))

    let effects = harness.effects { core in core.changeUser(to: "ada") }

    let snapshot = effects.deliveries.flatMap(\.self).last { $0.snapshot.causes.contains(.userChanged) }?.snapshot
    #expect(snapshot?.causes == [.userChanged])
    #expect(snapshot?.documents.isEmpty == true)
  }

  /// A listener on rooms, a written document in it that the backend has, and an update of it on its way.
  private func update(_ harness: inout CoreHarness) throws -> BatchID {
    harness.listen(1, to: "rooms")
    _ = harness.receive(
      .document(doc("rooms/a", at: 5), updated: [TargetID(2)], removed: []),
      .current([TargetID(2)], token("t")), .snapshot(at(5), nil))
    let (batch, _) = try harness.write(patch("rooms/a", ["n": 2]))
    let sent = harness.send()
    #expect(sent == [batch])
    return batch
  }

  @Test("An acknowledgement is the cause of the snapshot that shows it, even if delayed")
  func acknowledged() throws {
    var harness = try CoreHarness()
    let batch = try update(&harness)
    let effects = harness.effects { core in
      core.receive(committed(at: 6), token: [2], in: core.writeStream.epoch, at: Timestamp(seconds: 0))
    }
    #expect(effects.deliveries.isEmpty)

    let shown = harness.receive(
      .document(doc("rooms/a", at: 6, ["n": 2]), updated: [TargetID(2)], removed: []), .snapshot(at(6), nil))
    #expect(shown.deliveries.first?.first?.snapshot.causes == [.acknowledged(batch), .server(at(6))])

    // The next change is another's.
    let later = harness.receive(
      .document(doc("rooms/a", at: 7, ["n": 3]), updated: [TargetID(2)], removed: []), .snapshot(at(7), nil))
    #expect(later.deliveries.first?.first?.snapshot.causes == [.server(at(7))])
  }

  /// Writes, and lets the backend acknowledge it.
  private func acknowledge(_ mutation: Mutation, _ harness: inout CoreHarness) throws -> (BatchID, [SyncEffect]) {
    let (batch, _) = try harness.write(mutation)
    _ = harness.send()
    let effects = harness.effects { core in
      core.receive(committed(at: 6), token: [2], in: core.writeStream.epoch, at: Timestamp(seconds: 0))
    }
    return (batch, effects)
  }

  private func isScheduled(_ effects: [SyncEffect]) -> Bool {
    effects.contains { if case .schedule(.unwatchedResults, _) = $0 { true } else { false } }
  }

  @Test("A cache listener receives a write's acknowledgement after a short delay")
  func acknowledgedInCache() throws {
    var harness = try CoreHarness()
    _ = harness.effects {
      $0.listen(
        ListenerID(1), to: query("rooms"), options: ListenerOptions(includeMetadataChanges: true, source: .cache))
    }

    let (batch, effects) = try acknowledge(set("rooms/a", ["n": 1]), &harness)
    #expect(effects.deliveries.isEmpty && isScheduled(effects))
    let shown = harness.effects { $0.fire(.unwatchedResults) }.deliveries.flatMap(\.self)

    #expect(shown.count == 1)
    #expect(shown.first?.snapshot.causes == [.acknowledged(batch)])
    #expect(shown.first?.snapshot.hasPendingWrites == false && shown.first?.snapshot.changes.map(\.kind) == [.metadata])
    let later = harness.effects { $0.fire(.unwatchedResults) }
    #expect(later.deliveries.isEmpty)
  }

  @Test("A write acknowledged after its server listener stopped is shown as acknowledged")
  func acknowledgedUnwatched() throws {
    var harness = try CoreHarness()
    _ = try update(&harness)
    _ = harness.effects {
      $0.listen(
        ListenerID(2), to: query("rooms"), options: ListenerOptions(includeMetadataChanges: true, source: .cache))
    }
    let watched = harness.effects { core in
      core.receive(committed(at: 6), token: [2], in: core.writeStream.epoch, at: Timestamp(seconds: 0))
    }
    #expect(!isScheduled(watched))

    let effects = harness.effects { $0.stopListening(ListenerID(1)) }
    #expect(isScheduled(effects))
    let shown = harness.effects { $0.fire(.unwatchedResults) }.deliveries.flatMap(\.self)
    #expect(shown.map(\.listener) == [ListenerID(2)] && shown.first?.snapshot.hasPendingWrites == false)
  }

  @Test("A pending update is not the cause of a remote deletion")
  func deletedMeanwhile() throws {
    var harness = try CoreHarness()
    let batch = try update(&harness)
    let gone = harness.receive(
      .document(doc("rooms/a", at: 7, nil), updated: [], removed: [TargetID(2)]), .snapshot(at(7), nil))
    #expect(gone.deliveries.first?.first?.snapshot.causes == [.server(at(7))])

    let status = RPCStatus(.notFound, "No document to update")
    let effects = harness.effects { core in
      core.streamEnded(.write, status, in: core.writeStream.epoch, at: Timestamp(seconds: 0))
    }
    #expect(effects.position { if case .complete(batch, .failure(status)) = $0 { true } else { false } } != nil)
    #expect(effects.deliveries.isEmpty)
  }
}
