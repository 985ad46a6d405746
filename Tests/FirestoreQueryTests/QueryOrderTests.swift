// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreQuery
import SeededRandom
import Testing

@Suite("Orderings, targets and identity of queries")
struct QueryOrderTests {
  @Test(
    "Implied orderings: inequality fields by name, then the document id, in the last explicit direction",
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

  @Test("Limit-to-last asks for the reversed order and exchanged cursors, so mirror queries share a target")
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

  @Test("Queries are equal if they ask the same, whether or not orderings are written out")
  func equality() {
    let implied = Query.c(.field("a", .lessThan, .integer(1)))
    let explicit = Query.c(.field("a", .lessThan, .integer(1)), order: order("a", "__name__"))

    #expect(implied == explicit)
    #expect(implied.hashValue == explicit.hashValue)
    #expect(implied.canonicalID == explicit.canonicalID)
    #expect(implied != .c(.field("a", .lessThan, .double(1))))
    #expect(implied != .c(.field("a", .lessThan, .integer(1)), order: order("-a")))
  }

  @Test("No two different targets share a canonical id")
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

  @Test(
    "Stored queries and targets read back as they were",
    arguments: [
      Query.c(), .c(.field("a.b", .in, .array([.integer(1), .double(.nan), .null])), order: order("-a.b"), limit: 5),
      .c(.field("a", .equal, .null), .field("b", .notEqual, .null), .field("c", .equal, .double(.nan))),
      .c(.field("a", .notEqual, .double(.nan))),
      .c(.or([.field("a", .lessThan, .vector([1])), .and([.field("b", .arrayContainsAny, .array([.map([:])]))])])),
      .c(.and([.field("a", .equal, .null), .field("b", .equal, .null)])),
      .c(.and([]), .or([])),
      .c(
        order: order("a"), limit: 2, limitType: .last, start: Bound(values: [.null], isInclusive: false),
        end: Bound(values: [.string("é"), reference("c/__id7__")], isInclusive: true)),
      Query(path: .root, collectionGroup: "c"), Query(path: ResourcePath("c/d"), collectionGroup: ""),
      Query(path: ResourcePath("c/d")), Query(path: ResourcePath("c"), explicitOrderBy: [OrderBy(FieldPath("a.`b"))]),
    ])
  func roundTrip(query: Query) throws {
    let read = try Query(decoding: query.encoded())

    #expect(read == query)
    #expect(read.explicitOrderBy == query.explicitOrderBy && read.filters == query.filters)
    #expect(try Target(decoding: query.target.encoded()) == query.target)
  }

  @Test("Bytes that are no query are data loss, and never a trap")
  func garbage() throws {
    let query = Query.c(
      .or([.field("a", .lessThan, .integer(1)), .field("b", .equal, .null)]), order: order("a"), limit: 3,
      start: Bound(values: [.string("x")], isInclusive: true))
    let bytes = query.encoded()
    for count in 1..<bytes.count {
      // A cut between two fields of the outer message leaves a message.
      guard let read = try? Query(decoding: Array(bytes[..<count])) else { continue }
      #expect(read != query)
    }
    var random = SeededGenerator(seed: 1)
    for _ in 0..<2000 {
      var damaged = bytes
      for _ in 0..<3 {
        damaged[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
      }
      do { _ = try Query(decoding: damaged) } catch { #expect(error.code == .dataLoss) }
    }
  }
}
