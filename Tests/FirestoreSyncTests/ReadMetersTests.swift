// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreLocal
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
import FirestoreTesting
import Testing

@testable import FirestoreSync

@Suite struct ReadMetersTests {
  private let id = TargetID(2)
  private let data = TargetData(id: TargetID(2), target: query("rooms").target, sequenceNumber: 0, purpose: .listen)

  private func figures(_ meters: ReadMeters) -> [Int] { meters.meters(of: [data]).flatMap { [$0.sent, $0.kept] } }

  @Test("A document counts as a read each time it is sent; a deletion does not count")
  func sent() {
    var meters = ReadMeters()
    #expect(figures(meters) == [])
    meters.requested(id, resumingWith: nil)
    meters.receive(.document(doc("rooms/a", at: 1), updated: [id], removed: []))
    meters.receive(.document(doc("rooms/b", at: 1), updated: [id, TargetID(4)], removed: []))
    meters.receive(.current([id], nil))
    meters.receive(.document(doc("rooms/a", at: 2), updated: [id], removed: []))
    meters.receive(.documentRemoved(key("rooms/b"), removed: [id]))
    #expect(figures(meters) == [3, 0])
    meters.forget(id)
    #expect(figures(meters) == [])
  }

  @Test("When a resumed target is current, documents not resent count as saved reads")
  func kept() {
    var meters = ReadMeters()
    meters.requested(id, resumingWith: 10)
    meters.receive(.document(doc("rooms/a", at: 3), updated: [id], removed: []))
    meters.receive(.documentRemoved(key("rooms/b"), removed: [id]))
    #expect(figures(meters) == [1, 0])
    meters.receive(.current([], nil))
    #expect(figures(meters) == [1, 8])
    meters.receive(.current([id], nil))
    #expect(figures(meters) == [1, 8])

    // A target that starts over has nothing to keep.
    meters.requested(id, resumingWith: 8)
    meters.receive(.reset([id], nil))
    meters.receive(.current([id], nil))
    #expect(figures(meters) == [1, 8])
  }
}
