// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreQuery
import Testing

@Suite("Query order, targets and identity")
struct QueryOrderTests {
  @Test(
    "The implied order is inequality fields by name, then the document id",
    arguments: [
      (Query.c(), order("__name__")), (.c(order: order("a", "-b")), order("a", "-b", "-__name__")),
      (.c(order: order("-__name__")), order("-__name__")), (.c(.field("x", .equal, .null)), order("__name__")),
      (.c(.field("x", .in, .array([.null])), .field("y", .arrayContains, .null)), order("__name__")),
      (.c(.field("b", .lessThan, .null), .field("a", .notIn, .array([]))), order("a", "b", "__name__")),
      (.c(.field("b", .notEqual, .null), order: order("-c")), order("-c", "-b", "-__name__")),
      (.c(.field("b", .greaterThan, .null), order: order("c", "-b")), order("c", "-b", "-__name__")),
      (.c(.field("__name__", .lessThan, reference("c/a"))), order("__name__")),
      (
        .c(.or([.field("y", .greaterThan, .null), .and([.field("x", .lessThan, .null)])])),
        order("x", "y", "__name__")
      ),
    ])
  func implied(query: Query, orderBy: [OrderBy]) {
    #expect(query.orderBy == orderBy)
    #expect(query.target.orderBy == orderBy)
  }

  @Test("Limit-to-last reverses order and cursors, so mirrored queries share a target")
  func limitToLast() {
    let low = Bound(values: [.integer(1)], isInclusive: true)
    let high = Bound(values: [.integer(9)], isInclusive: false)
    let last = Query.c(order: order("a"), limit: 3, limitType: .last, start: low, end: high)
    let mirror = Query.c(order: order("-a"), limit: 3, start: high, end: low)

    #expect(last.target == mirror.target)
    #expect(last.target.canonicalID == mirror.target.canonicalID)
    #expect(last != mirror && last.canonicalID != mirror.canonicalID)
    #expect(last.target.orderBy == order("-a", "-__name__"))
  }

  @Test("Queries with equal explicit and implied orderings are equal")
  func equality() {
    let implied = Query.c(.field("a", .lessThan, .integer(1)))
    let explicit = Query.c(.field("a", .lessThan, .integer(1)), order: order("a", "__name__"))

    #expect(implied == explicit)
    #expect(implied.hashValue == explicit.hashValue)
    #expect(implied.canonicalID == explicit.canonicalID)
    #expect(implied != .c(.field("a", .lessThan, .double(1))))
    #expect(implied != .c(.field("a", .lessThan, .integer(1)), order: order("-a")))
  }

  @Test("Different targets have different canonical ids")
  func canonicalIDs() {
    let queries: [Query] = [
      .c(), .c(limit: 1), .c(order: order("a")), .c(order: order("-a")), .c(order: order("a", "b")),
      Query(path: ResourcePath("c"), explicitOrderBy: [OrderBy(FieldPath("a asc,b"))]),
      .c(.field("a", .equal, .integer(1))), .c(.field("a", .equal, .double(1))), .c(.field("a", .equal, .string("1"))),
      .c(.field("a", .equal, .double(0))), .c(.field("a", .equal, .double(-0.0))),
      .c(.field("a", .lessThan, .integer(1))), .c(.or([.field("a", .equal, .integer(1))])),
      .c(.field("a", .equal, .null), .field("b", .equal, .null)),
      .c(.or([.field("a", .equal, .null), .field("b", .equal, .null)])),
      .c(.and([.field("a", .equal, .null), .field("b", .equal, .null)])),
      .c(start: Bound(values: [reference("c/a")], isInclusive: true)),
      .c(start: Bound(values: [reference("c/a")], isInclusive: false)),
      .c(end: Bound(values: [reference("c/a")], isInclusive: true)),
      Query(path: .root, collectionGroup: "c"), Query(path: ResourcePath("x/y"), collectionGroup: "c"),
      Query(path: ResourcePath("|group:c")), Query(path: ResourcePath("c|order:__name__ asc")),
      Query(path: ResourcePath("\\|group:c")), Query(path: ResourcePath("c/a")),
    ]

    for left in queries {
      for right in queries {
        #expect((left.target.canonicalID == right.target.canonicalID) == (left.target == right.target))
        #expect((left.canonicalID == right.canonicalID) == (left == right))
      }
    }
  }
}
