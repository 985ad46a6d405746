// SPDX-License-Identifier: Apache-2.0
import FirestoreLocal
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
import FirestoreSQLite
import FirestoreTesting
import Testing

@Suite("Target allocation")
struct TargetTests {
  @Test("New targets get even ids in ascending order, and known targets keep their ids", arguments: Storage.allCases)
  func ids(_ storage: Storage) throws {
    let place = Place(storage)
    var store = try place.open()

    let first = try store.allocateTarget(collection("rooms").target)
    let second = try store.allocateTarget(collection("halls").target)
    let again = try store.allocateTarget(collection("rooms").target)
    try store.releaseTarget(first.id)
    let returned = try store.allocateTarget(collection("rooms").target)

    #expect(first.id == TargetID(2))
    #expect(second.id == TargetID(4))
    #expect(again.id == first.id)
    #expect(returned.id == first.id)
  }

  @Test("A query and its limit-to-last equivalent share a target", arguments: Storage.allCases)
  func mirrors(_ storage: Storage) throws {
    let place = Place(storage)
    var store = try place.open()
    let order = [OrderBy(FieldPath("n"))]
    let reversed = [OrderBy(FieldPath("n"), .descending)]
    let firstTwo = Query(path: ResourcePath("rooms"), explicitOrderBy: order, limit: 2)
    let lastTwo = Query(path: ResourcePath("rooms"), explicitOrderBy: reversed, limit: 2, limitType: .last)

    let id = try store.allocateTarget(firstTwo.target).id
    let mirror = try store.allocateTarget(lastTwo.target).id

    #expect(id == mirror)
  }

  @Test("With eager collection, a released target is removed and its id never reused")
  func eagerRelease() throws {
    let place = Place(.memory)
    var store = try place.open(.eager)
    let query = collection("rooms")
    let first = try store.allocateTarget(query.target).id

    try store.releaseTarget(first)

    let known = try store.targetData(for: query.target)
    #expect(known == nil)
    let next = try store.allocateTarget(query.target).id
    #expect(next == TargetID(4))
  }

  @Test("A failed target allocation consumes no target id", arguments: Storage.allCases)
  func failedAllocation(_ storage: Storage) throws {
    let place = Place(storage)
    var store = try place.open()
    store.faults = [.allocateTarget]

    do {
      _ = try store.allocateTarget(collection("rooms").target)
      Issue.record("allocation succeeded")
    } catch {
      #expect(error.kind == .injected)
      #expect(error.code == .unavailable)
    }
    store.faults = []

    let id = try store.allocateTarget(collection("rooms").target).id
    #expect(id == TargetID(2))
  }

  @Test("Target ids continue after a restart, and a known target keeps its token")
  func restart() throws {
    let place = Place(.durable)
    var store = try place.open()
    let query = collection("rooms", [field("x", .equal, .integer(1))])
    let id = try store.allocateTarget(query.target).id
    _ = try store.apply(event(at: 7, [doc("rooms/a", at: 7, ["x": .integer(1)])], addedTo: id, token: token("t")))
    store.close()

    store = try place.open()
    let other = try store.allocateTarget(collection("halls").target)
    let known = try store.allocateTarget(query.target)

    #expect(other.id == TargetID(4))
    #expect(known.id == id)
    #expect(known.resumeToken == token("t"))
    #expect(known.snapshotVersion == version(7))
    let keys = try store.remoteKeys(of: id)
    #expect(keys == [key("rooms/a")])
  }

  @Test("A released target is inactive even if storing the release fails", arguments: Storage.allCases)
  func failedRelease(_ storage: Storage) throws {
    let place = Place(storage)
    var store = try place.open()
    let query = collection("rooms")
    let id = try store.allocateTarget(query.target).id
    _ = try store.apply(event(at: 1, [], addedTo: id, token: token("stored")))
    _ = try store.apply(event(at: 2, [], addedTo: id, token: token("lost")))
    store.faults = [.releaseTarget]

    do {
      try store.releaseTarget(id)
      Issue.record("release succeeded")
    } catch {
      #expect(error.kind == .injected)
    }

    let active = store.activeTarget(id)
    #expect(active == nil)
    let known = try store.targetData(for: query.target)
    #expect(known?.resumeToken == token("stored"))
  }

  @Test("The limbo-free version is the version of the last view without limbo documents")
  func limboFreeVersion() throws {
    let place = Place(.durable)
    var store = try place.open()
    let query = collection("rooms")
    let id = try store.allocateTarget(query.target).id
    _ = try store.apply(event(at: 7, [doc("rooms/a", at: 7)], addedTo: id, token: token("t")))

    try store.notifyLocalViewChanges(
      [LocalViewChanges(targetID: id, isFromCache: true, added: [key("rooms/a")], removed: [])])
    let fromCache = store.activeTarget(id)?.lastLimboFreeSnapshotVersion
    try store.notifyLocalViewChanges([LocalViewChanges(targetID: id, isFromCache: false, added: [], removed: [])])
    let synced = store.activeTarget(id)?.lastLimboFreeSnapshotVersion
    store.close()
    store = try place.open()
    let stored = try store.targetData(for: query.target)

    #expect(fromCache == nil)
    #expect(synced == version(7))
    #expect(stored?.lastLimboFreeSnapshotVersion == version(7))
  }
}
