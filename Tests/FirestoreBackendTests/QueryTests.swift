// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreQuery
import FirestoreTesting
import Testing

@testable import FirestoreBackend

@Suite struct QueryTests {
  private func backend(_ paths: [String], _ fields: (Int) -> Fields = { ["n": .integer(Int64($0))] }) async throws
    -> LocalBackend
  {
    let backend = try makeBackend()
    try await backend.commit(paths.enumerated().map { set($1, fields($0)) }, in: database)
    return backend
  }

  @Test("Documents are in key order: numeric ids first by number, then UTF-8 order")
  func keyOrder() async throws {
    let ordered = [
      "c/__id-9__", "c/__id3__", "c/__id20__", "c/", "c/-", "c/0", "c/A", "c/Z", "c/a", "c/a!", "c/aa", "c/z",
      "c/\u{FFEE}", "c/😀",
    ].filter { $0 != "c/" }
    let backend = try await backend(ordered.shuffled())

    #expect(try await backend.paths(query("c")) == ordered)
    let descending = query("c", orderBy: [OrderBy(.documentID, .descending)])
    #expect(try await backend.paths(descending) == ordered.reversed())
  }

  @Test("Pages by document id have no gap or overlap in either direction")
  func paging() async throws {
    let ids = (0..<25).map { "c/d\($0 + 10)" }
    let backend = try await backend(ids)
    for direction in [OrderBy.Direction.ascending, .descending] {
      var collected: [String] = []
      while true {
        let start = collected.last.map { Bound(values: [name($0)], isInclusive: false) }
        let order = [OrderBy(.documentID, direction)]
        let page = try await backend.paths(query("c", orderBy: order, limit: 4, start: start))
        if page.isEmpty { break }
        collected += page
      }
      #expect(collected == (direction == .ascending ? ids : ids.reversed()))
    }
  }

  @Test("A range or list of document ids returns the matching documents")
  func nameRange() async throws {
    let backend = try await backend(["c/a", "c/b", "c/c", "c/d"])
    let bounds = [field("__name__", .greaterThan, name("c/a")), field("__name__", .lessThanOrEqual, name("c/c"))]
    let range = query("c", bounds)
    #expect(try await backend.paths(range) == ["c/b", "c/c"])
    #expect(try await backend.paths(query("c", [field("__name__", .equal, name("c/b"))])) == ["c/b"])
    let some = query("c", [field("__name__", .in, [name("c/d"), name("c/x"), name("c/a")])])
    #expect(try await backend.paths(some) == ["c/a", "c/d"])
  }

  @Test("A filter with a limit returns the first matches in key order")
  func filterWithLimit() async throws {
    let target = query("c", [field("odd", .equal, true)], limit: 3)
    let backend = try await backend((100..<200).map { "c/\($0)" }) { ["odd": .boolean($0 % 2 == 1)] }
    #expect(try await backend.paths(target) == ["c/101", "c/103", "c/105"])
  }

  @Test("Ordering by a field sorts by value and key, omitting documents without the field")
  func ordering() async throws {
    let backend = try makeBackend()
    try await backend.commit(
      set("c/a", ["n": 3]), set("c/b", ["n": 1]), set("c/c", ["n": "text"]), set("c/d", ["n": 1.0]), set("c/e", [:]))
    let byValue = [OrderBy(FieldPath("n"), .descending)]
    #expect(try await backend.paths(query("c", orderBy: byValue)) == ["c/c", "c/a", "c/d", "c/b"])
    #expect(try await backend.paths(query("c", orderBy: byValue, limit: 2)) == ["c/c", "c/a"])
    #expect(try await backend.paths(query("c", [field("n", .equal, 1)])) == ["c/b", "c/d"])
  }

  @Test("References sort and compare like document names: numeric ids first, by number")
  func references() async throws {
    let ids = ["__id-9223372036854775808__", "__id7__", "__id10__", "\u{1}", "_", "a"]
    let backend = try await backend(["c/2", "c/1", "c/0", "c/5", "c/4", "c/3"]) { place in
      ["r": .reference(database, key("x/" + ids[[2, 1, 0, 5, 4, 3][place]]))]
    }
    let after = [field("r", .greaterThan, name("x/__id7__"))]
    let byReference = [OrderBy(FieldPath("r"))]
    let start = Bound(values: [name("x/__id10__")], isInclusive: true)

    #expect(try await backend.paths(query("c", orderBy: byReference)) == (0...5).map { "c/\($0)" })
    #expect(try await backend.paths(query("c", after)) == ["c/2", "c/3", "c/4", "c/5"])
    #expect(try await backend.paths(query("c", orderBy: byReference, limit: 2)) == ["c/0", "c/1"])
    #expect(try await backend.paths(query("c", orderBy: byReference, limit: 2, start: start)) == ["c/2", "c/3"])
  }

  @Test("A collection group covers all depths below its ancestor, in path order")
  func groups() async throws {
    let inside = ["a/1/m/x", "a/1/m/x/m/y", "a/1/m/z", "a/2/m/b", "m/q"]
    let backend = try await backend(inside + ["a/1", "a/1/mm/x", "b/1/n/m"])
    #expect(try await backend.paths(group("m")) == inside)
    #expect(try await backend.paths(group("m", limit: 3)) == Array(inside.prefix(3)))
    #expect(try await backend.paths(group("m", below: "a/1")) == Array(inside.prefix(3)))
    let start = Bound(values: [name("a/1/m/x/m/y")], isInclusive: false)
    #expect(try await backend.paths(group("m", limit: 2, start: start)) == ["a/1/m/z", "a/2/m/b"])
  }

