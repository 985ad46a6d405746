// SPDX-License-Identifier: Apache-2.0
import FirestoreLocal
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
import FirestoreTesting
import Testing

@Suite("Remote events")
struct WatchTests {
  @Test("A document never returns to an older version (S6)", arguments: Storage.allCases)
  func versionsNeverGoBack(_ storage: Storage) throws {
    let place = Place(storage)
    var store = try place.open()
    let target = try store.allocateTarget(collection("rooms").target).id
    let newer = doc("rooms/a", at: 5, ["x": .integer(5)])
    _ = try store.apply(event(at: 5, [newer], addedTo: target))

    let older = try store.apply(event(at: 6, [doc("rooms/a", at: 4, ["x": .integer(4)])]))
    let equal = try store.apply(event(at: 7, [doc("rooms/a", at: 5, ["x": .integer(0)])]))
    let deleted = try store.apply(event(at: 8, [doc("rooms/a", at: 8, nil)]))
    let zombie = try store.apply(event(at: 9, [newer]))

    #expect(older.isEmpty)
    #expect(equal.isEmpty)
    #expect(deleted == [key("rooms/a"): doc("rooms/a", at: 8, nil)])
    #expect(zombie.isEmpty)
    let remote = try store.remoteDocument(key("rooms/a"))
    #expect(remote == doc("rooms/a", at: 8, nil))
  }

  @Test("After a reset, documents may return to the backend's older versions", arguments: Storage.allCases)
  func backendLostVersions(_ storage: Storage) throws {
    let place = Place(storage)
    var store = try place.open()
    _ = try store.apply(event(at: 9, [doc("rooms/a", at: 9), doc("rooms/b", at: 9), doc("rooms/c", at: 8, nil)]))
    // Newer than the reset, so the backend cannot have lost it.
    _ = try store.apply(event(at: 30, [doc("rooms/new", at: 30)]))

    var reset = event(at: 20, [doc("rooms/a", at: 4, ["x": .integer(4)]), doc("rooms/new", at: 5)])
    reset.hasReset = true
    let first = try store.apply(reset)
    let later = try store.apply(event(at: 21, [doc("rooms/b", at: 3), doc("rooms/c", at: 2)]))

    #expect(first[key("rooms/a")]?.data?.fields["x"] == .integer(4) && first.count == 1)
    #expect(Set(later.keys) == [key("rooms/b"), key("rooms/c")])
    #expect(later[key("rooms/c")]?.exists == true)
    store.close()
  }

  @Test("A remote document replaces a committed one of the same version", arguments: Storage.allCases)
  func committedIsReplaced(_ storage: Storage) throws {
    let place = Place(storage)
    var store = try place.open()
    let batch = try store.write([set("rooms/a", ["x": .integer(1)])], at: now).batchID
    _ = try store.acknowledge(batch, commit(at: 5))
    let echo = doc("rooms/a", at: 5, ["x": .integer(1)])

    let changes = try store.apply(event(at: 5, [echo]))

    #expect(changes == [key("rooms/a"): echo])
  }

  @Test("A document reported missing without a version is removed from the cache", arguments: Storage.allCases)
  func lostAccess(_ storage: Storage) throws {
    let place = Place(storage)
    var store = try place.open()
    let target = try store.allocateTarget(collection("rooms").target).id
    _ = try store.apply(event(at: 5, [doc("rooms/a", at: 5), doc("rooms/b", at: 5)], addedTo: target))
    _ = try store.apply(event(at: 5, [doc("rooms/c", at: 5)]))

    let member = try store.apply(event(at: nil, [doc("rooms/a", at: nil, nil)]))
    let other = try store.apply(event(at: nil, [doc("rooms/c", at: nil, nil)]))

    #expect(member[key("rooms/a")]?.exists == false)
    #expect(other[key("rooms/c")]?.exists == false)
    for path in ["rooms/a", "rooms/c"] {
      let read = try store.document(key(path))
      #expect(read == nil)
    }
    let keys = try store.remoteKeys(of: target)
    #expect(keys == [key("rooms/a"), key("rooms/b")])
    try close(store)
  }

  @Test("A target's members change with the target changes in remote events", arguments: Storage.allCases)
  func membership(_ storage: Storage) throws {
    let place = Place(storage)
    var store = try place.open()
    let target = try store.allocateTarget(collection("rooms").target).id
    _ = try store.apply(event(at: 1, [doc("rooms/a", at: 1), doc("rooms/b", at: 1)], addedTo: target))
    var change = event(at: 2)
    change.targetChanges[target] = TargetChange(added: [key("rooms/z")], removed: [key("rooms/a"), key("rooms/none")])

    _ = try store.apply(change)

    let keys = try store.remoteKeys(of: target)
    #expect(keys == [key("rooms/b"), key("rooms/z")])
    let unseen = try store.document(key("rooms/z"))
    #expect(unseen == nil)
  }

