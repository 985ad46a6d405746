// SPDX-License-Identifier: Apache-2.0
import FirestoreModel

/// One value on one line, short enough for a row: what it is, not all of it. `DocumentJSON` writes the whole value.
enum ValueText {
  /// No row is wider than this, so longer strings are cut before anything else looks at them.
  private static let longest = 250

  static func short(_ value: Value) -> String {
    switch value {
    case .null: "null"
    case .boolean(let flag): flag ? "true" : "false"
    case .integer(let number): "\(number)"
    case .double(let number): double(number)
    case .timestamp(let time): TimeText.date(time)
    case .serverTimestamp: "pending server time"
    case .string(let text): "\"\(cut(text))\""
    case .bytes(let bytes): "\(grouped(bytes.count)) bytes"
    case .reference(_, let key): "ref \(cut(key.path.text))"
    case .geoPoint(let point): "\(double(point.latitude)), \(double(point.longitude))"
    case .array(let values): values.isEmpty ? "[]" : "[\(values.count)]"
    case .vector(let values): "vector[\(values.count)]"
    case .map(let fields): fields.isEmpty ? "{}" : "{\(fields.count)}"
    }
  }

  /// Without quotes, for columns where every value is a string.
  static func bare(_ value: Value) -> String {
    if case .string(let text) = value { cut(text) } else { short(value) }
  }

  private static func cut(_ text: String) -> String {
    text.utf8.count <= longest ? text : String(text.prefix(longest))
  }

  private static func double(_ number: Double) -> String {
    if number.isNaN { return "NaN" }
    if number.isInfinite { return number < 0 ? "-Infinity" : "Infinity" }
    return number.description
  }
}
