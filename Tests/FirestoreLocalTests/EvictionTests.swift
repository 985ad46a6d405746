// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
import FirestoreTesting
import Testing

@testable import FirestoreLocal

@Suite("Manual eviction")
struct EvictionTests {
  private func evict(_ path: String, from store: inout LocalStore) throws -> Eviction {
    var eviction = Eviction(of: ResourcePath(path))
    while !eviction.isFinished { try store.continueEviction(&eviction) }
    return eviction
  }

  @Test(
    "Eviction removes unused documents and counts those that it keeps", arguments: Storage.allCases)
  func kept(_ storage: Storage) throws {
    let place = Place(storage)
    var store = try place.open()
    let query = collection("rooms", [field("open", .equal, .boolean(true))]).target
    let active = try store.allocateTarget(query).id
    let names = ["pending", "others", "shown", "limbo", "plain", "member"]
    _ = try store.apply(event(at: 1, names.map { doc("rooms/\($0)", at: 1) } + [doc("halls/a", at: 1)]))
    _ = try store.apply(event(at: 2, [doc("rooms/watched", at: 2)], addedTo: active))
    try store.start(user: "other")
    _ = try store.write([patch("rooms/others", ["x": .integer(1)])], at: now)
    _ = try store.changeUser(to: nil)
    _ = try store.write([patch("rooms/pending", ["x": .integer(1)])], at: now)
    try store.notifyLocalViewChanges(
      [LocalViewChanges(targetID: active, isFromCache: true, added: [key("rooms/shown")], removed: [])])
    store.addLimboReference(key("rooms/limbo"), TargetID(1))

    let eviction = try evict("rooms", from: &store)

    #expect(eviction.removed == 2 && eviction.modified == 2 && eviction.listened == 3)
    for path in ["rooms/pending", "rooms/others", "rooms/shown", "rooms/limbo", "rooms/watched", "halls/a"] {
      #expect(try store.remoteDocument(key(path)) != nil, "\(path)")
    }
    for path in ["rooms/plain", "rooms/member"] { #expect(try store.remoteDocument(key(path)) == nil, "\(path)") }
    #expect(try store.targetData(for: query) != nil)
    try close(store)
  }

  @Test("A query whose documents were evicted is read again in full")
  func forgotten() throws {
    let place = Place(.durable)
    var store = try place.open()
    let (rooms, halls) = (collection("rooms").target, collection("halls").target)
    for (number, target) in [rooms, halls].enumerated() {
      let id = try store.allocateTarget(target).id
      let path = number == 0 ? "rooms" : "halls"
      _ = try store.apply(
        event(at: Int64(number + 1), ["a", "b"].map { doc("\(path)/\($0)", at: 1) }, addedTo: id, token: token("t")))
      try store.releaseTarget(id)
    }

    let eviction = try evict("rooms/a", from: &store)

    #expect(eviction.removed == 1)
    #expect(try store.remoteDocument(key("rooms/a")) == nil && store.remoteDocument(key("rooms/b")) != nil)
    #expect(try store.targetData(for: rooms) == nil)
    #expect(try store.targetData(for: halls) != nil)
    try close(store)
  }

  @Test("Many documents are evicted in slices; an unknown collection has none to evict")
  func slices() throws {
    let place = Place(.memory)
    var store = try place.open()
    _ = try store.apply(event(at: 1, (0..<250).map { doc("rooms/\($0)", at: 1) }))
    var eviction = Eviction(of: ResourcePath("rooms"))
    var slices = 0
    while !eviction.isFinished {
      try store.continueEviction(&eviction)
      slices += 1
    }
    #expect(eviction.removed == 250 && slices == 3)
    #expect(try evict("nothere", from: &store).removed == 0)
    #expect(try evict("rooms", from: &store).removed == 0)
    try close(store)
  }

  @Test("Eviction by age keeps documents that were sent or confirmed after the given time", arguments: Storage.allCases)
  func age(_ storage: Storage) throws {
    let place = Place(storage)
    var store = try place.open()
    _ = try store.apply(event(at: 10, [doc("rooms/old", at: 10), doc("rooms/member", at: 10)]))
    _ = try store.apply(event(at: 30, [doc("rooms/new", at: 30)]))
    let rooms = try store.allocateTarget(collection("rooms", [field("open", .equal, .boolean(true))]).target).id
    _ = try store.apply(event(at: 40, [doc("rooms/member", at: 10)], addedTo: rooms, token: token("t")))
    try store.releaseTarget(rooms)

    var eviction = Eviction(of: ResourcePath("rooms"), unconfirmedSince: version(20))
    while !eviction.isFinished { try store.continueEviction(&eviction) }

    #expect(eviction.removed == 1 && eviction.fresh == 2)
    #expect(try store.remoteDocument(key("rooms/old")) == nil)
    #expect(try store.remoteDocument(key("rooms/new")) != nil && store.remoteDocument(key("rooms/member")) != nil)
    try close(store)
  }

  @Test("Tombstones are evicted too and counted separately", arguments: Storage.allCases)
  func tombstones(_ storage: Storage) throws {
    var store = try Place(storage).open()
    _ = try store.apply(event(at: 1, [doc("rooms/a", at: 1), doc("rooms/gone", at: 1, nil)]))
    let eviction = try evict("rooms", from: &store)
    #expect(eviction.removed == 1 && eviction.tombstones == 1)
    #expect(try store.remoteDocument(key("rooms/gone")) == nil)
    #expect(try store.collectionPaths().map(\.text) == ["rooms"])
    try close(store)
  }
}
