// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
import FirestoreSQLite
import FirestoreTesting
import Foundation
import Testing

@testable import FirestoreLocal

private func index(_ fields: FieldIndex.Field..., on group: String = "cities") throws -> FieldIndex {
  try FieldIndex(collectionGroup: group, fields: fields)
}

private func ascending(_ name: String) -> FieldIndex.Field { FieldIndex.Field(FieldPath(name)) }
private func descending(_ name: String) -> FieldIndex.Field { FieldIndex.Field(FieldPath(name), .descending) }

/// Cities in 50 states, of growing population.
private func cities(_ range: Range<Int>, at time: Int64 = 1) -> RemoteEvent {
  event(
    at: time,
    range.map { number in
      let tags: [Value] = [.integer(Int64(number % 3)), .integer(Int64(number % 5))]
      return doc(
        "cities/c\(number)", at: time,
        [
          "state": .string("s\(number % 50)"), "population": .integer(Int64(number * 7919 % 10007)),
          "tags": .array(tags),
        ])
    })
}

private func ordered(by name: String, _ direction: OrderBy.Direction, limit: Int, _ filters: [Filter] = []) -> Query {
  Query(
    path: ResourcePath("cities"), filters: filters, explicitOrderBy: [OrderBy(FieldPath(name), direction)],
    limit: limit)
}

@Suite("Local indexes")
struct IndexTests {
  private let someState = collection("cities", [field("state", .equal, .string("s7"))])

  private func execute(_ query: Query, _ store: borrowing LocalStore) throws -> QueryResult {
    try store.execute(query, usingPreviousResults: false)
  }

  private func slices(_ store: inout LocalStore) throws -> Int {
    var count = 1
    while try store.backfillIndexes() { count += 1 }
    return count
  }

  @Test("A complete index is used and finds only the matching documents")
  func backfill() throws {
    var store = try Place(.memory).open()
    store.backfillPacer = .pieces(10)
    _ = try store.apply(cities(0..<2400))
    try store.setIndexes([try index(ascending("state"))])
    let before = try execute(someState, store)
    let hasMore = try store.backfillIndexes()
    let state = try #require(try store.indexes().first)
    let during = try execute(someState, store)
    let slices = try slices(&store)
    let after = try execute(someState, store)

    #expect(hasMore)
    #expect(state.backfill == IndexProgress(documentsIndexed: 500, documentsTotal: 2400))
    #expect(slices == 4)
    #expect([before.plan, during.plan, after.plan] == [.scan, .scan, .index])
    #expect(before.documentsScanned == 2400)
    #expect(after.documentsScanned == 48)
    #expect(after.documents == before.documents)
    #expect(after.indexes.map(\.servedFilters) == [[FieldFilter(FieldPath("state"), .equal, .string("s7"))]])
  }

  @Test("Documents stored after an index definition are indexed immediately")
  func writeTime() throws {
    var store = try Place(.memory).open()
    try store.setIndexes([try index(ascending("state"))])
    _ = try store.apply(cities(0..<500))
    let result = try execute(someState, store)

    #expect(result.plan == .index)
    #expect(result.documents.count == 10)
    let needsBackfill = try store.needsIndexBackfill
    #expect(!needsBackfill)
  }

  @Test("An order with a limit reads only as many documents as the limit", arguments: [false, true])
  func limit(_ isReversed: Bool) throws {
    var store = try Place(.memory).open()
    try store.setIndexes([try index(ascending("population"))])
    _ = try store.apply(cities(0..<2000))
    let query = ordered(by: "population", isReversed ? .descending : .ascending, limit: 50)
    let result = try execute(query, store)

    #expect(result.plan == .index)
    #expect(result.documentsScanned == 50)
    #expect(result.indexes.map(\.servesOrder) == [true])
    let all = (0..<2000).map { $0 * 7919 % 10007 }.sorted()
    let wanted = isReversed ? all.suffix(50) : all.prefix(50)
    let found = result.documents.values.compactMap { document -> Int? in
      guard case .integer(let number)? = document[FieldPath("population")] else { return nil }
      return Int(number)
    }
    #expect(found.sorted() == Array(wanted))
  }

