// SPDX-License-Identifier: Apache-2.0
import FirestoreLocal
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
import FirestoreTesting
import Testing

@Suite("Local writes")
struct WriteTests {
  @Test("A set is visible immediately and pending", arguments: Storage.allCases)
  func setIsVisible(_ storage: Storage) throws {
    let place = Place(storage)
    var store = try place.open()

    let result = try store.write([set("rooms/a", ["x": .integer(1)])], at: now)

    let expected = doc("rooms/a", at: nil, ["x": .integer(1)], pending: .local)
    #expect(result.changes == [key("rooms/a"): expected])
    let read = try store.document(key("rooms/a"))
    #expect(read == expected)
    let remote = try store.remoteDocument(key("rooms/a"))
    #expect(remote == nil)
    try close(store)
  }

  @Test("After an acknowledgement the committed document remains", arguments: Storage.allCases)
  func acknowledged(_ storage: Storage) throws {
    let place = Place(storage)
    var store = try place.open()
    let batch = try store.write([set("rooms/a", ["x": .integer(1)])], at: now).batchID

    let changes = try store.acknowledge(batch, commit(at: 5))

    let expected = doc("rooms/a", at: 5, ["x": .integer(1)], pending: .committed)
    #expect(changes == [key("rooms/a"): expected])
    let read = try store.document(key("rooms/a"))
    #expect(read == expected)
    let overlay = try store.overlay(of: key("rooms/a"))
    #expect(overlay == nil)
    let next = try store.nextBatch(after: nil)
    #expect(next == nil)
  }

  @Test("A pending no-op write does not mark an acknowledged document as pending (S9)", arguments: Storage.allCases)
  func laterWriteDoesNothing(_ storage: Storage) throws {
    let place = Place(storage)
    var store = try place.open()
    let first = try store.write([set("rooms/a", ["x": .integer(1)])], at: now).batchID
    var create = set("rooms/a", ["x": .integer(2)])
    create.precondition = .exists(false)
    _ = try store.write([create], at: now)

    let changes = try store.acknowledge(first, commit(at: 5))

    #expect(changes[key("rooms/a")] == doc("rooms/a", at: 5, ["x": .integer(1)], pending: .committed))
    try close(store)
  }

