// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreQuery
import FirestoreTesting
import Testing

@testable import FirestoreText

private func filters(_ text: String, group: String? = nil) throws(TextError) -> [Filter] {
  let query = group.map { Query(path: .root, collectionGroup: $0) } ?? Query(path: ResourcePath("cities"))
  return try ConditionText.parse(text, of: query, database: database)
}

/// One condition.
private func parse(_ text: String, group: String? = nil) throws -> FieldFilter {
  guard case .field(let filter)? = try filters(text, group: group).first else { throw TextError("an expression") }
  return filter
}

private func a(_ op: FieldFilter.Operator, _ value: Value) -> Filter { .field(FieldFilter(FieldPath("a"), op, value)) }
private func b(_ op: FieldFilter.Operator, _ value: Value) -> Filter { .field(FieldFilter(FieldPath("b"), op, value)) }
private func c(_ op: FieldFilter.Operator, _ value: Value) -> Filter { .field(FieldFilter(FieldPath("c"), op, value)) }

@Suite struct ConditionTextTests {
  private static let march2: Int64 = 1_772_409_600
  private static let ada = DocumentKey(unchecked: ResourcePath("users/ada"))
  private static let notIn = FieldFilter(
    FieldPath("a"), .notIn,
    .array([
      .string("f(x)"), .string("y, z"), .reference(database, DocumentKey(unchecked: ResourcePath("c/d"))),
    ]))
  static let conditions: [(String, FieldFilter)] = [
    ("state == CA", FieldFilter(FieldPath("state"), .equal, .string("CA"))),
    ("state = CA", FieldFilter(FieldPath("state"), .equal, .string("CA"))),
    ("state=CA", FieldFilter(FieldPath("state"), .equal, .string("CA"))),
    ("state==CA", FieldFilter(FieldPath("state"), .equal, .string("CA"))),
    ("  name ==  San Francisco ", FieldFilter(FieldPath("name"), .equal, .string("San Francisco"))),
    ("name == 'null'", FieldFilter(FieldPath("name"), .equal, .string("null"))),
    ("name == \"a \\\" b\"", FieldFilter(FieldPath("name"), .equal, .string("a \" b"))),
    ("name == \"\"", FieldFilter(FieldPath("name"), .equal, .string(""))),
    ("a<=5", FieldFilter(FieldPath("a"), .lessThanOrEqual, .integer(5))),
    ("a < -5.0", FieldFilter(FieldPath("a"), .lessThan, .double(-5))),
    ("a >= 1e3", FieldFilter(FieldPath("a"), .greaterThanOrEqual, .double(1000))),
    ("a > \"2026-03-02\"", FieldFilter(FieldPath("a"), .greaterThan, .string("2026-03-02"))),
    ("a == '5 and b == c'", FieldFilter(FieldPath("a"), .equal, .string("5 and b == c"))),
    ("a == Orlando", FieldFilter(FieldPath("a"), .equal, .string("Orlando"))),
    ("a == Rock android", FieldFilter(FieldPath("a"), .equal, .string("Rock android"))),
    ("a == \"users/ada\"", FieldFilter(FieldPath("a"), .equal, .string("users/ada"))),
    ("a == https://x.org/y", FieldFilter(FieldPath("a"), .equal, .string("https://x.org/y"))),
    ("a == Smith, John", FieldFilter(FieldPath("a"), .equal, .string("Smith, John"))),
    ("a != true", FieldFilter(FieldPath("a"), .notEqual, .boolean(true))),
    ("a == null", FieldFilter(FieldPath("a"), .equal, .null)),
    ("a == nullable", FieldFilter(FieldPath("a"), .equal, .string("nullable"))),
    ("address.city == X", FieldFilter(FieldPath(segments: ["address", "city"]), .equal, .string("X"))),
    ("`a = b`.c == 1", FieldFilter(FieldPath(segments: ["a = b", "c"]), .equal, .integer(1))),
    ("inner == 1", FieldFilter(FieldPath("inner"), .equal, .integer(1))),
    (
      "a in [CA, 5, New York]",
      FieldFilter(FieldPath("a"), .in, .array([.string("CA"), .integer(5), .string("New York")]))
    ),
    ("a in[1]", FieldFilter(FieldPath("a"), .in, .array([.integer(1)]))),
    ("a not-in [\"x, y\", null]", FieldFilter(FieldPath("a"), .notIn, .array([.string("x, y"), .null]))),
    ("a not in [f(x), 'y, z', {\"$ref\": \"c/d\"}]", notIn),
    ("a array-contains b", FieldFilter(FieldPath("a"), .arrayContains, .string("b"))),
    ("a contains b", FieldFilter(FieldPath("a"), .arrayContains, .string("b"))),
    ("a contains-any [b]", FieldFilter(FieldPath("a"), .arrayContainsAny, .array([.string("b")]))),
    ("a == NaN", FieldFilter(FieldPath("a"), .equal, .double(.nan))),
    ("a == +4930123456", FieldFilter(FieldPath("a"), .equal, .string("+4930123456"))),
    ("a == 007", FieldFilter(FieldPath("a"), .equal, .string("007"))),
    (
      "a > 2026-03-02T01:00:00+01:00",
      FieldFilter(FieldPath("a"), .greaterThan, .timestamp(Timestamp(seconds: march2)))
    ),
    ("a > timestamp:2026-03-02", FieldFilter(FieldPath("a"), .greaterThan, .timestamp(Timestamp(seconds: march2)))),
    (
      "a == timestamp:2026-03-02T01:00:00+01:00",
      FieldFilter(FieldPath("a"), .equal, .timestamp(Timestamp(seconds: march2)))
    ),
    ("a == ref:users/ada", FieldFilter(FieldPath("a"), .equal, .reference(database, ada))),
    ("a == bytes:aGk=", FieldFilter(FieldPath("a"), .equal, .bytes(Array("hi".utf8)))),
    ("a == geo:52.5,4", FieldFilter(FieldPath("a"), .equal, .geoPoint(GeoPoint(latitude: 52.5, longitude: 4)))),
    ("a == double:5", FieldFilter(FieldPath("a"), .equal, .double(5))),
    ("a == double:-Infinity", FieldFilter(FieldPath("a"), .equal, .double(-.infinity))),
    ("a == string:5", FieldFilter(FieldPath("a"), .equal, .string("5"))),
    ("a == mailto:x", FieldFilter(FieldPath("a"), .equal, .string("mailto:x"))),
    ("a array-contains-any [b]", FieldFilter(FieldPath("a"), .arrayContainsAny, .array([.string("b")]))),
    (
      "at > {\"$timestamp\": \"1970-01-01T00:00:01Z\"}",
      FieldFilter(FieldPath("at"), .greaterThan, .timestamp(Timestamp(seconds: 1)))
    ),
    (
      "__name__ >= SF",
      FieldFilter(
        .documentID, .greaterThanOrEqual, .reference(database, DocumentKey(unchecked: ResourcePath("cities/SF"))))
    ),
  ]