  @Test("A filter mismatch clears a target's token and members, except those in the event", arguments: Storage.allCases)
  func mismatch(_ storage: Storage) throws {
    let place = Place(storage)
    var store = try place.open()
    let query = collection("rooms")
    let target = try store.allocateTarget(query.target).id
    _ = try store.apply(
      event(at: 1, [doc("rooms/a", at: 1), doc("rooms/b", at: 1)], addedTo: target, token: token("one")))
    var change = event(at: 2, [doc("rooms/b", at: 2)])
    change.targetMismatches[target] = .existenceFilterMismatch
    change.targetChanges[target] = TargetChange(
      resumeToken: token("two"), modified: [key("rooms/b")], removed: [key("rooms/a")])

    _ = try store.apply(change)

    let keys = try store.remoteKeys(of: target)
    #expect(keys == [key("rooms/b")])
    let active = store.activeTarget(target)
    #expect(active?.resumeToken == nil)
    try store.releaseTarget(target)
    let stored = try store.targetData(for: query.target)
    #expect(stored?.resumeToken == nil)
    #expect(stored?.id == target)
  }

  @Test("The last remote version never decreases", arguments: Storage.allCases)
  func lastVersion(_ storage: Storage) throws {
    let place = Place(storage)
    var store = try place.open()
    let before = try store.lastRemoteSnapshotVersion()

    _ = try store.apply(event(at: 5))
    _ = try store.apply(event(at: 3))
    _ = try store.apply(event(at: nil))

    #expect(before == nil)
    let last = try store.lastRemoteSnapshotVersion()
    #expect(last == version(5))
  }

  @Test("Without changes, a token is stored at first, every five minutes and on release")
  func tokenRule() throws {
    let fiveMinutes: Int64 = 5 * 60 * 1_000_000
    let query = collection("rooms").target
    let place = Place(.durable)

    /// The token on disk, as a store opened after a crash would see it.
    func stored(after events: [RemoteEvent], released: Bool = false) throws -> String? {
      let place = Place(.durable)
      var store = try place.open()
      let id = try store.allocateTarget(query).id
      for event in events { _ = try store.apply(event) }
      if released { try store.releaseTarget(id) }
      store.close()
      let reopened = try place.open()
      let data = try reopened.targetData(for: query)
      return data?.resumeToken.map { String(decoding: $0.bytes, as: UTF8.self) }
    }
    let target = TargetID(2)
    func only(_ text: String, at time: Int64) -> RemoteEvent {
      event(at: time, [], addedTo: target, token: token(text))
    }

    let first = try stored(after: [only("a", at: 1)])
    let second = try stored(after: [only("a", at: 1), only("b", at: 2)])
    let almost = try stored(after: [only("a", at: 1), only("b", at: fiveMinutes)])
    let later = try stored(after: [only("a", at: 1), only("b", at: fiveMinutes + 1)])
    let stepwise = try stored(after: [only("a", at: 1), only("b", at: fiveMinutes), only("c", at: fiveMinutes + 1)])
    let withDocument = try stored(
      after: [only("a", at: 1), event(at: 2, [doc("rooms/a", at: 2)], addedTo: target, token: token("b"))])
    let released = try stored(after: [only("a", at: 1), only("b", at: 2)], released: true)

    #expect(first == "a")
    #expect(second == "a")
    #expect(almost == "a")
    #expect(later == "b")
    #expect(stepwise == "c")
    #expect(withDocument == "b")
    #expect(released == "b")

    var store = try place.open()
    _ = try store.allocateTarget(query)
    _ = try store.apply(only("a", at: 1))
    _ = try store.apply(only("b", at: 2))
    let active = store.activeTarget(target)
    #expect(active?.resumeToken == token("b"))
  }

  @Test("Subcollections are found by collection group and by parent", arguments: Storage.allCases)
  func groups(_ storage: Storage) throws {
    let place = Place(storage)
    var store = try place.open()
    _ = try store.apply(
      event(at: 1, [doc("rooms/a/messages/1", at: 1), doc("rooms/b/messages/2", at: 1), doc("rooms/a", at: 1)]))
    _ = try store.write([set("rooms/c/drafts/d", [:]), set("halls/x/messages/3", [:])], at: now)

    let all = try store.execute(Query(path: .root, collectionGroup: "messages"), usingPreviousResults: false)
    let below = try store.execute(
      Query(path: ResourcePath("rooms/a"), collectionGroup: "messages"), usingPreviousResults: false)

    #expect(
      Set(all.documents.keys)
        == [key("rooms/a/messages/1"), key("rooms/b/messages/2"), key("halls/x/messages/3")])
    #expect(Set(below.documents.keys) == [key("rooms/a/messages/1")])
    let root = try store.collectionIDs(below: .root)
    #expect(root == ["rooms"])
    let ofA = try store.collectionIDs(below: ResourcePath("rooms/a"))
    #expect(ofA == ["messages"])
    let ofC = try store.collectionIDs(below: ResourcePath("rooms/c"))
    #expect(ofC == ["drafts"])
  }
}