  @Test("A rejection restores the previous view", arguments: Storage.allCases)
  func rejected(_ storage: Storage) throws {
    let place = Place(storage)
    var store = try place.open()
    let target = try store.allocateTarget(collection("rooms").target).id
    let before = doc("rooms/a", at: 3, ["x": .integer(0), "y": .integer(0)])
    _ = try store.apply(event(at: 3, [before], addedTo: target))
    let first = try store.write([patch("rooms/a", ["x": .integer(1)])], at: now).batchID
    let second = try store.write([patch("rooms/a", ["y": .integer(2)])], at: now).batchID

    let afterFirst = try store.reject(first)
    let afterSecond = try store.reject(second)

    #expect(
      afterFirst[key("rooms/a")] == doc("rooms/a", at: nil, ["x": .integer(0), "y": .integer(2)], pending: .local))
    #expect(afterSecond[key("rooms/a")] == before)
    try close(store)
  }

  @Test("A patch of a document not in the cache is invisible until the document arrives", arguments: Storage.allCases)
  func patchOfUnknown(_ storage: Storage) throws {
    let place = Place(storage)
    var store = try place.open()
    let target = try store.allocateTarget(collection("rooms").target).id

    let written = try store.write([patch("rooms/a", ["x": .integer(1)])], at: now)
    let arrived = try store.apply(event(at: 3, [doc("rooms/a", at: 3, ["y": .integer(2)])], addedTo: target))

    #expect(written.changes[key("rooms/a")]?.exists == false)
    #expect(
      arrived[key("rooms/a")] == doc("rooms/a", at: nil, ["x": .integer(1), "y": .integer(2)], pending: .local))
    try close(store)
  }

  @Test("If a document is deleted remotely, a pending patch does not show it", arguments: Storage.allCases)
  func patchOfDeleted(_ storage: Storage) throws {
    let place = Place(storage)
    var store = try place.open()
    let target = try store.allocateTarget(collection("rooms").target).id
    _ = try store.apply(event(at: 3, [doc("rooms/a", at: 3, ["y": .integer(2)])], addedTo: target))
    _ = try store.write([patch("rooms/a", ["x": .integer(1)])], at: now)

    let changes = try store.apply(event(at: 4, [doc("rooms/a", at: 4, nil)]))

    #expect(changes[key("rooms/a")]?.exists == false)
    try close(store)
  }

  @Test("A pending increment keeps its base value when the remote value changes", arguments: Storage.allCases)
  func incrementIsPinned(_ storage: Storage) throws {
    let place = Place(storage)
    var store = try place.open()
    let target = try store.allocateTarget(collection("rooms").target).id
    _ = try store.apply(event(at: 1, [doc("rooms/a", at: 1, ["n": .integer(10)])], addedTo: target))
    let batch = try store.write([increment("rooms/a", "n", by: 1)], at: now).batchID

    let changed = try store.apply(event(at: 2, [doc("rooms/a", at: 2, ["n": .integer(50)])]))
    let acknowledged = try store.acknowledge(batch, commit(at: 3, transformResults: [.integer(51)]))

    #expect(changed[key("rooms/a")] == doc("rooms/a", at: nil, ["n": .integer(11)], pending: .local))
    #expect(acknowledged[key("rooms/a")] == doc("rooms/a", at: 3, ["n": .integer(51)], pending: .committed))
  }

  @Test("Later increments build on the acknowledged value", arguments: Storage.allCases)
  func incrementsInARow(_ storage: Storage) throws {
    let place = Place(storage)
    var store = try place.open()
    let first = try store.write([set("rooms/a", ["n": .integer(0)])], at: now).batchID
    let second = try store.write([increment("rooms/a", "n", by: 1)], at: now).batchID
    let third = try store.write([increment("rooms/a", "n", by: 2)], at: now).batchID

    _ = try store.acknowledge(first, commit(at: 1))
    let afterSecond = try store.acknowledge(second, commit(at: 2, transformResults: [.integer(1)]))
    let violations = try store.checkInvariants()
    let afterThird = try store.acknowledge(third, commit(at: 3, transformResults: [.integer(3)]))

    #expect(afterSecond[key("rooms/a")]?[FieldPath("n")] == .integer(3))
    #expect(violations.isEmpty)
    #expect(afterThird[key("rooms/a")] == doc("rooms/a", at: 3, ["n": .integer(3)], pending: .committed))
  }

  @Test("A patch without fields is pending until acknowledged", arguments: Storage.allCases)
  func emptyPatch(_ storage: Storage) throws {
    let place = Place(storage)
    var store = try place.open()
    let target = try store.allocateTarget(collection("rooms").target).id
    _ = try store.apply(event(at: 1, [doc("rooms/a", at: 1, ["n": .integer(10)])], addedTo: target))

    let result = try store.write([patch("rooms/a", [:])], at: now)
    let acknowledged = try store.acknowledge(result.batchID, commit(at: 2))

    #expect(result.changes[key("rooms/a")]?.hasLocalMutations == true)
    #expect(acknowledged[key("rooms/a")]?.hasLocalMutations == false)
  }

  @Test(
    "An acknowledged patch of a document not in the cache leaves its contents unknown", arguments: Storage.allCases)
  func unknownDocument(_ storage: Storage) throws {
    let place = Place(storage)
    var store = try place.open()
    let batch = try store.write([patch("rooms/a", ["x": .integer(1)])], at: now).batchID

    _ = try store.acknowledge(batch, commit(at: 7))

    let remote = try store.remoteDocument(key("rooms/a"))
    #expect(remote?.state == .unknown)
    #expect(remote?.version == version(7))
    let result = try store.execute(collection("rooms"), usingPreviousResults: false)
    #expect(result.documents.isEmpty)
  }

  @Test("An acknowledgement does not replace a newer document", arguments: Storage.allCases)
  func newerDocumentStays(_ storage: Storage) throws {
    let place = Place(storage)
    var store = try place.open()
    let target = try store.allocateTarget(collection("rooms").target).id
    let batch = try store.write([set("rooms/a", ["x": .integer(1)])], at: now).batchID
    let newer = doc("rooms/a", at: 9, ["x": .integer(9)])
    _ = try store.apply(event(at: 9, [newer], addedTo: target))

    let changes = try store.acknowledge(batch, commit(at: 5))

    #expect(changes[key("rooms/a")] == newer)
  }

  @Test("Batches are read in order and numbered after all earlier ones", arguments: Storage.allCases)
  func batchOrder(_ storage: Storage) throws {
    let place = Place(storage)
    var store = try place.open()
    let ids = try [1, 2, 3].map { n throws in
      try store.write([set("rooms/a", ["x": .integer(Int64(n))])], at: now).batchID
    }

    let read = try store.pendingBatches()
    let second = try store.nextBatch(after: ids[0])
    let highest = try store.pendingBatches().last?.id
    for id in ids { _ = try store.reject(id) }
    let later = try store.write([set("rooms/a", [:])], at: now).batchID

    #expect(read.map(\.id) == ids)
    #expect(ids == ids.sorted())
    #expect(second?.id == ids[1])
    #expect(second?.mutations == [set("rooms/a", ["x": .integer(2)])])
    #expect(second?.localWriteTime == now)
    #expect(highest == ids[2])
    #expect(later > ids[2])
  }

  @Test("A batch may change several documents, and one document twice", arguments: Storage.allCases)
  func severalMutations(_ storage: Storage) throws {
    let place = Place(storage)
    var store = try place.open()

    let result = try store.write(
      [set("rooms/a", ["x": .integer(1)]), patch("rooms/a", ["y": .integer(2)]), set("rooms/b", [:])], at: now)
    let changes = try store.acknowledge(result.batchID, commit(at: 4, results: 3))

    #expect(
      result.changes[key("rooms/a")]
        == doc("rooms/a", at: nil, ["x": .integer(1), "y": .integer(2)], pending: .local))
    #expect(
      changes[key("rooms/a")] == doc("rooms/a", at: 4, ["x": .integer(1), "y": .integer(2)], pending: .committed))
    #expect(changes[key("rooms/b")] == doc("rooms/b", at: 4, [:], pending: .committed))
  }

  @Test("Each user sees only their own pending writes, which remain when the user changes", arguments: Storage.allCases)
  func userChange(_ storage: Storage) throws {
    let place = Place(storage)
    var store = try place.open()
    try store.start(user: nil)
    let target = try store.allocateTarget(collection("rooms").target).id
    let remote = doc("rooms/a", at: 1, ["x": .integer(0), "y": .integer(0)])
    _ = try store.apply(event(at: 1, [remote], addedTo: target))
    let batch = try store.write([patch("rooms/a", ["x": .integer(1)])], at: now).batchID

    let toOther = try store.changeUser(to: "other")
    let seenByOther = try store.document(key("rooms/a"))
    let pendingOfOther = try store.pendingBatches()
    let newer = doc("rooms/a", at: 2, ["x": .integer(0), "y": .integer(5)])
    _ = try store.apply(event(at: 2, [newer]))
    let back = try store.changeUser(to: nil)

    #expect(toOther.removedBatches == [batch])
    #expect(toOther.addedBatches.isEmpty)
    #expect(toOther.affected == [key("rooms/a"): remote])
    #expect(seenByOther == remote)
    #expect(pendingOfOther.isEmpty)
    #expect(back.addedBatches.map(\.id) == [batch])
    #expect(
      back.affected
        == [key("rooms/a"): doc("rooms/a", at: nil, ["x": .integer(1), "y": .integer(5)], pending: .local)])
    try close(store)
  }

  @Test("No batch number is used twice, whichever write leaves the queue last", arguments: Storage.allCases)
  func numbers(_ storage: Storage) throws {
    let place = Place(storage)
    var store = try place.open()
    let ids = try (0..<3).map { number throws in try store.write([set("rooms/\(number)", [:])], at: now).batchID }
    _ = try store.reject(ids[2])
    _ = try store.acknowledge(ids[0], commit(at: 5))
    _ = try store.acknowledge(ids[1], commit(at: 6))

    let next = try store.write([set("rooms/r", [:])], at: now).batchID
    #expect(next > ids[2])
    _ = try store.reject(next)
    guard storage == .durable else { return }
    store.close()
    store = try place.open()
    let afterStart = try store.write([set("rooms/r", [:])], at: now).batchID
    #expect(afterStart > next)
  }
}