  @Test("A condition is a field, an operator and a value, and words need no quotes", arguments: conditions)
  func reads(text: String, filter: FieldFilter) throws {
    #expect(try parse(text) == filter)
  }

  @Test(
    "In conditions, && binds tighter than ||, and parentheses group",
    arguments: [
      ("a == 1 and b == x y", [a(.equal, .integer(1)), b(.equal, .string("x y"))]),
      ("a == 1 AND (b == x && c==2)", [a(.equal, .integer(1)), b(.equal, .string("x")), c(.equal, .integer(2))]),
      ("a==x||b==y", [.or([a(.equal, .string("x")), b(.equal, .string("y"))])]),
      (
        "a == 1 or b == 2 and c == 3",
        [.or([a(.equal, .integer(1)), .and([b(.equal, .integer(2)), c(.equal, .integer(3))])])]
      ),
      (
        "a == CA and (b > 5 or c contains west)",
        [
          a(.equal, .string("CA")),
          .or([b(.greaterThan, .integer(5)), c(.arrayContains, .string("west"))]),
        ]
      ),
      ("a == 1, b == x", [a(.equal, .integer(1)), b(.equal, .string("x"))]),
      (
        "a == x or b == y, c contains z",
        [.or([a(.equal, .string("x")), b(.equal, .string("y"))]), c(.arrayContains, .string("z"))]
      ),
      ("a == Smith, John, b == Ada, Bo", [a(.equal, .string("Smith, John")), b(.equal, .string("Ada, Bo"))]),
      (
        "a == x, (b == 1 or c == 2)", [a(.equal, .string("x")), .or([b(.equal, .integer(1)), c(.equal, .integer(2))])]
      ),
      ("((a == 'x)') or(b == \"(and\"))", [.or([a(.equal, .string("x)")), b(.equal, .string("(and"))])]),
    ] as [(String, [Filter])])
  func expressions(text: String, expected: [Filter]) throws {
    #expect(try filters(text) == expected)
    let written = expected.map { ConditionText.text(of: $0, in: database) }
    #expect(try written.flatMap { try filters($0) } == expected, "\(written)")
  }

