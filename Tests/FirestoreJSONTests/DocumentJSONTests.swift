// SPDX-License-Identifier: Apache-2.0
import FirestoreJSON
import FirestoreModel
import FirestoreTesting
import SeededRandom
import Testing

private func parse(_ text: String) throws -> (fields: Fields, transforms: [FieldTransform]) {
  try DocumentJSON.parse(text, database: database)
}

@Suite("Documents as JSON")
struct DocumentJSONTests {
  @Test(
    "Each value type has a JSON notation",
    arguments: [
      ("null", Value.null), ("true", .boolean(true)), ("12", .integer(12)), ("-0", .integer(0)),
      ("12.0", .double(12)), ("1e2", .double(100)), ("-0.0", .double(-0.0)), ("\"x\"", .string("x")),
      (
        "{\"$timestamp\": \"2026-03-02T11:58:03.120Z\"}",
        .timestamp(Timestamp(seconds: 1_772_452_683, nanoseconds: 120_000_000))
      ),
      (
        "{\"$timestamp\": \"2026-03-02T12:58:03.000000007+01:00\"}",
        .timestamp(Timestamp(seconds: 1_772_452_683, nanoseconds: 7))
      ),
      ("{\"$ref\": \"users/ada\"}", .reference(database, DocumentKey(unchecked: ResourcePath("users/ada")))),
      (
        "{\"$ref\": \"projects/q/databases/d/documents/users/ada\"}",
        .reference(DatabaseID(project: "q", database: "d"), DocumentKey(unchecked: ResourcePath("users/ada")))
      ),
      ("{\"$bytes\": \"aGVhcnRo\"}", .bytes(Array("hearth".utf8))), ("{\"$bytes\": \"\"}", .bytes([])),
      ("{\"$geo\": [52.37, 4]}", .geoPoint(GeoPoint(latitude: 52.37, longitude: 4))),
      ("{\"$vector\": [1, 2.5, {\"$double\": \"NaN\"}]}", .vector([1, 2.5, .nan])),
      ("{\"$double\": \"-Infinity\"}", .double(-.infinity)),
      ("{\"$map\": {\"$ref\": 1}}", .map(["$ref": .integer(1)])), ("{\"$map\": {}}", .map([:])),
      ("{\"$ref\": 1, \"b\": 2}", .map(["$ref": .integer(1), "b": .integer(2)])),
      ("[{}, [1]]", .array([.map([:]), .array([.integer(1)])])),
    ])
  func notation(text: String, value: Value) throws {
    #expect(try DocumentJSON.parseValue(text, database: database) == value)
  }

