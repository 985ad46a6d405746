// SPDX-License-Identifier: Apache-2.0
import FirestoreJSON
package import FirestoreModel
import TerminalCanvas

/// A value on one line. It is short enough for a row, so it is often truncated. `DocumentJSON` writes the whole value.
package enum ValueText {
  /// The length to which strings are cut first. Rows are not wider than this.
  private static let longest = 250

  package static func short(_ value: Value) -> String {
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

  /// The maximum size in bytes of bytes values and vectors that are shown in full.
  private static let mostBytes = 24
  private static let mostElements = 4

  /// A value in a line of an open document. Short bytes values are shown as base64, and short vectors with their
  /// numbers.
  package static func readable(_ value: Value) -> String {
    switch value {
    case .bytes(let bytes) where bytes.count <= mostBytes: full(value) ?? short(value)
    case .vector(let elements) where elements.count <= mostElements: full(value) ?? short(value)
    default: short(value)
    }
  }

  /// The whole value, if its line shows only its size: bytes as base64, or the numbers of a vector. `nil` for other
  /// values.
  package static func full(_ value: Value) -> String? {
    switch value {
    case .bytes(let bytes): bytes.isEmpty ? nil : "base64 \(Base64.encode(bytes))"
    case .vector(let elements): "vector[\(elements.map(double).joined(separator: ", "))]"
    default: nil
    }
  }

  /// The value without quotes, for columns that contain only strings.
  package static func bare(_ value: Value) -> String {
    if case .string(let text) = value { cut(text) } else { short(value) }
  }

  /// The value with the contents of arrays and maps, if they are short enough: `[1, 2]`, `{city "Gent", zip 9000}`.
  /// Longer values are shown as in `short`.
  /// - Parameter limit: the maximum length of shown contents in characters.
  package static func open(_ value: Value, limit: Int) -> String {
    contents(value, limit: limit).flatMap { $0.count <= limit ? $0 : nil } ?? short(value)
  }

  /// - Returns: `nil` for values that are not arrays or maps, and for contents that are too long.
  private static func contents(_ value: Value, limit: Int) -> String? {
    // Each element takes at least three characters.
    switch value {
    case .array(let values) where !values.isEmpty && values.count * 3 <= limit:
      "[" + values.map { open($0, limit: limit) }.joined(separator: ", ") + "]"
    case .map(let fields) where !fields.isEmpty && fields.count * 3 <= limit:
      "{" + fields.entries.map { "\($0.name) \(open($0.value, limit: limit))" }.joined(separator: ", ") + "}"
    default: nil
    }
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

/// Sizes as readable text. Units are powers of 1 024, as in the SDK's limit of 100 MB for the cache.
package enum ByteText {
  /// A size such as `512 B`, `1.2 kB`, `34 MB`. From a kilobyte upward, it has at least two digits. It has at most 6
  /// columns.
  package static func short(_ count: Int) -> String {
    var value = Double(max(0, count))
    var unit = 0
    let units = ["B", "kB", "MB", "GB", "TB"]
    while value >= 999.5, unit < units.count - 1 {
      value /= 1024
      unit += 1
    }
    let isFine = unit > 0 && value < 9.95
    let tenths = Int((value * 10).rounded())
    return isFine ? "\(tenths / 10).\(tenths % 10) \(units[unit])" : "\(Int(value.rounded())) \(units[unit])"
  }
}

/// A value in a column of a list, without quotes. Times are shown to the second.
package enum ColumnText {
  package static func text(of value: Value) -> String {
    switch value {
    case .timestamp(let time): String(TimeText.date(time).prefix(19))
    case .serverTimestamp: "pending"
    default: ValueText.bare(value)
    }
  }

  /// The width of a column of times: `12:04:17` for today, `2026-03-02` for earlier days.
  private static let timeWidth = 10

  /// The text in a column of a given width. Arrays and maps are expanded if they fit. A time in a narrow column is the
  /// time of day if it is today, otherwise the date. Both are in UTC.
  package static func text(of value: Value, width: Int, now: Timestamp) -> String {
    switch value {
    case .array, .map: return ValueText.open(value, limit: width)
    case .timestamp(let time):
      let whole = text(of: value)
      if width >= whole.count { return whole }
      if TimeText.isSameDay(time, now, offset: 0) { return String(whole.suffix(8)) }
      return String(width >= timeWidth ? whole.prefix(timeWidth) : whole.prefix(timeWidth).suffix(5))
    default: return text(of: value)
    }
  }

  /// The width that the value needs in a column, up to a limit.
  package static func width(of value: Value, limit: Int) -> Int {
    switch value {
    case .array, .map: min(limit, SafeText.columns(of: ValueText.open(value, limit: limit)))
    case .timestamp: min(limit, timeWidth)
    default: min(limit, SafeText.columns(of: text(of: value)))
    }
  }

  package static func columns(of text: String) -> Int { SafeText.columns(of: text) }
}
