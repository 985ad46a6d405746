// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreQuery
import Testing

@Suite("Query matching")
struct MatchingTests {
  /// One document a value of `v`; `none` has no such field.
  private static let values: [(id: String, value: Value?)] = [
    ("none", nil), ("null", .null), ("false", .boolean(false)), ("nan", .double(.nan)), ("0", .integer(0)),
    ("1", .integer(1)), ("1.0", .double(1)), ("2.5", .double(2.5)), ("time", .timestamp(Timestamp(seconds: 1))),
    ("a", .string("a")), ("b", .string("b")), ("bytes", .bytes([1])), ("ref", reference("c/a")),
    ("[]", .array([])), ("[1]", .array([.integer(1)])), ("[1.0]", .array([.double(1)])),
    ("[null,nan]", .array([.null, .double(.nan)])), ("[a]", .array([.string("a"), .string("z")])),
    ("{}", .map([:])), ("{1}", .map(["x": .integer(1)])), ("{1.0}", .map(["x": .double(1)])), ("v", .vector([1])),
  ]

  private func hits(_ query: Query, _ rules: ComparisonRules, encoded: Bool) -> [String] {
    Self.values.compactMap { id, value in
      let document = doc("c/" + id, Fields(value.map { [("v", $0)] } ?? []), encoded: encoded)
      #expect(query.matches(document, by: rules) == query.target.matches(document, by: rules))
      return query.matches(document, by: rules) ? id : nil
    }
  }

  private static func all(but excluded: String...) -> [String] { values.map(\.id).filter { !excluded.contains($0) } }

  @Test(
    "Filters match by type, order and equality (VALUE-ORDER, PROTOCOL §3.7)",
    arguments: [
      (.field("v", .equal, .integer(1)), ["1", "1.0"], nil), (.field("v", .equal, .double(-0.0)), ["0"], nil),
      (.field("v", .equal, .null), ["null"], nil), (.field("v", .equal, .double(.nan)), ["nan"], nil),
      (.field("v", .equal, .map(["x": .integer(1)])), ["{1}", "{1.0}"], nil),
      (.field("v", .lessThan, .integer(1)), ["0"], nil),
      (.field("v", .lessThanOrEqual, .double(1)), ["0", "1", "1.0"], nil),
      (.field("v", .greaterThan, .integer(0)), ["1", "1.0", "2.5"], nil),
      (.field("v", .greaterThanOrEqual, .string("b")), ["b"], nil),
      (.field("v", .lessThan, .string("z")), ["a", "b"], nil),
      (.field("v", .greaterThan, .boolean(false)), [], nil),
      (.field("v", .greaterThanOrEqual, .map([:])), ["{}", "{1}", "{1.0}"], nil),
      (.field("v", .greaterThanOrEqual, .vector([])), ["v"], nil),
      (.field("v", .notEqual, .integer(1)), all(but: "none", "null", "1", "1.0"), nil),
      (.field("v", .notEqual, .null), all(but: "none", "null"), nil),
      (.field("v", .notEqual, .double(.nan)), all(but: "none", "null", "nan"), nil),
      (.field("v", .in, .array([.integer(1), .string("b")])), ["1", "b"], ["1", "1.0", "b"]),
      (
        .field("v", .in, .array([.double(.nan), .null, .array([.double(1)])])), ["null", "nan", "[1.0]"],
        ["[1]", "[1.0]"]
      ),
      (
        .field("v", .notIn, .array([.integer(1), .array([])])), all(but: "none", "null", "1", "[]"),
        all(but: "none", "null", "1", "1.0", "[]")
      ),
      (.field("v", .notIn, .array([.string("a"), .null])), [], nil),
      (.field("v", .arrayContains, .integer(1)), ["[1]"], ["[1]", "[1.0]"]),
      (.field("v", .arrayContains, .double(.nan)), ["[null,nan]"], []),
      (.field("v", .arrayContains, .null), ["[null,nan]"], []),
      (
        .field("v", .arrayContainsAny, .array([.double(1), .string("z")])), ["[1.0]", "[a]"], ["[1]", "[1.0]", "[a]"]
      ),
      (.or([.field("v", .equal, .string("a")), .field("v", .equal, .boolean(false))]), ["false", "a"], nil),
      (.and([.field("v", .greaterThan, .integer(0)), .field("v", .lessThan, .integer(2))]), ["1", "1.0"], nil),
      (.or([]), [], nil), (.and([]), all(), nil),
    ] as [(Filter, [String], [String]?)])
  func filters(filter: Filter, client: [String], backend: [String]?) {
    for encoded in [false, true] {
      #expect(hits(.c(filter), .client, encoded: encoded) == client)
      #expect(hits(.c(filter), .backend, encoded: encoded) == (backend ?? client))
    }
  }