  @Test("Transforms are extracted with their paths, and maps left empty are removed")
  func transforms() throws {
    let (fields, transforms) = try parse(
      """
      {"at": {"$serverTimestamp": true}, "n": {"$increment": 1.5}, "kept": {},
       "m": {"low": {"$minimum": 1}, "high": {"$maximum": 2}},
       "tags": {"$arrayUnion": ["a", {"$geo": [1, 2]}]}, "half": {"x": 1, "y": {"$arrayRemove": [1]}},
       "$ref": {"$map": {"$increment": {"$increment": 2}}}}
      """)

    #expect(fields == ["kept": .map([:]), "half": .map(["x": .integer(1)])])
    #expect(
      transforms == [
        FieldTransform(path: FieldPath("at"), operation: .serverTimestamp),
        FieldTransform(path: FieldPath("n"), operation: .increment(.double(1.5))),
        FieldTransform(path: FieldPath(segments: ["m", "low"]), operation: .minimum(.integer(1))),
        FieldTransform(path: FieldPath(segments: ["m", "high"]), operation: .maximum(.integer(2))),
        FieldTransform(
          path: FieldPath("tags"),
          operation: .arrayUnion([.string("a"), .geoPoint(GeoPoint(latitude: 1, longitude: 2))])),
        FieldTransform(path: FieldPath(segments: ["half", "y"]), operation: .arrayRemove([.integer(1)])),
        FieldTransform(path: FieldPath(segments: ["$ref", "$increment"]), operation: .increment(.integer(2))),
      ])
  }

  @Test(
    "JSON errors report the position and the expected syntax",
    arguments: [
      ("", 1, 1, "Expected a value, found the end of the text."),
      ("[1]", 1, 1, "Expected an object with the document's fields, found an array."),
      ("{\"a\": 1,}", 1, 9, "Expected a name in double quotes, found \"}\"."),
      ("{\n  \"é\": 1,\n  \"b\" 2\n}", 3, 7, "Expected \":\" after the name \"b\", found \"2\"."),
      ("{\"é\": tru}", 1, 7, "Expected a value, found \"tru\"."),
      ("{\"a\": 1, \"b\": 2, \"a\": 3}", 1, 18, "The name \"a\" is already used in this object."),
      ("{\"a\": 01}", 1, 7, "A number must not begin with 0."),
      ("{\"a\": 1.}", 1, 9, "Expected a digit after \".\", found \"}\"."),
      ("{\"a\": 9223372036854775808}", 1, 7, "does not fit into 64 bits"),
      ("{\"a\": 1e999}", 1, 7, "too large for a double"),
      ("{\"a\": \"\\ud800x\"}", 1, 8, "half of a surrogate pair"),
      ("{\"a\": \"\\q\"}", 1, 8, "must be followed by one of"),
      ("{\"a\": \"x\ny\"}", 1, 9, "control character"),
      ("{} {}", 1, 4, "Expected nothing more"),
      ("{\"a\": {\"$when\": 1}}", 1, 7, "\"$when\" is not a type"),
      ("{\"a\": {\"$timestamp\": \"2026-02-29T00:00:00Z\"}}", 1, 22, "\"$timestamp\" expects a time"),
      ("{\"a\": {\"$geo\": [91, 0]}}", 1, 17, "a latitude from -90 to 90"),
      ("{\"a\": {\"$ref\": \"users\"}}", 1, 16, "names a collection"),
      ("{\"a\": {\"$bytes\": \"aGVhcnR\"}}", 1, 18, "base64"),
      ("{\"a\": {\"$double\": \"nan\"}}", 1, 19, "found \"nan\""),
      ("{\"a\": [{\"$increment\": 1}]}", 1, 8, "only allowed as a field's value"),
      ("{\"a\": {\"$increment\": \"1\"}}", 1, 22, "expects a number, found a string"),
      ("{\"a\": {\"$serverTimestamp\": false}}", 1, 28, "expects true"),
    ])
  func errors(text: String, line: Int, column: Int, reason: String) throws {
    let error = try #require(throws: JSONError.self) { try parse(text) }

    #expect((error.line, error.column) == (line, column), "\(error)")
    #expect(error.reason.contains(reason), "\(error)")
  }

  @Test("JSON nested beyond the limit is rejected without a crash")
  func nesting() {
    let text = String(repeating: "[", count: 100_000)
    #expect(throws: JSONError.self) { try JSONSyntax(parsing: text) }
  }

  @Test("Every prefix and every single-byte change of a document parses or throws")
  func damage() {
    let text = Array(
      "{\"a\": [1e3, \"\\ud83d\\udc35\", {\"$geo\": [1, 2]}], \"é\": {\"$timestamp\": \"2026-03-02T11:58:03Z\"}}".utf8
    )
    var refused = 0
    for index in text.indices {
      if (try? parse(String(decoding: text[..<index], as: UTF8.self))) == nil { refused += 1 }
      for byte in [UInt8(ascii: "\""), UInt8(ascii: "{"), 0, 0xff, UInt8(ascii: "9")] {
        var damaged = text
        damaged[index] = byte
        // Whether it still parses depends on the byte; that the parser returns is the point.
        _ = try? parse(String(decoding: damaged, as: UTF8.self))
      }
    }
    #expect(refused == text.count)
  }

  @Test("Written JSON parses to the same fields", arguments: 0..<300 as Range<UInt64>)
  func roundTrip(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let fields = random.fields()

    for shortened in [nil, database] {
      let pretty = DocumentJSON.text(of: fields, relativeTo: shortened)
      let (read, transforms) = try DocumentJSON.parse(pretty, database: database)
      #expect(read == fields, "seed \(seed): \(pretty)")
      #expect(transforms.isEmpty)

      let line = DocumentJSON.line(of: .map(fields), relativeTo: shortened)
      #expect(try DocumentJSON.parseValue(line, database: database) == .map(fields), "seed \(seed): \(line)")
      #expect(!line.contains("\n"))
    }
  }

  @Test("Written documents have sorted names, two-space indents and one-line typed values")
  func pretty() {
    let fields: Fields = [
      "b": .array([.integer(1), .map([:])]), "a": .double(1), "é": .geoPoint(GeoPoint(latitude: 1, longitude: -2.5)),
      "z": .map(["$ref": .null]), "list": .array([]),
    ]

    #expect(
      DocumentJSON.text(of: fields) == """
        {
          "a": 1.0,
          "b": [
            1,
            {}
          ],
          "list": [],
          "z": {
            "$map": {"$ref": null}
          },
          "é": {"$geo": [1.0, -2.5]}
        }
        """)
  }
}