  @Test(
    "An error in a condition reports its column",
    arguments: [
      ("", 1), ("== CA", 1), ("state", 6), ("state = = CA", 7), ("state => CA", 7), ("state is CA", 7),
      ("state == ", 10), ("a..b == 1", 1),
      ("a in CA", 6), ("a in [CA", 9), ("a in [CA,]", 10), ("a == [1, ]", 10), ("a == \"x", 8), ("a == {\"$x\": 1}", 6),
      ("a <> 1", 3), ("a === 1", 3), ("a == 1 and", 11), ("a == 1 and or b == 2", 15), ("(a == 1", 8), ("a == 1)", 7),
      ("a == x (y)", 8), ("a == 'x' y", 10), ("a == \"x\" b == 1", 10), ("not a == 1", 1), ("a in (1, 2)", 6),
      ("a == timestamp:noon", 6), ("a == integer:1.5", 6), ("a == 1 and b == geo:1", 17),
      (String(repeating: "(", count: 60) + "a == 1", 51),
    ])
  func refuses(text: String, column: Int) {
    #expect { try parse(text) } throws: { ($0 as? TextError)?.column == column }
  }

  @Test(
    "Ambiguous text must be quoted, and the error shows both notations",
    arguments: [
      ("a == Romeo and Juliet", "Expected an operator", "\"Romeo and Juliet\""),
      ("a == Tom and", "Expected a field", "\"Tom and\""),
      ("when > 2026-01-03", "timestamp:2026-01-03T00:00:00Z", "\"2026-01-03\""),
      ("when > 2026-1-3", "timestamp:2026-01-03T00:00:00Z", "\"2026-1-3\""),
      ("when > 2026-01-03 04:05", "timestamp:2026-01-03T00:00:00Z", "\"2026-01-03 04:05\""),
      ("a == .5", "Did you mean 0.5?", "\".5\""), ("a == -5.", "Did you mean -5.0?", "\"-5.\""),
      ("a == +inf", "double:Infinity", "\"+inf\""), ("a contain b", "Did you mean contains?", ""),
      ("ref == users/ada", "ref:users/ada", "\"users/ada\""),
      ("ref in [users/ada, x]", "ref:users/ada", "\"users/ada\""), ("a == True", "true", "\"True\""),
      ("a != None", "null", "\"None\""), ("a == nan", "NaN", "\"nan\""), ("a == 'it's'", "double quotes", ""),
    ])
  func suspicious(text: String, remedy: String, quoted: String) {
    #expect { try parse(text) } throws: { error in
      guard let reason = (error as? TextError)?.reason else { return false }
      return reason.contains(remedy) && reason.contains(quoted)
    }
  }

  @Test(
    "A field name with special characters needs back-quotes",
    arguments: ["population desc", "a,b", "a:x", "a|b"])
  func names(name: String) throws {
    #expect(throws: TextError.self) { try FieldPathText.parse(name) }
    #expect(try FieldPathText.parse("`\(name)`") == FieldPath(name))
    #expect(try FieldPathText.parse("first-name.ž_1") == FieldPath(segments: ["first-name", "ž_1"]))
  }

  @Test("In a collection group, a document id is a full path")
  func groupNames() throws {
    let key = DocumentKey(unchecked: ResourcePath("cities/SF"))
    #expect(try parse("__name__ == cities/SF", group: "cities").value == .reference(database, key))
    #expect(throws: TextError.self) { try parse("__name__ == SF", group: "cities") }
  }
}
