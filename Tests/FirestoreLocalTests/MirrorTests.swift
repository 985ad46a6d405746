// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreQuery
import FirestoreSQLite
import FirestoreTesting
import Testing

@testable import FirestoreLocal

/// Scans of a memory cache read columns of the fields that conditions are about. Here are more documents than one block
/// of a scan has and more fields than there are columns; small collections of all kinds of values are asked in
/// `QueryOracleTests` and `IndexOracleTests`.
@Suite("In-memory cache scans")
struct MirrorTests {
  private static let count = TestSize.count(4_200, full: 9_000)
  private static let fieldCount = 10

  /// Numbers from 0 to 96 in another order for each field, and texts that begin alike.
  private static func fields(_ number: Int) -> Fields {
    var fields = Fields()
    for field in 0..<fieldCount { fields["f\(field)"] = .integer(Int64(number * (2 * field + 3) % 97)) }
    fields["text"] = .string("the same beginning, and then \(number % 61)")
    if number % 5 > 0 { fields["some"] = .double(Double(number % 13)) }
    return fields
  }

  private static let queries: [Query] = {
    let text = field("text", .equal, .string("the same beginning, and then 7"))
    var queries = (0..<fieldCount).map { number in
      collection(
        "rooms",
        [
          field("f\(number)", .lessThan, .integer(4)),
          field("f\((number + 1) % fieldCount)", .greaterThanOrEqual, .double(50)),
        ])
    }
    queries.append(collection("rooms", [text]))
    for direction in [OrderBy.Direction.ascending, .descending] {
      var ordered = collection("rooms")
      ordered.explicitOrderBy = [OrderBy(FieldPath("f2"), direction), OrderBy(FieldPath("some"), direction)]
      ordered.limit = 70
      queries.append(ordered)
      var filtered = collection("rooms", [text])
      filtered.explicitOrderBy = [OrderBy(FieldPath("some"), direction)]
      filtered.limit = 9
      queries.append(filtered)
    }
    return queries
  }()

  private static func answer(_ query: Query, _ store: borrowing LocalStore) throws -> [Document] {
    let found = try store.execute(query, usingPreviousResults: false).matches
    return first(of: query, in: found)
  }

  private static func first(of query: Query, in documents: [Document]) -> [Document] {
    let sorted = documents.filter { query.matches($0) }.sorted { query.compare($0, $1) == .ascending }
    return Array(sorted.prefix(query.limit ?? .max))
  }

  @Test("An in-memory scan finds the same as comparing every document, even after changes")
  func answers() throws {
    let place = Place(.memory)
    var store = try place.open()
    var documents = (0..<Self.count).map { doc("rooms/r\($0)", at: 1, Self.fields($0)) }
    _ = try store.apply(event(at: 1, documents))
    for query in TestSize.share(3, of: Self.queries, from: 0) {
      let found = try Self.answer(query, store)
      #expect(found == Self.first(of: query, in: documents), "\(query.canonicalID)")
    }

    // Some change, some go, and some come.
    let changed = stride(from: 0, to: Self.count, by: 11).map { number in
      doc("rooms/r\(number)", at: 2, number % 3 == 0 ? nil : Self.fields(number + 1))
    }
    let new = (0..<40).map { doc("rooms/new\($0)", at: 2, Self.fields($0)) }
    _ = try store.apply(event(at: 2, changed + new))
    for (index, number) in stride(from: 0, to: Self.count, by: 11).enumerated() { documents[number] = changed[index] }
    documents += new
    for query in TestSize.share(3, of: Self.queries, from: 1) {
      let found = try Self.answer(query, store)
      #expect(found == Self.first(of: query, in: documents), "\(query.canonicalID)")
    }
  }

  @Test("A change that is rolled back is not visible to in-memory scans")
  func rollback() throws {
    let place = Place(.memory)
    var store = try place.open()
    let documents = (0..<20).map { doc("rooms/r\($0)", at: 1, Self.fields($0)) }
    _ = try store.apply(event(at: 1, documents))
    let query = collection("rooms", [field("f0", .greaterThan, .integer(20))])
    let before = try Self.answer(query, store)

    let target = try store.allocateTarget(query.target).id
    try store.database.connection.execute(
      "CREATE TEMP TRIGGER refuse BEFORE INSERT ON main.targets BEGIN SELECT RAISE(ABORT, 'refused'); END")
    let change = documents.map { doc($0.key.path.text, at: 2, ["f0": .integer(0)]) }
    var failure: StoreError?
    do { _ = try store.apply(event(at: 2, change, addedTo: target, token: token("two"))) } catch { failure = error }

    #expect(failure != nil)
    let after = try Self.answer(query, store)
    #expect(!before.isEmpty && after == before)
  }
}
