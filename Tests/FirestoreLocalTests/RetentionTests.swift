// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
import FirestoreSQLite
import FirestoreTesting
import Testing

@testable import FirestoreLocal

@Suite("Cache pins and lifetimes")
struct RetentionTests {
  private static let done = collection("rooms", [field("state", .equal, .string("done"))])

  private func pin(_ query: Query) -> Retention { Retention(query.target, .pinned, since: now) }

  /// Rooms of two states, which belong to no target.
  private func fill(_ store: inout LocalStore) throws {
    _ = try store.apply(
      event(
        at: 5,
        (0..<20).map { doc("rooms/\($0)", at: 5, ["state": .string($0 < 5 ? "done" : "open")]) }))
  }

  private func rooms(_ store: borrowing LocalStore) throws -> Int {
    try store.execute(collection("rooms"), usingPreviousResults: false).matches.count
  }

  private func collectAll(_ store: inout LocalStore) throws {
    _ = try store.collectGarbage(thresholdBytes: 0, percentile: 100, maximumSequenceNumbers: 1000)
  }

  @Test(
    "Pins and lifetimes are listed in creation order, at most one of each per query",
    arguments: Storage.allCases)
  func stored(_ storage: Storage) throws {
    var store = try Place(storage).open()
    let hour = Retention(Self.done.target, .lifetime(.seconds(3_600)), since: now)
    try store.set(pin(Self.done))
    try store.set(hour)
    try store.set(pin(collection("halls")))
    #expect(try store.retentions() == [pin(Self.done), hour, pin(collection("halls"))])

    let day = Retention(Self.done.target, .lifetime(.seconds(86_400)), since: now + .seconds(9))
    try store.set(day)
    #expect(try store.retentions() == [pin(Self.done), pin(collection("halls")), day])
    let isGone = [try store.remove(hour), try store.remove(hour), try store.remove(pin(Self.done))]
    #expect(isGone == [true, false, true])
    #expect(try store.retentions() == [pin(collection("halls"))])
    try close(store)
  }

  @Test("Pins and lifetimes survive a restart without any listener")
  func restart() throws {
    let place = Place(.durable)
    var store = try place.open()
    try fill(&store)
    try store.set(pin(Self.done))
    try store.set(Retention(collection("halls").target, .lifetime(.milliseconds(1_500)), since: now))
    try close(store)

    store = try place.open()
    #expect(try store.retentions().map(\.kind) == [.pinned, .lifetime(.milliseconds(1_500))])
    try collectAll(&store)
    #expect(try rooms(store) == 5)
    let isGone = try store.remove(pin(Self.done))
    #expect(isGone)
    try collectAll(&store)
    #expect(try rooms(store) == 0)
    try close(store)
  }

  @Test("A pinned result keeps its resume token after its listener stops")
  func target() throws {
    var store = try Place(.memory).open()
    for query in [Self.done, collection("halls")] {
      let id = try store.allocateTarget(query.target).id
      let documents = [doc("\(query.path.text)/a", at: 5, ["state": .string("done")])]
      _ = try store.apply(event(at: 5, documents, addedTo: id, token: token("t")))
      try store.releaseTarget(id)
    }
    try store.set(pin(Self.done))
    try collectAll(&store)
    #expect(try store.targetData(for: Self.done.target)?.resumeToken == token("t"))
    #expect(try store.targetData(for: collection("halls").target) == nil)
    try close(store)
  }

  @Test("Manual eviction keeps pinned documents, queries and groups until unpinned")
  func eviction() throws {
    var store = try Place(.memory).open()
    try fill(&store)
    _ = try store.apply(event(at: 6, [doc("a/b/desks/c", at: 6), doc("rooms/gone", at: 6, nil)]))
    let pins = [
      pin(Self.done), pin(Query(path: ResourcePath("rooms/19"))), pin(Query(path: ResourcePath("rooms/gone"))),
      pin(Query(path: .root, collectionGroup: "desks")),
    ]
    for pin in pins { try store.set(pin) }

    let first = try evict("rooms", from: &store)
    let desks = try evict("a/b/desks", from: &store)
    #expect(first.removed == 14 && first.listened == 7 && first.tombstones == 0 && desks.listened == 1)
    #expect(try store.remoteDocument(key("rooms/gone")) != nil)

    for pin in pins { _ = try store.remove(pin) }
    let second = try evict("rooms", from: &store)
    #expect(second.removed == 6 && second.listened == 0 && second.tombstones == 1)
    try close(store)
  }

