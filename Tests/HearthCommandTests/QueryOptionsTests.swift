// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import FirestoreBackend
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
import FirestoreTesting
import FirestoreText
import Testing

@testable import CommandOptions
@testable import CommandOutput
@testable import CommandTransfer
@testable import DashboardHost
@testable import HearthCommand

@Suite struct QueryOptionsTests {
  private func query(_ arguments: String...) throws -> Query {
    try QueriedPath.parse(arguments).query(in: database)
  }

  @Test("A cursor has values of the order's fields, a document id, or values and an id")
  func cursors() throws {
    let ordered = try query(
      "cities", "--order", "state", "--order", "n:desc", "--start-at", "CA", "--end-before", "[NY, 5, x1]")
    #expect(ordered.start == Bound(values: [.string("CA")], isInclusive: true))
    let x1 = Value.reference(database, DocumentKey(unchecked: ResourcePath("cities/x1")))
    #expect(ordered.end == Bound(values: [.string("NY"), .integer(5), x1], isInclusive: false))
    #expect(try query("cities", "--start-after", "x1").start == Bound(values: [x1], isInclusive: false))
    #expect(try query("cities", "--collection-group", "--end-at", "cities/x1").end?.values == [x1])
  }

  @Test(
    "Options that conflict with each other or the path are rejected and named",
    arguments: [
      (["c", "--limit", "1", "--limit-to-last", "1", "--order", "a"], "--limit-to-last"),
      (["c", "--limit-to-last", "1"], "--order"), (["c", "--start-at", "1", "--start-after", "2"], "--start-after"),
      (["c", "--start-at", "[a, b]"], "only by __name__"), (["c", "--start-at", "[]"], "--start-at"),
      (["c/d", "--start-at", "1"], "Cursors"), (["c", "--limit", "2147483648"], "2147483647"),
      (["c", "--order", "n", "--end-at", "2026-01-01"], "timestamp:2026-01-01"),
      (["c", "--where", "a in [b] or c not in [d]"], "not-in"),
    ])
  func contradictions(arguments: [String], mentions: String) throws {
    let options = try QueriedPath.parse(arguments)
    #expect { try options.query(in: database) } throws: { error in
      guard let failure = error as? CommandFailure else { return false }
      return failure.status == .usage && failure.message.contains(mentions)
    }
  }

  @Test("--select keeps maps with selected fields and ignores missing fields")
  func selection() throws {
    let selection = try FieldSelection(parsing: "name, a.b,`x,y`")
    #expect(selection.paths == [FieldPath("name"), FieldPath(segments: ["a", "b"]), FieldPath("x,y")])
    let fields: Fields = ["a": .map(["b": .integer(1), "c": .integer(2)]), "x,y": .null, "z": .null]
    #expect(selection.fields(of: fields).entries.map(\.name) == ["a", "x,y"])
    #expect(selection.fields(of: fields)[FieldPath(segments: ["a", "c"])] == nil)
    #expect { try FieldSelection(parsing: "a,,b") } throws: { ($0 as? TextError)?.column == 3 }
    #expect { try FieldSelection(parsing: "a, b c") } throws: { ($0 as? TextError)?.column == 5 }
  }
}

@Suite struct DocumentPagesTests {
  /// `c/0` to `c/9`, whose `n` is the number, and `twice` half of it.
  private func ids(
    order: [OrderBy] = [], limit: Int? = nil, type: Query.LimitType = .first, start: Bound? = nil, dropping: Int = 0
  ) async throws -> [String] {
    let backend = try LocalBackend(BackendConfiguration(location: .memory, now: { Timestamp(seconds: 1_700_000_000) }))
    let datastore = InProcessDatastore(backend: backend, database: database)
    let writes = (0..<10).map { number in
      Mutation(
        key: DocumentKey(unchecked: ResourcePath("c/\(number)")),
        operation: .set(["n": .integer(Int64(number)), "half": .integer(Int64(number / 2))]))
    }
    _ = try await datastore.commit(writes)
    let query = Query(path: ResourcePath("c"), explicitOrderBy: order, limit: limit, limitType: type, start: start)
    var pages = DocumentPages(of: query, at: datastore, database)
    try await pages.drop(dropping)
    var ids: [String] = []
    while let page = try await pages.next() { ids += page.map(\.key.documentID) }
    return ids
  }

  @Test("An offset counts from the cursor, in query order, before the limit applies")
  func offset() async throws {
    #expect(try await ids(limit: 3, dropping: 2) == ["2", "3", "4"])
    let half = [OrderBy(FieldPath("half"), .descending)]
    #expect(try await ids(order: half, limit: 2, dropping: 3) == ["6", "5"])
    let start = Bound(values: [.integer(2)], isInclusive: false)
    #expect(try await ids(order: half, start: start, dropping: 1) == ["2", "1", "0"])
    #expect(try await ids(dropping: 10) == [])
  }

  @Test("The last documents of an order are returned in that order")
  func limitToLast() async throws {
    let half = [OrderBy(FieldPath("half"))]
    #expect(try await ids(order: half, limit: 3, type: .last) == ["7", "8", "9"])
    let start = Bound(values: [.integer(4)], isInclusive: true)
    #expect(try await ids(order: half, limit: 3, type: .last, start: start) == ["8", "9"])
  }
}
