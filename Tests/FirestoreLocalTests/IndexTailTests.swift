// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreModel
import FirestoreQuery
import FirestoreSQLite
import FirestoreTesting
import Testing

@testable import FirestoreLocal

@Suite("Index entries of recent documents")
struct IndexTailTests {
  private let definitions: [FieldIndex] = {
    let index = try? FieldIndex(collectionGroup: "rooms", fields: [FieldIndex.Field(FieldPath("n"))])
    return index.map { [$0] } ?? []
  }()

  private func rooms(_ numbers: Range<Int>) -> [Document] {
    numbers.map { doc("rooms/r\($0)", at: 1, ["n": .integer(Int64($0 * 7 % 10))]) }
  }

  private func open(_ place: Place, maximumCount: Int64) throws -> LocalStore {
    let store = try place.open()
    store.database.indexes.tails.maximumCount = maximumCount
    return store
  }

  private func entryCount(_ store: borrowing LocalStore) throws -> Int64 {
    try store.database.connection.integer("SELECT count(*) FROM index_entries") ?? 0
  }

  private func firstRooms(_ store: borrowing LocalStore, _ direction: OrderBy.Direction) throws -> [String] {
    var query = collection("rooms")
    query.explicitOrderBy = [OrderBy(FieldPath("n"), direction)]
    query.limit = 3
    let result = try store.execute(query, usingPreviousResults: false)
    #expect(result.plan == .index)
    let sorted = result.matches.sorted { query.compare($0, $1) == .ascending }
    return sorted.prefix(3).map(\.key.documentID)
  }

  @Test("Index entries are written in batches; queries find documents even before that", arguments: Storage.allCases)
  func batches(_ storage: Storage) throws {
    let place = Place(storage)
    var store = try open(place, maximumCount: 10)
    try store.setIndexes(definitions)

    _ = try store.apply(event(at: 1, rooms(0..<9)))
    let before = try entryCount(store)
    let some = collection("rooms", [field("n", .equal, .integer(4))])
    let found = try store.execute(some, usingPreviousResults: false)
    _ = try store.apply(event(at: 1, rooms(9..<14)))
    let after = try entryCount(store)
    let first = try firstRooms(store, .ascending)
    let last = try firstRooms(store, .descending)

    #expect(before == 0 && after == 10)
    #expect(found.plan == .index && found.matches.map(\.key.documentID) == ["r2"])
    #expect(first == ["r0", "r10", "r13"])
    #expect(last == ["r7", "r4", "r11"])
    try close(store)
  }

  @Test("A changed document is found by index before and after its entries are written")
  func changes() throws {
    let place = Place(.durable)
    var store = try open(place, maximumCount: 4)
    try store.setIndexes(definitions)
    _ = try store.apply(event(at: 1, rooms(0..<6)))
    _ = try firstRooms(store, .ascending)
    let changed = [doc("rooms/r1", at: 2, ["n": .integer(-1)]), doc("rooms/r5", at: 2, ["n": .integer(-2)])]
    _ = try store.apply(event(at: 2, changed + [doc("rooms/r4", at: 2, nil)]))
    let first = try firstRooms(store, .ascending)
    store.close()
    store = try open(place, maximumCount: 4)
    let again = try firstRooms(store, .ascending)

    #expect(first == ["r5", "r1", "r0"])
    #expect(again == first)
    try close(store)
  }

  @Test("An index created after a period without indexes includes all documents")
  func pause() throws {
    var store = try open(Place(.memory), maximumCount: 4)
    try store.setIndexes(definitions)
    _ = try store.apply(event(at: 1, rooms(0..<6)))
    try store.deleteAllIndexes()
    _ = try store.apply(event(at: 1, rooms(6..<20)))
    try store.setIndexes(definitions)
    while try store.backfillIndexes() {}
    let count = try entryCount(store)
    let first = try firstRooms(store, .ascending)

    #expect(count == 20)
    #expect(first == ["r0", "r10", "r13"])
    try close(store)
  }
}