  @Test("An eager cache keeps pinned documents and evicts them when unpinned")
  func eager() throws {
    var store = try Place(.memory).open(.eager)
    try store.set(pin(Self.done))
    let id = try store.allocateTarget(collection("rooms").target).id
    let documents = ["done", "open"].map { doc("rooms/\($0)", at: 5, ["state": .string($0)]) }
    _ = try store.apply(event(at: 5, documents, addedTo: id, token: token("t")))
    try store.releaseTarget(id)
    #expect(try store.remoteDocument(key("rooms/done")) != nil && store.remoteDocument(key("rooms/open")) == nil)
    let isGone = try store.remove(pin(Self.done))
    #expect(try isGone && store.remoteDocument(key("rooms/done")) == nil)
    try close(store)
  }

  @Test("Evicting a query evicts only its matches, in slices")
  func query() throws {
    var store = try Place(.memory).open()
    _ = try store.apply(
      event(
        at: 5,
        (0..<1_000).map { doc("rooms/\($0)", at: 5, ["state": .string($0 % 500 == 7 ? "done" : "open")]) }
          + [doc("rooms/gone", at: 5, nil)]))
    var eviction = Eviction(of: ResourcePath("rooms"), .documents(matching: Self.done.target))
    var slices = 0
    while !eviction.isFinished {
      try store.continueEviction(&eviction)
      slices += 1
    }
    #expect(eviction.removed == 2 && eviction.tombstones == 0 && slices == 3)
    #expect(try rooms(store) == 998)
    #expect(try store.remoteDocument(key("rooms/gone")) != nil)
    try close(store)
  }

  @Test("Tombstones are evicted by age, unless a listener uses them")
  func tombstones() throws {
    var store = try Place(.memory).open()
    _ = try store.apply(
      event(at: 5, [doc("rooms/a", at: 5), doc("rooms/old", at: 5, nil), doc("rooms/watched", at: 5, nil)]))
    _ = try store.apply(event(at: 30, [doc("rooms/new", at: 30, nil)]))
    _ = try store.allocateTarget(Query(path: ResourcePath("rooms/watched")).target)
    _ = try store.write([set("rooms/waits")], at: now)
    _ = try store.apply(event(at: 5, [doc("rooms/waits", at: 5, nil)]))

    let some = try evict("rooms", .tombstones, since: 20, from: &store)
    #expect(some.removed == 0 && some.tombstones == 1 && some.listened == 1)
    let all = try evict("rooms", .tombstones, from: &store)
    #expect(all.removed == 0 && all.tombstones == 1 && all.listened == 1 && all.modified == 1)
    #expect(try store.remoteDocument(key("rooms/a")) != nil && store.remoteDocument(key("rooms/watched")) != nil)
    let one = try evict("rooms/a", .tombstones, from: &store)
    #expect(one.removed == 0 && one.tombstones == 0)
    try close(store)
  }

  @Test("A pin or lifetime changed on disk is damage, and the number of pins is limited")
  func bounds() throws {
    var store = try Place(.memory).open()
    for number in 0..<RetentionTable.most { try store.set(pin(collection("c\(number)"))) }
    var refusal: StoreError?
    do throws(StoreError) { try store.set(pin(collection("more"))) } catch let error { refusal = error }
    #expect(refusal?.kind == .refused(.resourceExhausted))
    // One in place of another is no more.
    try store.set(pin(collection("c0")))
    #expect(try store.retentions().count == RetentionTable.most)

    try store.database.connection.execute("UPDATE retentions SET lifetime = 5 WHERE id = 3")
    store.database.retentions.forget()
    var damage: StoreError?
    do throws(StoreError) { _ = try store.retentions() } catch let error { damage = error }
    #expect(damage?.kind == .corrupt)
    store.close()
  }

  private func evict(
    _ path: String, _ subject: Eviction.Subject = .everything, since time: Int64? = nil, from store: inout LocalStore
  ) throws -> Eviction {
    var eviction = Eviction(of: ResourcePath(path), subject, unconfirmedSince: time.map(version))
    while !eviction.isFinished { try store.continueEviction(&eviction) }
    return eviction
  }
}
