// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreQuery
import FirestoreTesting
import Testing

@testable import FirestoreText

@Suite struct QueryLineTests {
  private static func cities(
    _ filters: [(String, Value)] = [], order: [OrderBy] = [], limit: Int? = nil
  ) -> Query {
    Query(
      path: ResourcePath("cities"), filters: filters.map { .field(FieldFilter(FieldPath($0.0), .equal, $0.1)) },
      explicitOrderBy: order, limit: limit)
  }

  @Test(
    "A query line is a collection and clauses, and a keyword ends unquoted text",
    arguments: [
      ("cities", cities()), (" cities limit 5 ", cities(limit: 5)),
      ("cities where a == New York limit 3", cities([("a", "New York")], limit: 3)),
      ("cities WHERE a = x where b = y", cities([("a", "x"), ("b", "y")])),
      (
        "cities where a == 'no limit 3' order by b desc, c",
        cities(
          [("a", "no limit 3")],
          order: [
            OrderBy(FieldPath("b"), .descending), OrderBy(FieldPath("c")),
          ])
      ),
      ("cities where a == it's limit 3", cities([("a", "it's")], limit: 3)),
      ("cities where a == limit", cities([("a", "limit")])),
      ("cities where a == limits 3", cities([("a", "limits 3")])),
      ("cities where order == 1 order order", cities([("order", 1)], order: [OrderBy(FieldPath("order"))])),
      ("cities order n:desc order m", cities(order: [OrderBy(FieldPath("n"), .descending), OrderBy(FieldPath("m"))])),
      ("cities order by `a limit 5`", cities(order: [OrderBy(FieldPath("a limit 5"))])),
      ("cities limit 2 where a == 1", cities([("a", 1)], limit: 2)),
      ("**/cities", Query(path: .root, collectionGroup: "cities")),
    ] as [(String, Query)])
  func reads(text: String, query: Query) throws {
    #expect(try QueryLine.parse(text, in: database) == query)
  }

  @Test("'last N' selects the last documents of an order")
  func last() throws {
    let query = try QueryLine.parse("cities order by n last 4", in: database)
    #expect(query.limit == 4 && query.limitType == .last)
  }

  @Test(
    "An invalid query line is rejected with its column and a suggestion",
    arguments: [
      ("", 1, "Expected a collection"), ("a//b", 1, ""), ("cities what", 8, "Expected where, order by, limit or last"),
      ("cities wehre a == 1", 8, "Did you mean where?"), ("cities limit no", 14, "Expected a number from 1"),
      ("cities limit", 13, "Expected a number"), ("cities limit 0", 14, "Expected a number from 1"),
      ("cities limit 2147483648", 14, "2147483647"), ("cities limit 1 limit 2", 16, "already has a limit"),
      ("cities where n >> 5", 16, "Expected one of"), ("cities where n >=", 18, "Expected a value after >="),
      ("cities where a == at last", 26, "Expected a number"), ("cities order by", 16, "Expected a field"),
      ("cities order by limit 5", 23, "is not a direction"), ("cities last 5", 1, "order(by:)"),
      ("cities/SF limit 5", 1, "names a document"),
    ])
  func refuses(text: String, column: Int, reason: String) {
    do throws(TextError) {
      let query = try QueryLine.parse(text, in: database)
      Issue.record("\(text) is \(query)")
    } catch {
      #expect(error.column == column && error.reason.contains(reason), "\(error)")
    }
  }

  @Test(
    "A value written as text parses back in any position",
    arguments: [
      .null, true, 42, 4.0, .double(.nan), .double(-.infinity), "paid", "42", "true", "", "a\"b", "[x", "{",
      "two words",
      "no limit 3", "Tom and Jerry", "x, y", "x, y = 1", "f(x)", "it's", "'x'", "users/ada", "2026-01-01", ".5", " x ",
      "line\nline", "timestamp:x", "2026-03-02T11:58:03Z", ["a", 1], .map(["a": 1]), .bytes([1, 2]),
      .timestamp(Timestamp(seconds: 1, nanoseconds: 500)), .reference(database, key("users/ada")),
      .geoPoint(GeoPoint(latitude: 1.5, longitude: -2)),
    ] as [Value])
  func writes(value: Value) throws {
    let filter = Filter.field(FieldFilter(FieldPath("a"), .equal, value))
    let line = ValueReader.text(of: value, in: database)
    #expect(try QueryLine.parse("cities where a == \(line) limit 5", in: database).filters == [filter], "\(line)")
    #expect(try ConditionText.parse("a == \(line)", of: Self.cities(), database: database) == [filter], "\(line)")
    let word = ValueReader.text(of: value, in: database, until: .word)
    var cursor = TextCursor(word + " x")
    #expect(try ValueReader(database: database).value(&cursor, until: .word) == value, "\(word)")
  }
}