  @Test("Each collection id is listed once, even if it has only nested documents")
  func collectionIDs() async throws {
    let backend = try await backend(["a/1", "a-b/1", "a/2/s/1", "z/missing/t/1", "gone/1"])
    try await backend.commit(delete("gone/1"))
    #expect(try await backend.collectionIDs(below: .root, in: database) == ["a", "a-b", "z"])
    #expect(try await backend.collectionIDs(below: ResourcePath("a/2"), in: database) == ["s"])
    #expect(try await backend.collectionIDs(below: ResourcePath("z/missing"), in: database) == ["t"])
    #expect(try await backend.collectionIDs(below: ResourcePath("a/1"), in: database) == [])
  }

  @Test("A lookup returns documents in request order and reports missing ones")
  func lookup() async throws {
    let backend = try await backend(["c/a", "c/b"])
    let documents = try await backend.lookup([key("c/b"), key("c/x"), key("c/a")], in: database).documents
    #expect(documents.map(\.path) == ["c/b", "c/x", "c/a"])
    #expect(documents.map(\.exists) == [true, false, true])
    #expect(documents[1].version == documents[0].version)
  }

  private func figures(
    _ backend: LocalBackend, _ target: Target, _ functions: Aggregation.Function...
  ) async throws -> [Value?] {
    let aggregations = functions.enumerated().map { Aggregation(alias: "f\($0)", function: $1) }
    let result = try await backend.aggregate(ReadRequest(ServedQuery(target), in: database), aggregations).values
    return aggregations.map { result[$0.alias] }
  }

  @Test("Counts reflect writes, filters and limits")
  func count() async throws {
    let backend = try await backend(["c/a", "c/b", "c/c", "x/1/c/d"])
    try await backend.commit(delete("c/a"), set("c/e", ["n": 9]), set("c/b", ["n": 1]))
    #expect(try await figures(backend, query("c"), .count) == [3])
    #expect(try await figures(backend, query("c", limit: 2), .count) == [2])
    #expect(try await figures(backend, query("c", [field("n", .greaterThan, 1)]), .count) == [2])
    #expect(try await figures(backend, group("c"), .count) == [4])
    #expect(try await figures(backend, query("none"), .count) == [0])
  }

  @Test("Sums are exact integers if they fit in 64 bits, and averages are doubles")
  func sums() async throws {
    let n = FieldPath("n")
    let backend = try makeBackend()
    #expect(try await figures(backend, query("c"), .sum(n), .average(n)) == [0, .null])
    try await backend.commit(set("c/a", ["n": 2]), set("c/b", ["n": 3]), set("c/c", [:]), set("c/d", ["n": "text"]))
    #expect(try await figures(backend, query("c"), .sum(n), .average(n), .count) == [5, 2.5, 3])
    try await backend.commit(set("c/e", ["n": 0.5]))
    #expect(try await figures(backend, query("c"), .sum(n)) == [5.5])
    #expect(try await figures(backend, query("c", limit: 2), .sum(n), .count) == [2.5, 2])
    try await backend.commit(set("d/a", ["n": .integer(.max)]), set("d/b", ["n": .integer(.max)]))
    #expect(try await figures(backend, query("d"), .sum(n)) == [.double(Double(Int64.max) * 2)])
    try await backend.commit(set("d/c", ["n": .integer(.min)]), set("d/d", ["n": .integer(.min)]))
    #expect(try await figures(backend, query("d"), .sum(n)) == [-2])
  }

  @Test("A sum uses the query's order and cursor, and skips documents without the field")
  func boundedSum() async throws {
    let backend = try makeBackend()
    try await backend.commit(set("c/a", ["n": 1]), set("c/b", [:]), set("c/d", ["n": 5]), set("c/e", ["n": 2]))
    let start = Bound(values: [name("c/a")], isInclusive: true)
    let target = query("c", orderBy: [OrderBy(.documentID)], limit: 2, start: start)
    #expect(try await figures(backend, target, .sum(FieldPath("n")), .count) == [6, 2])
  }

  @Test("Canonically equivalent aggregate aliases are rejected as duplicates")
  func aliases() async throws {
    let backend = try makeBackend()
    let twice = ["\u{e9}", "e\u{301}"].map { Aggregation(alias: $0, function: .count) }
    let error = await #expect(throws: RPCStatus.self) {
      try await backend.aggregate(ReadRequest(ServedQuery(query("c")), in: database), twice).values
    }
    #expect(error?.code == .invalidArgument)
  }

  @Test("Deleting everything empties one database, and versions keep increasing")
  func deleteAll() async throws {
    let backend = try await backend(["c/a", "d/b"])
    let other = DatabaseID(project: "q")
    try await backend.commit([set("c/a", [:])], in: other)
    let before = try await backend.readTime(of: database)

    try await backend.deleteAllDocuments(in: database)

    #expect(try await backend.collectionIDs(below: .root, in: database) == [])
    #expect(try await backend.readTime(of: database) > before)
    #expect(try await backend.lookup([key("c/a")], in: other).documents[0].exists)
    #expect(try await figures(backend, query("c"), .count) == [0])
  }

  @Test("Seeding stores, replaces and counts documents")
  func seed() async throws {
    let backend = try await backend(["c/d1"])
    try await backend.seed(
      (0..<200).map { (key: key("c/d\($0 % 150)"), fields: ["n": .integer(Int64($0))] as Fields) }, in: database)
    #expect(try await figures(backend, query("c"), .count) == [150])
    #expect(try await backend.read("c/d1")["n"] == 151)
  }
}
