// SPDX-License-Identifier: Apache-2.0
import FirestoreJSON
import FirestoreModel

/// Values as the emulator shows them beside rules: as in REST, but `boolValue`, `intValue`, `listValue` and paths in
/// segments.
enum RulesValueJSON {
  static func of(_ value: Value) -> JSONSyntax {
    switch value {
    case .null: member("nullValue", JSONSyntax(.null))
    case .boolean(let value): member("boolValue", JSONSyntax(.boolean(value)))
    case .integer(let value): member("intValue", JSONSyntax(.string(String(value))))
    case .double(let value): member("floatValue", double(value))
    case .timestamp(let time): member("timestampValue", JSONSyntax(.string(time.rfc3339Text)))
    case .string(let text): member("stringValue", JSONSyntax(.string(text)))
    case .bytes(let bytes): member("bytesValue", JSONSyntax(.string(Base64.encode(bytes))))
    case .reference(let database, let key):
      path(["databases", database.database, "documents"] + key.path.text.split(separator: "/").map(String.init))
    case .geoPoint(let point):
      member(
        "latlngValue",
        JSONSyntax(
          .object([
            JSONSyntax.Member("latitude", double(point.latitude)),
            JSONSyntax.Member("longitude", double(point.longitude)),
          ])))
    case .array(let elements):
      member("listValue", member("values", JSONSyntax(.array(elements.map(of)))))
    case .vector(let elements): of(.array(elements.map { .double($0) }))
    case .map(let fields): map(fields.entries.map { ($0.name, of($0.value)) })
    default: member("undefined", JSONSyntax(.object([])))
    }
  }

  static func map(_ entries: [(String, JSONSyntax)]) -> JSONSyntax {
    let fields = JSONSyntax(.object(entries.map { JSONSyntax.Member($0.0, $0.1) }))
    return member("mapValue", entries.isEmpty ? JSONSyntax(.object([])) : member("fields", fields))
  }

  static func path(_ segments: [String]) -> JSONSyntax {
    let segments = segments.map { member("simple", JSONSyntax(.string($0))) }
    return member("pathValue", member("segments", JSONSyntax(.array(segments))))
  }

  private static func double(_ value: Double) -> JSONSyntax {
    // JSON has no others.
    value.isFinite
      ? JSONSyntax(.double(value)) : JSONSyntax(.string(value.isNaN ? "NaN" : "\(value < 0 ? "-" : "")Infinity"))
  }

  private static func member(_ name: String, _ value: JSONSyntax) -> JSONSyntax {
    JSONSyntax(.object([JSONSyntax.Member(name, value)]))
  }
}
