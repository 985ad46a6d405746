// SPDX-License-Identifier: Apache-2.0
import FirestoreJSON
import FirestoreModel
import FirestoreQuery
import FirestoreTesting
import FirestoreText
import Testing

@testable import CommandOutput
@testable import CommandTransfer
@testable import HearthCommand

@Suite struct WriteArgumentTests {
  private let key = DocumentKey(unchecked: ResourcePath("cities/SF"))

  private func update(_ assignments: [String], removing: [FieldPath] = []) throws -> Mutation {
    let changes = try assignments.map { try FieldAssignment.parse($0) }
    return try WriteArgument.update(key, changes, removing: removing, database: database)
  }

  @Test("A written value that parses as JSON is JSON, and any other text is a string")
  func values() throws {
    let mutation = try update(["a=1", "b=x=y", "c=", "d=\"1\"", "e.f=[true]", "`g=h`=null"])
    let fields: Fields = [
      "a": .integer(1), "b": .string("x=y"), "c": .string(""), "d": .string("1"),
      "e": .map(["f": .array([.boolean(true)])]), "g=h": .null,
    ]
    let mask = FieldMask([
      FieldPath("a"), FieldPath("b"), FieldPath("c"), FieldPath("d"), FieldPath(segments: ["e", "f"]), FieldPath("g=h"),
    ])
    #expect(mutation == Mutation(key: key, operation: .patch(fields, mask), precondition: .exists(true)))
  }

  @Test(
    "Ambiguous text in a write is rejected, and the error shows both notations",
    arguments: [
      ("ok=True", "Did you mean true?"), ("x=.5", "Did you mean 0.5?"), ("ok=None", "Did you mean null?"),
      ("age=+1", "$increment"), ("at=2026-01-02", "timestamp:2026-01-02T00:00:00Z"), ("n=int:5", "integer:5"),
      ("n=text:5", "string:5"), ("at=timestmp:2026-01-02", "timestamp:2026-01-02"), ("ok=bool:true", "true and false"),
      ("n==5", "Did you mean 5?"), ("n=++2", "{\"$increment\": 2}"),
    ])
  func nearTypes(assignment: String, meant: String) throws {
    let error = try #require(throws: TextError.self) { try FieldAssignment.parse(assignment) }
    #expect(error.reason.contains(meant) && error.reason.contains("As text, write string:"), "\(error.reason)")
  }

