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
  @Test("Another user's queue changes what is shown, and the snapshot says so")
  func userChanged() throws {
    var harness = try CoreHarness()
    harness.listen(1, to: "rooms")
    _ = try harness.write(set("rooms/a"))

    let effects = harness.effects { core in core.changeUser(to: "ada") }

    let snapshot = effects.deliveries.flatMap(\.self).last { $0.snapshot.causes.contains(.userChanged) }?.snapshot
    #expect(snapshot?.causes == [.userChanged])
    #expect(snapshot?.documents.isEmpty == true)
  }
}
