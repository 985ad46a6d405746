// SPDX-License-Identifier: Apache-2.0
import FirestoreJSON
import FirestoreModel
import FirestoreTesting
import Testing

@testable import CommandTransfer

@Suite("Values of other tools")
struct ForeignValueTests {
  /// The value of `{"a": …}` in Hearth's JSON, and the lines about it.
  private func read(_ json: String, isOwn: Bool = false, types: String? = nil) throws -> (String, [String]) {
    var values = ForeignValues(
      types: try types.map(ColumnTypesText.parse) ?? [:], isOwn: isOwn, database: database)
    let document = try values.document(try JSONSyntax(parsing: "{\"a\": \(json)}"))
    // What was read must be valid in a document.
    let (fields, _) = try DocumentJSON.fields(of: document, database: database)
    let text = fields.isEmpty ? "" : DocumentJSON.line(of: fields, relativeTo: database)
    return (String(text.dropFirst(6).dropLast()), values.recognized.lines)
  }

  @Test(
    "JSON objects that represent a single value are converted to it and counted",
    arguments: [
      (
        #"{"_seconds": 1600000000, "_nanoseconds": 5}"#, #"{"$timestamp": "2020-09-13T12:26:40.000000005Z"}"#,
        "timestamp"
      ),
      (#"{"seconds": 1600000000, "nanoseconds": 0}"#, #"{"$timestamp": "2020-09-13T12:26:40Z"}"#, "timestamp"),
      (#"{"seconds": 1, "nanos": 0}"#, #"{"$timestamp": "1970-01-01T00:00:01Z"}"#, "timestamp"),
      (#"{"_latitude": 1.5, "_longitude": 2}"#, #"{"$geo": [1.5, 2.0]}"#, "geo"),
      (
        #"{"__datatype__": "timestamp", "value": {"_seconds": 1, "_nanoseconds": 0}}"#,
        #"{"$timestamp": "1970-01-01T00:00:01Z"}"#, "timestamp"
      ),
      (
        #"{"__datatype__": "timestamp", "value": "2026-02-23T00:00:00Z"}"#, #"{"$timestamp": "2026-02-23T00:00:00Z"}"#,
        "timestamp"
      ),
      (#"{"__datatype__": "geopoint", "value": {"_latitude": 1, "_longitude": 2}}"#, #"{"$geo": [1.0, 2.0]}"#, "geo"),
      (#"{"__datatype__": "documentReference", "value": "c/d"}"#, #"{"$ref": "c/d"}"#, "ref"),
      (#"{"__datatype__": "reference", "value": {"path": "/c/d"}}"#, #"{"$ref": "c/d"}"#, "ref"),
      (#"{"_path": {"segments": ["c", "d"]}, "_converter": {}}"#, #"{"$ref": "c/d"}"#, "ref"),
      (
        #"{"type": "firestore/timestamp/1.0", "seconds": 1, "nanoseconds": 0}"#,
        #"{"$timestamp": "1970-01-01T00:00:01Z"}"#,
        "timestamp"
      ),
      (#"{"type": "firestore/geoPoint/1.0", "latitude": 1, "longitude": 2}"#, #"{"$geo": [1.0, 2.0]}"#, "geo"),
      (#"{"type": "firestore/bytes/1.0", "bytes": "AAE="}"#, #"{"$bytes": "AAE="}"#, "bytes"),
      (#"{"type": "Buffer", "data": [0, 1]}"#, #"{"$bytes": "AAE="}"#, "bytes"),
      (#"{"_values": [1, 2.5]}"#, #"{"$vector": [1.0, 2.5]}"#, "vector"),
      (#"{"$date": "2020-01-01T02:00:00.000+0200"}"#, #"{"$timestamp": "2020-01-01T00:00:00Z"}"#, "timestamp"),
      (#"{"$date": -1}"#, #"{"$timestamp": "1969-12-31T23:59:59Z"}"#, "timestamp"),
      (#"{"$date": {"$numberLong": "1600000000123"}}"#, #"{"$timestamp": "2020-09-13T12:26:40.123Z"}"#, "timestamp"),
      (#"{"$oid": "5f0c"}"#, #""5f0c""#, "string"), (#"{"$numberLong": "-5"}"#, "-5", "integer"),
      (#"{"$numberDouble": "Infinity"}"#, #"{"$double": "Infinity"}"#, "double"),
      (#"{"$numberDecimal": "1.5"}"#, "1.5", "double"),
      (#"{"$binary": {"base64": "AAE=", "subType": "00"}}"#, #"{"$bytes": "AAE="}"#, "bytes"),
      (#"{"$timestamp": {"t": 1, "i": 4}}"#, #"{"$timestamp": "1970-01-01T00:00:01Z"}"#, "timestamp"),
      (#"{"$ref": "c", "$id": {"$oid": "d"}}"#, #"{"$ref": "c/d"}"#, "ref"),
      (#"[{"m": {"$date": 1600000000000}}]"#, #"[{"m": {"$timestamp": "2020-09-13T12:26:40Z"}}]"#, "timestamp"),
    ])
  func objects(_ json: String, _ expected: String, _ type: String) throws {
    let (value, lines) = try read(json)
    #expect(value == expected)
    #expect(lines.count == 1 && lines[0].hasPrefix("read as \(type): 1 object "), "\(lines)")
  }

  @Test(
    "Objects that only resemble another tool's value remain maps",
    arguments: [
      #"{"_seconds": 1}"#, #"{"seconds": 1, "nanoseconds": -1}"#, #"{"_latitude": 91, "_longitude": 2}"#,
      #"{"seconds": "x", "nanoseconds": "y"}"#, #"{"type": "Buffer", "size": 1}"#, #"{"_path": "c/d", "n": 1}"#,
      #"{"_seconds": 1, "_nanoseconds": 0, "zone": "Z"}"#,
    ])
  func maps(_ json: String) throws {
    let (value, lines) = try read(json)
    let plain = try JSONSyntax(parsing: json)
    #expect(try JSONSyntax(parsing: value).names == plain.names && lines.isEmpty, "\(value) \(lines)")
  }

  @Test("In Hearth's own export a map that looks like a timestamp remains a map")
  func own() throws {
    let (value, lines) = try read(#"{"_seconds": 1, "_nanoseconds": 0}"#, isOwn: true)
    #expect(value == #"{"_nanoseconds": 0, "_seconds": 1}"#)
    #expect(lines.count == 1 && lines[0].hasSuffix("For type timestamp, add --types a=timestamp."))
    #expect(try read(#"{"$map": {"$date": 1}}"#, isOwn: true).0 == #"{"$map": {"$date": 1}}"#)
  }

  @Test(
    "--types sets the type of a JSON field",
    arguments: [
      (#""2020-01-01T00:00:00Z""#, "a=timestamp", #"{"$timestamp": "2020-01-01T00:00:00Z"}"#),
      ("1600000000123", "a=timestamp", #"{"$timestamp": "2020-09-13T12:26:40.123Z"}"#),
      ("1600000000", "a=timestamp", #"{"$timestamp": "2020-09-13T12:26:40Z"}"#),
      (#"{"_seconds": 1, "_nanoseconds": 0}"#, "a=json", #"{"_nanoseconds": 0, "_seconds": 1}"#),
      (#""5""#, "a=integer", "5"), ("5", "a=double", "5.0"), (#""1.5""#, "a=double", "1.5"), ("5", "a=string", #""5""#),
      (#""TRUE""#, "a=boolean", "true"), (#""c/d""#, "a=ref", #"{"$ref": "c/d"}"#),
      (#"{"lat": 1, "lng": 2}"#, "a=geo", #"{"$geo": [1.0, 2.0]}"#), ("[1, 2]", "a=geo", #"{"$geo": [1.0, 2.0]}"#),
      ("[1, 2]", "a=vector", #"{"$vector": [1.0, 2.0]}"#), (#""AAE=""#, "a=bytes", #"{"$bytes": "AAE="}"#),
      (#""[1]""#, "a=json", "[1]"), ("null", "a=timestamp", "null"),
      (#"[{"b": "5"}, {"b": "6"}]"#, "a.b=integer", #"[{"b": 5}, {"b": 6}]"#),
    ])
  func types(_ json: String, _ types: String, _ expected: String) throws {
    #expect(try read(json, types: types).0 == expected)
  }

  @Test(
    "A value that does not have the given type is rejected with its position",
    arguments: ["timestamp", "integer", "geo"])
  func mistyped(type: String) {
    #expect {
      try read("[\"x\"]", types: "a=\(type)")
    } throws: {
      ($0 as? JSONError).map { $0.column == 7 && $0.reason.hasPrefix("a is not of type \(type)") } == true
    }
  }
}

extension JSONSyntax {
  fileprivate var names: Set<String> {
    if case .object(let members) = kind { Set(members.map(\.name)) } else { [] }
  }
}
