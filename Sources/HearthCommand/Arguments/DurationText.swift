// SPDX-License-Identifier: Apache-2.0

/// `500ms`, `5s`, `2m`, `1h`; a number alone counts seconds.
enum DurationText {
  static func parse(_ text: String) throws -> Duration {
    let digits = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
    let unit = text.dropFirst(digits.count)
    let seconds: Double? =
      switch unit {
      case "ms": 0.001
      case "", "s": 1
      case "m": 60
      case "h": 3600
      default: nil
      }
    guard let number = Double(digits), let seconds, number > 0, number * seconds < 1e9 else {
      throw ArgumentError("Expected a time such as 500ms, 5s or 2m.")
    }
    return .milliseconds(Int64((number * seconds * 1000).rounded()))
  }
}
