// SPDX-License-Identifier: Apache-2.0
import FirestoreLocal
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
import FirestoreSQLite
import FirestoreTesting
import Testing

@Suite("Eager garbage collection")
struct EagerGarbageCollectionTests {
  private func open() throws -> LocalStore { try Place(.memory).open(.eager) }

  private func isCached(_ path: String, _ store: borrowing LocalStore) throws -> Bool {
    try store.remoteDocument(key(path)) != nil
  }

  @Test("Releasing a target removes the documents that only it contained")
  func release() throws {
    var store = try open()
    let rooms = try store.allocateTarget(collection("rooms").target).id
    let single = try store.allocateTarget(collection("rooms/shared").target).id
    _ = try store.apply(event(at: 1, [doc("rooms/a", at: 1), doc("rooms/shared", at: 1)], addedTo: rooms))
    _ = try store.apply(event(at: 2, [doc("rooms/shared", at: 2)], addedTo: single))
    _ = try store.apply(event(at: 3, [doc("rooms/written", at: 3)], addedTo: rooms))
    _ = try store.write([patch("rooms/written", ["x": .integer(1)])], at: now)

    try store.releaseTarget(rooms)

    #expect(try isCached("rooms/a", store) == false)
    #expect(try isCached("rooms/shared", store))
    #expect(try isCached("rooms/written", store))
  }

  @Test("A document is evicted with its last target unless a view or lookup uses it")
  func membership() throws {
    var store = try open()
    let id = try store.allocateTarget(collection("rooms").target).id
    let paths = ["rooms/plain", "rooms/shown", "rooms/limbo"]
    _ = try store.apply(event(at: 1, paths.map { doc($0, at: 1) }, addedTo: id))
    try store.notifyLocalViewChanges(
      [LocalViewChanges(targetID: id, isFromCache: true, added: [key("rooms/shown")], removed: [])])
    store.addLimboReference(key("rooms/limbo"), TargetID(1))

    var removal = event(at: 2)
    removal.targetChanges[id] = TargetChange(removed: Set(paths.map(key)))
    _ = try store.apply(removal)
    let afterRemoval = try paths.map { try isCached($0, store) }
    store.removeLimboReferences(TargetID(1))
    try store.notifyLocalViewChanges(
      [LocalViewChanges(targetID: id, isFromCache: true, added: [], removed: [key("rooms/shown")])])
    let afterwards = try paths.map { try isCached($0, store) }

    #expect(afterRemoval == [false, true, true])
    #expect(afterwards == [false, false, false])
  }

  @Test("A document in a view is kept even if recording the view failed")
  func failedNote() throws {
    var store = try open()
    let id = try store.allocateTarget(collection("rooms").target).id
    let batch = try store.write([set("rooms/a", [:])], at: now).batchID
    store.faults = [.notifyLocalViewChanges]
    let shown = LocalViewChanges(targetID: id, isFromCache: true, added: [key("rooms/a")], removed: [])
    #expect(throws: StoreError.self) { try store.notifyLocalViewChanges([shown]) }

    _ = try store.acknowledge(batch, commit(at: 1))

    #expect(try isCached("rooms/a", store))
  }

  @Test("An acknowledged document outside every target is evicted")
  func acknowledged() throws {
    var store = try open()
    let first = try store.write([set("rooms/a", [:])], at: now).batchID
    let second = try store.write([set("rooms/a", ["x": .integer(1)])], at: now).batchID

    let changes = try store.acknowledge(first, commit(at: 1))
    let whilePending = try isCached("rooms/a", store)
    _ = try store.acknowledge(second, commit(at: 2))

    #expect(changes[key("rooms/a")]?.hasLocalMutations == true)
    #expect(whilePending)
    #expect(try isCached("rooms/a", store) == false)
  }

  @Test("A resolved limbo document without references is evicted")
  func resolvedLimbo() throws {
    var store = try open()
    var resolution = event(at: 1, [doc("rooms/a", at: 1), doc("rooms/b", at: 1)])
    resolution.resolvedLimboDocuments = [key("rooms/a")]

    let changes = try store.apply(resolution)

    #expect(changes.count == 2)
    #expect(try isCached("rooms/a", store) == false)
    #expect(try isCached("rooms/b", store))
  }

  @Test("Least-recently-used garbage collection does nothing in an eager cache")
  func noLRU() throws {
    var store = try open()

    let result = try store.collectGarbage(thresholdBytes: 0, percentile: 100, maximumSequenceNumbers: 1000)

    #expect(result == .skipped)
  }
}
