// SPDX-License-Identifier: Apache-2.0
import FirestoreJSON
import FirestoreModel

/// Values as typed into a filter or a listener: quotes are optional around strings that look like nothing else.
enum TypedValue {
  /// What a filter compares with: a scalar, or a moment as `2026-03-02T11:58:00Z`.
  static func comparable(_ text: String) -> Value { Timestamp(rfc3339: text).map(Value.timestamp) ?? scalar(text) }

  /// `true`, `null`, `42`, `4.2`, `"text"`, or text.
  static func scalar(_ text: String) -> Value {
    switch text {
    case "null": return .null
    case "true": return .boolean(true)
    case "false": return .boolean(false)
    case "NaN": return .double(.nan)
    default: break
    }
    if let number = Int64(text) { return .integer(number) }
    if let first = text.unicodeScalars.first, "-+.0123456789".unicodeScalars.contains(first), let number = Double(text)
    {
      return .double(number)
    }
    if text.count >= 2, text.hasPrefix("\""), text.hasSuffix("\"") {
      return .string(String(text.dropFirst().dropLast()))
    }
    return .string(text)
  }

  /// What has to be typed for `any` to read the value.
  static func text(of value: Value) -> String {
    switch value {
    case .null: return "null"
    case .boolean(let flag): return flag ? "true" : "false"
    case .integer(let number): return "\(number)"
    case .double(let number): return number.isNaN ? "NaN" : number == .infinity ? "+inf" : "\(number)"
    case .string(let text):
      let isPlain = !text.hasPrefix("[") && !text.hasPrefix("{") && scalar(text) == value
      return isPlain ? text : "\"\(text)\""
    default: return DocumentJSON.line(of: value)
    }
  }

  /// Any value: an array or object is read as JSON with `$` objects, everything else as `scalar`.
  static func any(_ text: String, database: DatabaseID) throws(JSONError) -> Value {
    guard text.hasPrefix("[") || text.hasPrefix("{") else { return scalar(text) }
    let parsed = try DocumentJSON.parse("{\"value\": \(text)}", database: database)
    return parsed.fields["value"] ?? .null
  }
}