  @Test("A filter and an order share one index, and a cursor starts inside that index")
  func composite() throws {
    var store = try Place(.memory).open()
    try store.setIndexes([try index(ascending("state"), descending("population"))])
    _ = try store.apply(cities(0..<2000))
    var query = ordered(by: "population", .descending, limit: 5, someState.filters)
    let first = try execute(query, store)
    let last = try #require(first.documents.values.min { query.compare($0, $1) == .descending })
    query.start = Bound(values: [try #require(last[FieldPath("population")])], isInclusive: false)
    let second = try execute(query, store)

    #expect([first.plan, second.plan] == [.index, .index])
    #expect(first.documentsScanned == 5)
    #expect(second.documentsScanned == 5)
    let keys = Set(first.documents.keys).union(second.documents.keys)
    #expect(keys.count == 10)
  }

  @Test("Indexes are intersected for AND and united for OR")
  func combined() throws {
    var store = try Place(.memory).open()
    try store.setIndexes([
      try index(ascending("state")), try index(ascending("population")),
      try index(FieldIndex.Field(FieldPath("tags"), .contains)),
    ])
    _ = try store.apply(cities(0..<3000))
    let both = try execute(
      collection("cities", [someState.filters[0], field("population", .lessThan, .integer(500))]), store)
    let either = try execute(
      collection("cities", [field("state", .in, .array([.string("s7"), .string("s8"), .string("none")]))]), store)
    let member = try execute(
      collection("cities", [field("tags", .arrayContains, .integer(4)), someState.filters[0]]), store)

    #expect([both.plan, either.plan, member.plan] == [.index, .index, .index])
    #expect(both.indexes.count == 2)
    #expect(both.documentsScanned == both.documents.count)
    #expect(either.documentsScanned == 120)
    #expect(either.documents.count == 120)
    #expect(member.documents.isEmpty)
  }

  @Test("An index that would find most documents is not used")
  func unselective() throws {
    var store = try Place(.memory).open()
    try store.setIndexes([try index(ascending("population"))])
    _ = try store.apply(cities(0..<600))
    let result = try execute(collection("cities", [field("population", .greaterThan, .integer(1))]), store)

    #expect(result.plan == .scan)
    #expect(result.documents.count > 590)
  }

  @Test("An index finds documents by the values of pending writes", arguments: Storage.allCases)
  func overlay(_ storage: Storage) throws {
    let place = Place(storage)
    var store = try place.open()
    try store.setIndexes([try index(ascending("state"))])
    _ = try store.apply(cities(0..<200))
    _ = try store.write([patch("cities/c7", ["state": .string("s8")])], at: now)
    let batch = try store.write([patch("cities/c8", ["state": .string("s7")])], at: now)
    _ = try store.write([delete("cities/c57"), set("cities/new", ["state": .string("s7")])], at: now)
    let pending = try execute(someState, store)
    _ = try store.acknowledge(try #require(try store.nextBatch(after: nil)).id, commit(at: 9))
    _ = try store.reject(batch.batchID)
    let settled = try execute(someState, store)

    #expect([pending.plan, settled.plan] == [.index, .index])
    #expect(Set(pending.documents.keys.map(\.documentID)) == ["c8", "c107", "c157", "new"])
    #expect(Set(settled.documents.keys.map(\.documentID)) == ["c107", "c157", "new"])
    try close(store)
  }

  @Test("Building an index resumes after a restart")
  func restart() throws {
    let place = Place(.durable)
    var store = try place.open()
    store.backfillPacer = .pieces(10)
    _ = try store.apply(cities(0..<2400))
    try store.setIndexes([try index(ascending("state"))])
    _ = try store.backfillIndexes()
    store.close()
    store = try place.open()
    store.backfillPacer = .pieces(10)
    let state = try #require(try store.indexes().first)
    let slices = try slices(&store)
    store.close()
    store = try place.open()
    let result = try execute(someState, store)

    #expect(state.backfill?.documentsIndexed == 500)
    #expect(slices == 4)
    #expect(result.plan == .index)
    #expect(result.documents.count == 48)
    try close(store)
  }

  @Test("A new configuration keeps unchanged indexes and drops the others", arguments: Storage.allCases)
  func configuration(_ storage: Storage) throws {
    var store = try Place(storage).open()
    store.backfillPacer = .pieces(10)
    store.database.indexes.tails.maximumCount = 1
    let (state, population) = (try index(ascending("state")), try index(ascending("population")))
    try store.setIndexes([state, population])
    _ = try store.apply(cities(0..<2900))
    // Read backwards, an index is the one in the opposite order.
    try store.setIndexes([try index(descending("state")), try index(ascending("tags"))])
    let indexes = try store.indexes()
    let kept = try execute(someState, store)
    let gone = try execute(ordered(by: "population", .ascending, limit: 5), store)
    let slices = try slices(&store)
    let violations = try store.checkInvariants()

    #expect(indexes.map(\.definition) == [state, try index(ascending("tags"))])
    #expect(indexes.map { $0.backfill == nil } == [true, false])
    #expect([kept.plan, gone.plan] == [.index, .scan])
    // 2 900 entries to remove, in pieces of 250; 2 900 documents to index, in pieces of 50. A log that is written back
    // may take a slice as well.
    #expect(slices == 8 || storage == .durable && slices > 8)
    #expect(violations.isEmpty)
    try store.deleteAllIndexes()
    let rest = try store.indexes()
    #expect(rest.isEmpty)
  }

  @Test("A failed configuration change leaves indexes and documents unchanged")
  func undone() throws {
    var store = try Place(.memory).open()
    try store.setIndexes([try index(ascending("state"))])
    _ = try store.apply(cities(0..<100))
    store.faults = [.applyRemoteEvent]
    #expect(throws: StoreError.self) { _ = try store.apply(cities(100..<200, at: 2)) }
    store.faults = []
    _ = try store.apply(cities(50..<150, at: 3))
    try close(store)
  }

  @Test("A damaged index definition loses only its own index")
  func damagedDefinition() throws {
    let place = Place(.durable)
    var store = try place.open()
    _ = try store.apply(cities(0..<200))
    try store.setIndexes([try index(ascending("state")), try index(ascending("quagga"))])
    _ = try slices(&store)
    store.close()
    // The page's own checksum is intact.
    try Connection(path: PageChecksums.uri(of: place.databasePath), called: "cache").execute(
      "UPDATE index_configuration SET checksum = checksum + 1 WHERE id = (SELECT max(id) FROM index_configuration)")

    store = try place.open()
    let definitions = try store.indexes().map(\.definition)
    let result = try execute(someState, store)
    _ = try slices(&store)
    let violations = try store.checkInvariants()
    #expect(definitions == [try index(ascending("state"))])
    #expect(result.plan == .index)
    #expect(result.documents.count == 4)
    #expect(violations.isEmpty)
  }

  @Test("Evicted documents leave no index entries", arguments: Storage.allCases)
  func collected(_ storage: Storage) throws {
    var store = try Place(storage).open()
    try store.setIndexes([try index(ascending("state")), try index(FieldIndex.Field(FieldPath("tags"), .contains))])
    for round in 0..<10 {
      _ = try store.apply(cities(round * 100..<(round + 1) * 100, at: Int64(round + 1)))
    }
    let collection = try store.collectGarbage(thresholdBytes: 0, percentile: 50, maximumSequenceNumbers: 1000)
    let violations = try store.checkInvariants()
    let result = try execute(someState, store)

    #expect(collection.documentsRemoved > 0)
    #expect(violations.isEmpty)
    #expect(result.documents.count == (1000 - collection.documentsRemoved) / 50)
  }

  // MARK: Automatic indexes

  @Test("With automatic indexing, a scan that finds few matches creates an index")
  func automatic() throws {
    var store = try Place(.memory).open()
    _ = try store.apply(cities(0..<1000))
    _ = try execute(someState, store)
    let off = try store.indexes()
    store.createsIndexesAutomatically = true
    let cheap = collection("cities", [field("population", .greaterThan, .integer(1000))])
    _ = try execute(cheap, store)
    let afterCheap = try store.indexes()
    let descendingQuery = ordered(by: "population", .descending, limit: 3, someState.filters)
    let scan = try execute(descendingQuery, store)
    let made = try store.indexes()
    _ = try slices(&store)
    let indexed = try execute(descendingQuery, store)
    try store.setIndexes([])
    let kept = try store.indexes()

    #expect(off.isEmpty)
    #expect(afterCheap.isEmpty)
    #expect(made.map(\.definition) == [try index(ascending("state"), descending("population"))])
    #expect(made.map(\.isAutomatic) == [true])
    #expect([scan.plan, indexed.plan] == [.scan, .index])
    #expect(indexed.documentsScanned == 3)
    #expect(kept.count == 1)
  }

  @Test("Small collections and queries that an index cannot help create no index")
  func nothingAutomatic() throws {
    var store = try Place(.memory).open()
    store.createsIndexesAutomatically = true
    _ = try store.apply(cities(0..<99))
    _ = try execute(someState, store)
    _ = try store.apply(cities(99..<300))
    _ = try execute(collection("cities", [field("x", .notEqual, .string("s1"))]), store)
    _ = try execute(Query(path: ResourcePath("cities"), limit: 5), store)
    let made = try store.indexes()

    #expect(made.isEmpty)
  }

  // MARK: Definitions

  @Test("An invalid index definition is rejected with the reason")
  func definitions() throws {
    func reason(_ group: String, _ fields: FieldIndex.Field...) -> String? {
      do throws(ModelError) {
        _ = try FieldIndex(collectionGroup: group, fields: fields)
        return nil
      } catch {
        return error.code == .invalidArgument ? error.message : nil
      }
    }
    let array = FieldIndex.Field(FieldPath("tags"), .contains)
    let name = FieldIndex.Field(.documentID)
    #expect(reason("a/b", ascending("x"))?.contains("without slashes") == true)
    #expect(reason("", ascending("x")) != nil)
    #expect(reason("a")?.contains("no field") == true)
    #expect(reason("a", name)?.contains("no field") == true)
    #expect(reason("a", name, ascending("x"))?.contains("__name__") == true)
    #expect(reason("a", ascending("x"), descending("x"))?.contains("x twice") == true)
    #expect(reason("a", array, FieldIndex.Field(FieldPath("more"), .contains))?.contains("one array") == true)
    #expect(try FieldIndex(collectionGroup: "a", fields: [ascending("x"), name]).fields == [ascending("x")])
    let text = try index(ascending("x"), array).description
    #expect(text == "cities(x ascending, tags contains)")
  }
}
