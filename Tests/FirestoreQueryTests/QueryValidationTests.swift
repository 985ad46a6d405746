// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreQuery
import Testing

private func many(_ count: Int) -> Value { .array((0..<count).map { .integer(Int64($0)) }) }

@Suite("Query validation")
struct QueryValidationTests {
  @Test(
    "An invalid query is rejected with the reason (PROTOCOL §3.6)",
    arguments: [
      (Query.c(.field("a", .in, .array([]))), "at least one"), (.c(.field("a", .in, .integer(1))), "needs an array"),
      (.c(.field("a", .in, many(31))), "At most 30"), (.c(.field("a", .notIn, many(11))), "At most 10"),
      (.c(.field("a", .arrayContainsAny, many(31))), "At most 30"),
      (.c(.field("a", .notIn, many(1)), .field("b", .in, many(1))), "not-in cannot be combined"),
      (.c(.field("a", .notIn, many(1)), .field("b", .arrayContainsAny, many(1))), "not-in cannot be combined"),
      (
        .c(.field("a", .notIn, many(1)), .or([.field("b", .equal, .null), .field("c", .equal, .null)])), "not-in cannot"
      ),
      (.c(.field("a", .notIn, many(1)), .field("b", .notEqual, .integer(1))), "At most one"),
      (.c(.field("a", .notEqual, .integer(1)), .field("a", .notEqual, .integer(2))), "At most one"),
      (.c(.field("a", .arrayContains, .null), .field("b", .arrayContains, .null)), "array membership"),
      (.c(.field("a", .arrayContains, .null), .field("a", .arrayContainsAny, many(2))), "array membership"),
      (.c(.field("a", .in, many(6)), .field("b", .in, many(6))), "36 alternatives"),
      (.c(.field("a", .in, many(30)), .field("b", .in, many(30)), .field("c", .in, many(30))), "alternatives"),
      (.c(.or([])), "no conditions"), (.c(.field("a", .lessThan, .null)), "== and != only"),
      (.c(.field("a", .greaterThanOrEqual, .double(.nan))), "== and != only"),
      (.c(.field("__name__", .equal, .string("x"))), "document id or reference"),
      (.c(.field("__name__", .in, .array([reference("c/a"), .integer(1)]))), "of type integer"),
      (.c(.field("__name__", .arrayContains, reference("c/a"))), "cannot be used on the document id"),
      (.c(.field("__x__", .equal, .null)), "reserved"), (.c(order: order("__x__")), "reserved"),
      (.c(.field("a", .equal, .string(String(repeating: "x", count: 1501)))), "1500 bytes"),
      (.c(order: order("a", "-a")), "twice"), (.c(order: order("__name__", "a")), "follows an ordering by document id"),
      (.c(limit: 0), "at least 1"), (.c(limit: -1), "at least 1"),
      (.c(limit: 2_147_483_648), "at most 2147483647"), (.c(limit: .max), "at most 2147483647"),
      (.c(limit: 1, limitType: .last), "needs at least one order"),
      (.c(order: order("a"), start: Bound(values: [.null, reference("c/a"), .null], isInclusive: true)), "3 values"),
      (.c(order: order("a"), start: Bound(values: [], isInclusive: true)), "no values"),
      (.c(order: order("a"), end: Bound(values: [.null, .integer(1)], isInclusive: true)), "document id"),
      (.c(start: Bound(values: [reference("x/a")], isInclusive: true)), "not in \"c\""),
      (
        .c(
          order: order("a"),
          end: Bound(
            values: [.serverTimestamp(ServerTimestamp(localWriteTime: Timestamp(seconds: 0), previous: nil))],
            isInclusive: true)), "pending"
      ),
      (Query(path: .root, collectionGroup: "a/b"), "contains \"/\""),
      (Query(path: .root, collectionGroup: ""), "empty"),
      (Query(path: .root), "names no collection"),
      (Query(path: ResourcePath("c/d"), filters: [.field("a", .equal, .null)]), "names a document"),
    ])
  func refused(query: Query, reason: String) throws {
    let error = try #require(throws: QueryError.self) { try query.validate() }

    #expect(error.code == .invalidArgument)
    #expect(error.message.contains(reason), "\(error)")
  }

  @Test(
    "Valid queries are accepted",
    arguments: [
      Query.c(), .c(.field("a", .in, many(30))), .c(.field("a", .notIn, many(10))),
      .c(.field("a", .equal, .null), .field("b", .equal, .double(.nan)), .field("c", .notEqual, .null)),
      .c(.field("a", .lessThan, .integer(1)), .field("b", .greaterThan, .integer(1)), order: order("c")),
      .c(.or([.field("a", .arrayContains, .null), .field("b", .arrayContains, .null)])),
      .c(.field("a", .in, many(5)), .or((0..<6).map { .field("b", .equal, .integer($0)) })),
      .c(.field("a", .in, many(3)), .field("b", .arrayContainsAny, many(10))),
      .c(order: order("a"), limit: 1, limitType: .last),
      .c(.field("__name__", .greaterThan, reference("c/a")), order: order("__name__")),
      .c(order: order("a"), start: Bound(values: [.null, reference("c/a")], isInclusive: true)),
      .c(.field("a", .lessThan, .integer(1)), start: Bound(values: [.integer(0)], isInclusive: true)),
      Query(path: ResourcePath("c/d")), Query(path: ResourcePath("c/d"), collectionGroup: "e"),
    ])
  func allowed(query: Query) throws {
    try query.validate()
  }

  @Test("Disjunctions multiply under AND and add under OR; each list element adds one")
  func disjunctions() {
    let filter = Filter.and([
      .or([.field("a", .equal, .integer(1)), .field("b", .in, many(2))]), .field("c", .lessThan, .integer(3)),
    ])

    #expect(
      filter.disjunctions == [
        [FieldFilter(path("a"), .equal, .integer(1)), FieldFilter(path("c"), .lessThan, .integer(3))],
        [FieldFilter(path("b"), .equal, .integer(0)), FieldFilter(path("c"), .lessThan, .integer(3))],
        [FieldFilter(path("b"), .equal, .integer(1)), FieldFilter(path("c"), .lessThan, .integer(3))],
      ])
  }
}