  @Test("An order-by or inequality field must exist, and null counts as a value")
  func requiredFields() {
    #expect(hits(.c(order: order("v")), .client, encoded: true) == Self.all(but: "none"))
    let either = Query.c(.or([.field("v", .greaterThan, .integer(0)), .field("w", .equal, .null)]))

    #expect(either.matches(doc("c/d", ["v": .integer(1)])))
    #expect(either.matches(doc("c/d", ["v": .null, "w": .null])))
    #expect(!either.matches(doc("c/d", ["w": .null])))
  }

  @Test("Only existing documents match, and only in the query's collection")
  func places() {
    let here = doc("c/d", [:])
    #expect(Query.c().matches(here))
    #expect(!Query.c().matches(doc("c/d/c/e", [:])) && !Query.c().matches(doc("cc/d", [:])))
    #expect(!Query.c().matches(Document(key: here.key, version: nil, state: .missing)))
    #expect(!Query.c().matches(Document(key: here.key, version: nil, state: .unknown)))

    let single = Query(path: ResourcePath("c/d"))
    #expect(single.isDocumentQuery && single.matches(here))
    #expect(!single.matches(doc("c/e", [:])) && !single.matches(doc("c/d/e/f", [:])))

    let group = Query(path: .root, collectionGroup: "c")
    #expect(group.matches(here) && group.matches(doc("x/y/c/e", [:])))
    #expect(!group.matches(doc("c/d/x/y", [:])) && !group.matches(doc("cc/d", [:])))
    let below = Query(path: ResourcePath("x/y"), collectionGroup: "c")
    #expect(below.matches(doc("x/y/c/e", [:])) && !below.matches(here) && !below.matches(doc("x/yy/c/e", [:])))
  }

  @Test(
    "Filters on the document id compare keys, numeric ids first",
    arguments: [
      (.lessThan, reference("c/__id9__"), ["__id7__"]), (.greaterThan, reference("c/__id12__"), ["a", "b"]),
      (.equal, reference("c/a"), ["a"]), (.notEqual, reference("c/a"), ["__id7__", "__id12__", "b"]),
      (.in, .array([reference("c/b"), reference("x/a"), .integer(1)]), ["b"]),
      (.notIn, .array([reference("c/b"), reference("c/a")]), ["__id7__", "__id12__"]),
      (.equal, .string("a"), []), (.arrayContains, reference("c/a"), []),
    ] as [(FieldFilter.Operator, Value, [String])])
  func documentIDs(op: FieldFilter.Operator, value: Value, ids: [String]) {
    let query = Query.c(.field("__name__", op, value))

    #expect(["__id7__", "__id12__", "a", "b"].filter { query.matches(doc("c/" + $0, [:])) } == ids)
  }

  @Test(
    "Cursors compare their values with the leading order-by fields",
    arguments: [
      (order("n"), [.integer(2)], true, ["b", "c", "d"], ["a", "b", "c"]),
      (order("n"), [.integer(2)], false, ["d"], ["a"]),
      (order("-n"), [.integer(2)], true, ["a", "b", "c"], ["b", "c", "d"]),
      (order("n", "s"), [.integer(2), .string("x")], false, ["c", "d"], ["a"]),
      (order("n", "-s"), [.integer(2), .string("x")], false, ["d"], ["a", "c"]),
      (order("n"), [.integer(2), reference("c/b")], false, ["c", "d"], ["a"]),
      (order("-n"), [.integer(2), reference("c/b")], true, ["a", "b"], ["b", "c", "d"]),
      (order(), [reference("c/bb")], true, ["c", "d"], ["a", "b"]),
      (order("n"), [.null], true, ["a", "b", "c", "d"], []),
      (order("n"), [.string("")], true, [], ["a", "b", "c", "d"]),
      (order("n"), [], true, ["a", "b", "c", "d"], ["a", "b", "c", "d"]),
    ] as [([OrderBy], [Value], Bool, [String], [String])])
  func cursors(orderBy: [OrderBy], values: [Value], isInclusive: Bool, following: [String], preceding: [String]) {
    let bound = Bound(values: values, isInclusive: isInclusive)
    for encoded in [false, true] {
      let documents = [
        doc("c/a", ["n": .integer(1), "s": .string("x")], encoded: encoded),
        doc("c/b", ["n": .integer(2), "s": .string("x")], encoded: encoded),
        doc("c/c", ["n": .double(2), "s": .string("y")], encoded: encoded),
        doc("c/d", ["n": .integer(3), "s": .string("x")], encoded: encoded),
      ]
      func ids(_ query: Query) -> [String] { documents.filter { query.matches($0) }.map(\.key.documentID) }

      #expect(ids(.c(order: orderBy, start: bound)) == following)
      #expect(ids(.c(order: orderBy, end: bound)) == preceding)
    }
  }

  @Test("Encoded bytes and the decoded document match the same targets")
  func inPlace() {
    let target = Query.c(.field("a.b", .greaterThan, .integer(1)), order: order("a.b")).target
    for value in [Value.integer(1), .integer(2), .string("x")] {
      let document = doc("c/d", ["a": .map(["b": value])])
      let encoded = EncodedFields(["a": .map(["b": value])])
      #expect(encoded.withView { target.matches($0, of: document.key) } == target.matches(document))
    }
  }
}
