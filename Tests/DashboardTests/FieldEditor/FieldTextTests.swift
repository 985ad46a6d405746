// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreTesting
import Testing

@testable import Dashboard
@testable import DashboardModel

/// Text as values, type by type: what is right reads back as it was, what is wrong is named with its column.
@Suite("Field input")
struct FieldTextTests {
  private static let nested: Value = .map(["a": .array([1, .map(["$x": .null])]), "t": .timestamp(at(0))])
  private static let values: [Value] = [
    .null, .boolean(true), .boolean(false), .integer(.min), .integer(42), .double(18.5), .double(-0.0), .double(.nan),
    .double(.infinity), .double(-.infinity), .double(.leastNonzeroMagnitude), .double(.greatestFiniteMagnitude),
    .timestamp(Timestamp(seconds: 1, nanoseconds: 1)), .timestamp(Timestamp(seconds: -62_135_596_800)),
    .string("two\nlines, \"quoted\" \\ and é👩‍👩‍👧"), .string(""), .bytes([]), .bytes([0, 255, 16]),
    .reference(database, key("users/ada")), .geoPoint(GeoPoint(latitude: -52.37, longitude: 4.89)), .array([]),
    .array([1, "two", .null]), .vector([0.5, -1]), .map([:]), nested, .map(["$timestamp": "looks like one"]),
  ]

  @Test("A value's text in the field editor is parsed back to the same value", arguments: values)
  func round(_ value: Value) throws {
    let text = FieldText.text(of: value, in: database)
    #expect(try FieldText.value(text, FieldKind(value), in: database) == value)
  }

  @Test(
    "Text in the field editor is parsed according to the field's type",
    arguments: [
      (.double, "5", .double(5)), (.double, "inf", .double(.infinity)), (.double, "-.5e1", .double(-5)),
      (.integer, "+7", .integer(7)), (.increment, "2", .integer(2)), (.increment, "2.0", .double(2)),
      (.bytes, "hex:00fF", .bytes([0, 255])), (.bytes, "aGk=", .bytes([104, 105])),
      (.timestamp, "2026-03-02T12:58:03+01:00", .timestamp(Timestamp(seconds: 1_772_452_683))),
      (.geoPoint, " 52.5 ,4", .geoPoint(GeoPoint(latitude: 52.5, longitude: 4))),
      (.reference, "users/ada", .reference(database, key("users/ada"))),
      (.map, "{\"a\": {\"$geo\": [1, 2]}}", .map(["a": .geoPoint(GeoPoint(latitude: 1, longitude: 2))])),
      (.string, "42", .string("42")),
    ] as [(FieldKind, String, Value)])
  func reading(_ kind: FieldKind, _ text: String, _ value: Value) throws {
    #expect(try FieldText.value(text, kind, in: database) == value)
  }

  @Test(
    "A syntax error in the field editor reports its column",
    arguments: [
      (.integer, "12x", "column 3: an integer has digits only"),
      (.integer, "18.5", "column 3: an integer has no decimal point"),
      (.integer, "-", "column 2: a digit is expected"),
      (.integer, "9223372036854775808", "column 1: an integer has 64 bits"),
      (.double, "1e", "column 3: a digit of the exponent"), (.double, "0x10", "column 2: a digit is expected"),
      (.double, "1e999", "column 1: the number is beyond the largest double"),
      (.double, "", "column 1: a number is expected"),
      (.boolean, "trae", "column 3: true or false"),
      (.timestamp, "2026-3-02", "column 7: a digit is expected"),
      (.timestamp, "2026", "column 5: the time is incomplete"),
      (.timestamp, "2026-13-02T00:00:00Z", "column 6: there is no such month"),
      (.timestamp, "2026-02-30T00:00:00Z", "column 9: the month has no such day"),
      (.timestamp, "2026-02-20T00:00:60Z", "column 18: seconds go to 59"),
      (.timestamp, "2026-02-20T00:00:00.1234567890Z", "column 30: a fraction ends at nanoseconds"),
      (.timestamp, "2026-02-20T00:00:00.12", "column 23: Z or an offset"),
      (.bytes, "aG*=", "column 3: * is not base64"), (.bytes, "aGk", "column 4: base64 needs groups of four"),
      (.bytes, "hex:0g", "column 6: a hexadecimal digit"), (.bytes, "hex:012", "column 8: a byte has two digits"),
      (.reference, "users", "column 6: "), (.reference, "users//a", "column 7: "),
      (.reference, "projects/other/databases/d/documents/a/b", "column 1: the reference is to another database"),
      (.geoPoint, "52", "column 3: two numbers"), (.geoPoint, "52, 181", "column 5: a longitude must be between"),
      (.geoPoint, "5x, 1", "column 2: a digit"),
      (.array, "[1, ]", "column 5: "), (.array, "{}", "column 1: this is not an array"),
      (.map, "{\"a\": 1\n \"b\": 2}", "line 2, column 2: "),
      (.map, "{\"$geo\": [1, 2]}", "column 1: this is a geo point, not a map"),
      (.vector, "[1, \"a\"]", "column 5: "), (.vector, "1", "column 1: [ is expected"),
    ] as [(FieldKind, String, String)])
  func wrong(_ kind: FieldKind, _ text: String, _ message: String) {
    let error = #expect(throws: FieldTextError.self) { try FieldText.value(text, kind, in: database) }
    #expect(error?.message(in: text).hasPrefix(message) == true, "\(error?.message(in: text) ?? "")")
  }

  @Test("An array element cannot be an array, a vector or a transform")
  func elements() {
    func problem(_ kind: FieldKind, _ text: String) -> String? {
      FieldEntry(["items", "0"], kind, text: text, isInArray: true, in: database).problem
    }
    #expect(problem(.array, "[]")?.contains("must not contain an array") == true)
    #expect(problem(.vector, "[1]")?.contains("must not contain a vector") == true)
    #expect(problem(.serverTimestamp, "")?.contains("not elements of arrays") == true)
    #expect(problem(.map, "{}") == nil)
  }

  @Test("Invalid Firestore values are rejected while typing")
  func limits() {
    func problem(_ kind: FieldKind, _ text: String) -> String? {
      FieldEntry(["f"], kind, text: text, isInArray: false, in: database).problem
    }
    #expect(problem(.array, "[[1]]")?.contains("must not contain an array") == true)
    #expect(problem(.vector, "[]")?.contains("must not be empty") == true)
    #expect(problem(.map, "{\"__x__\": 1}")?.contains("reserved") == true)
  }
}
