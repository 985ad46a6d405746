// SPDX-License-Identifier: Apache-2.0
import FirestoreLocal
import FirestoreModel
import FirestoreQuery
import FirestoreTesting
import Testing

@Suite("Garbage collection in a shared cache")
struct SharedCollectionTests {
  private let place = Place(.durable)

  private func open() throws -> LocalStore {
    var configuration = place.configuration()
    configuration.isShared = true
    var store = try LocalStore(configuration)
    try store.start(user: nil)
    return store
  }

  private func openPrimary() throws -> LocalStore {
    var store = try open()
    _ = try store.refreshLease(SharedClientState(usesNetwork: true, isVisible: true), wasPrimary: false, at: now)
    store.takeOver()
    return store
  }

  private func collectAll(_ store: inout LocalStore) throws -> GarbageCollectionResult {
    try store.collectGarbage(thresholdBytes: 0, percentile: 100, maximumSequenceNumbers: 1000)
  }

  @Test("Garbage collection keeps the targets and documents that other clients listen to")
  func shownElsewhere() throws {
    var primary = try openPrimary()
    var other = try open()
    let one = collection("rooms", [field("n", .equal, .integer(1))])
    let target = try other.allocateTarget(one.target, announcing: .cache).id
    let documents = [
      doc("rooms/a", at: 1), doc("rooms/b", at: 1, ["n": .integer(2)]), doc("rooms/c", at: 1, nil),
      doc("halls/a", at: 1),
    ]
    _ = try primary.apply(event(at: 1, documents))

    let first = try collectAll(&primary)

    #expect(first.documentsRemoved == 3 && first.targetsRemoved == 0)
    #expect(try other.document(key("rooms/a"))?.exists == true)
    try other.announce(nil, in: target)
    let second = try collectAll(&primary)
    #expect(second.documentsRemoved == 1 && second.targetsRemoved == 1)
    try close(other)
    try close(primary)
  }

  @Test("Garbage collection keeps all documents that match another client's limit query")
  func limited() throws {
    var primary = try openPrimary()
    var other = try open()
    var latest = collection("rooms")
    latest.limit = 1
    _ = try other.allocateTarget(latest.target, announcing: .cache)
    _ = try primary.apply(event(at: 1, [doc("rooms/a", at: 1), doc("rooms/b", at: 1), doc("halls/a", at: 1)]))

    let result = try collectAll(&primary)

    #expect(result.documentsRemoved == 1)
    try close(other)
    try close(primary)
  }

  @Test("A cache-only listener sends no request and does not affect other listeners")
  func interests() throws {
    let primary = try openPrimary()
    var other = try open()
    let rooms = collection("rooms").target

    let id = try other.allocateTarget(rooms, announcing: .cache).id
    #expect(try primary.foreignTargets() == [])
    _ = try other.allocateTarget(rooms, announcing: .backend)
    #expect(try primary.foreignTargets() == [id])
    _ = try other.allocateTarget(rooms, announcing: .cache)
    #expect(try primary.foreignTargets() == [id])
    try other.announce(.cache, in: id)
    #expect(try primary.foreignTargets() == [])

    try close(other)
    try close(primary)
  }
}