  @Test("An arithmetic assignment is rejected and suggests the increment")
  func arithmetic() throws {
    for (text, column, meant) in [
      ("n-=1", 2, #"Did you mean n={"$increment": -1}? "#), ("n+=2.5", 2, #"Did you mean n={"$increment": 2.5}? "#),
      ("a.n-=-3", 4, #"Did you mean a.n={"$increment": 3}? "#), ("n-=x", 2, ""), ("-=1", 1, ""),
    ] {
      let error = try #require(throws: TextError.self) { try FieldAssignment.parse(text) }
      let name = text.prefix { $0 != "=" }
      let advice = "Put a name that ends with \(name.suffix(1)) in back-quotes: `\(name)`."
      #expect(error.column == column && error.reason == meant + advice, "\(error.reason)")
    }
    let mutation = try update(["`n-`=1", "n-m=-1"])
    #expect(
      mutation.operation
        == .patch(["n-": .integer(1), "n-m": .integer(-1)], FieldMask([FieldPath("n-"), FieldPath("n-m")])))
  }

  @Test("A condition in place of an assignment is rejected, with the way to write both")
  func condition() throws {
    for (text, column, change) in [
      ("n>=1", 2, "n=1"), ("a.n < 5", 4, "a.n=5"), ("n!=x", 2, "n=x"), ("n>", 2, "n=VALUE"),
    ] {
      let error = try #require(throws: TextError.self) { try FieldAssignment.parse(text) }
      let advice = "Write a change as \(change), and a condition after --where."
      #expect(error.column == column && error.reason == "\(text) is a condition, not a change. \(advice)")
    }
    #expect(try update(["a=1>0"]).operation == .patch(["a": .string("1>0")], FieldMask([FieldPath("a")])))
  }

  @Test("Typed or quoted text can be anything, and ordinary text needs no quotes")
  func plainText() throws {
    let mutation = try update([
      "a=string:True", "b=\"+1\"", "c=https://example.com/a", "d=+4930123456", "e=km/h", "f=note: later", "g=12:30",
      "h=C++",
    ])
    guard case .patch(let fields, _) = mutation.operation else { return #expect(Bool(false)) }
    #expect(
      fields == [
        "a": .string("True"), "b": .string("+1"), "c": .string("https://example.com/a"), "d": .string("+4930123456"),
        "e": .string("km/h"), "f": .string("note: later"), "g": .string("12:30"), "h": .string("C++"),
      ])
  }

  @Test("Times, lists of words and quotes mean the same in writes and in conditions")
  func sameValues() throws {
    for text in [
      "2026-03-02T11:58:03Z", "[a, 5, ref:users/ada]", "'x y'", "NaN", "timestamp:2026-03-02", "\"a\"", "geo:1,2",
    ] {
      let mutation = try update(["a=\(text)"])
      guard case .patch(let fields, _) = mutation.operation else { return #expect(Bool(false)) }
      let query = Query(path: ResourcePath("c"))
      let filters = try ConditionText.parse("a == \(text)", of: query, database: database)
      #expect(filters.flatMap(\.fieldFilters).map(\.value) == [fields["a"]], "\(text)")
    }
  }

  @Test("A transform changes its field in any path or map and is not a value")
  func transforms() throws {
    let mutation = try update(["a.n={\"$increment\": 2}", "m={\"x\": 1, \"at\": {\"$serverTimestamp\": true}}"])
    #expect(mutation.operation == .patch(["m": .map(["x": .integer(1)])], FieldMask([FieldPath("m")])))
    #expect(
      mutation.transforms == [
        FieldTransform(path: FieldPath(segments: ["a", "n"]), operation: .increment(.integer(2))),
        FieldTransform(path: FieldPath(segments: ["m", "at"]), operation: .serverTimestamp),
      ])
  }

  @Test("A removed field is in the update mask, without a value")
  func removal() throws {
    let mutation = try update([], removing: [FieldPath("a")])
    #expect(mutation.operation == .patch([:], FieldMask([FieldPath("a")])))
  }

  @Test(
    "Overlapping fields are rejected",
    arguments: [["a=1", "a.b=2"], ["a=1", "a=2"], ["a.b={\"$increment\": 1}", "a=1"]])
  func overlaps(assignments: [String]) {
    #expect { try update(assignments) } throws: { ($0 as? CommandFailure)?.status == .usage }
  }

  @Test(
    "An invalid assignment is rejected with its column",
    arguments: [("a", nil), ("=1", 1), ("a..b=1", 1), ("a=[1,", 6), ("a=[True]", 4), ("a='b", 3), ("a,b=1", 2)]
      as [(String, Int?)])
  func refuses(text: String, column: Int?) {
    #expect { try FieldAssignment.parse(text) } throws: { ($0 as? TextError)?.column == column }
  }

  @Test("A merge's mask lists empty maps and every field that is not a map")
  func merge() throws {
    let content = try DocumentJSON.parse("{\"a\": {\"b\": 1, \"c\": {}}, \"d\": [1]}", database: database)
    let mutation = WriteText.set(key, content, merge: true)
    let mask = FieldMask([FieldPath(segments: ["a", "b"]), FieldPath(segments: ["a", "c"]), FieldPath("d")])
    #expect(mutation.operation == .patch(content.fields, mask))
    #expect(WriteText.set(key, content, merge: false).operation == .set(content.fields))
  }
}
