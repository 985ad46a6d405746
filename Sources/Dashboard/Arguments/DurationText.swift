// SPDX-License-Identifier: Apache-2.0

/// Durations as people type them: `200ms`, `1.5s`, `5m`, `1h`.
enum DurationText {
  private static let units: [(name: String, milliseconds: Double)] = [
    ("ms", 1), ("s", 1000), ("m", 60_000), ("h", 3_600_000),
  ]

  /// - Parameter longest: no longer than this.
  static func read(_ text: String, longest: Duration) throws(TextError) -> Duration {
    let number = text.prefix { $0.isNumber || $0 == "." }
    let unit = text.dropFirst(number.count)
    guard let count = Double(number), count >= 0 else {
      throw TextError(column: 1, reason: "a duration begins with a number: 30s, 200ms, 5m")
    }
    guard let factor = units.first(where: { $0.name == unit })?.milliseconds else {
      let reason = unit.isEmpty ? "\(number) of what? \(number)s, \(number)m" : "\(unit) is no unit: ms, s, m, h"
      throw TextError(column: number.count + 1, reason: reason)
    }
    let milliseconds = count * factor
    guard milliseconds <= Double(TimeText.wholeMilliseconds(longest)) else {
      throw TextError(column: 1, reason: "at most \(Self.text(longest))")
    }
    return .milliseconds(Int64(milliseconds))
  }

  /// `200 ms`, `1.5 s`, `5 min`.
  static func text(_ duration: Duration) -> String {
    let milliseconds = TimeText.wholeMilliseconds(duration)
    if milliseconds < 1000 { return "\(milliseconds) ms" }
    if milliseconds % 1000 > 0 { return "\(Double(milliseconds) / 1000) s" }
    let seconds = milliseconds / 1000
    if seconds % 3600 == 0 { return "\(seconds / 3600) h" }
    return seconds % 60 == 0 ? "\(seconds / 60) min" : "\(seconds) s"
  }
}
