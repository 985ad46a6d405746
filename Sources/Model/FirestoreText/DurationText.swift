// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

/// Parses and writes durations as users type them: `500ms`, `1.5s`, `5m`, `1h30m`. A number without a unit is in
/// seconds.
package enum DurationText {
  private static let units: [(name: String, milliseconds: Double)] = [
    ("h", 3_600_000), ("m", 60_000), ("s", 1000), ("ms", 1),
  ]

  /// Other names of the units. If a user types one of them, the error message suggests the correct unit.
  private static let otherNames = [
    "sec": "s", "secs": "s", "second": "s", "seconds": "s", "min": "m", "mins": "m", "minute": "m", "minutes": "m",
    "hr": "h", "hrs": "h", "hour": "h", "hours": "h", "msec": "ms", "millis": "ms", "milliseconds": "ms",
  ]

  private static let example = "500ms, 5s, 2m or 1h30m"

  /// Parses a duration, which must be greater than zero.
  package static func parse(_ text: String) throws(TextError) -> Duration { try parse(text, longest: nil) }

  /// - Parameter longest: the maximum duration; `nil` for a maximum of about thirty years.
  package static func parse(
    _ text: String, longest: Duration?, allowsZero: Bool = false
  ) throws(TextError) -> Duration {
    var cursor = TextCursor(text)
    var milliseconds = 0.0
    var unitsLeft = units[...]
    repeat {
      let column = cursor.column
      let digits = cursor.take { ("0"..."9").contains($0) || $0 == "." }
      guard let number = Double(digits) else {
        throw TextError(column: column, "Expected a number with a unit, such as \(example).")
      }
      let place = cursor.column
      let name = cursor.take { !("0"..."9").contains($0) && $0 != "." }
      if name.isEmpty, column == 1 {
        milliseconds = number * 1000
        continue
      }
      guard let index = unitsLeft.firstIndex(where: { $0.name == name }) else {
        throw TextError(column: place, objection(to: name, after: digits))
      }
      milliseconds += number * units[index].milliseconds
      unitsLeft = units[(index + 1)...]
    } while !cursor.isAtEnd
    if milliseconds == 0, !allowsZero { throw TextError(column: 1, "Expected a time above zero, such as \(example).") }
    guard milliseconds < 1e12 else { throw TextError(column: 1, "The time is too long.") }
    let duration = Duration.milliseconds(Int64(milliseconds.rounded()))
    if let longest, duration > longest { throw TextError(column: 1, "Expected at most \(self.text(longest)).") }
    return duration
  }

  private static func objection(to name: String, after digits: String) -> String {
    if name.isEmpty { return "\(digits) has no unit. Add h, m, s or ms." }
    if units.contains(where: { $0.name == name }) { return "Write hours before minutes and minutes before seconds." }
    let word = name.trimming().lowercased()
    let unit = otherNames[word] ?? units.first { $0.name == word }?.name
    let near = unit.map { " Did you mean \(digits)\($0)?" } ?? ""
    return "\"\(name)\" is not a unit. Expected h, m, s or ms.\(near)"
  }

  /// The form in which durations are displayed: `200 ms`, `1.5 s`, `5 min`.
  package static func text(_ duration: Duration) -> String {
    let milliseconds = max(0, duration.wholeMicroseconds / 1000)
    if milliseconds < 1000 { return "\(milliseconds) ms" }
    if milliseconds % 1000 > 0 { return "\(Double(milliseconds) / 1000) s" }
    let seconds = milliseconds / 1000
    if seconds % 3600 == 0 { return "\(seconds / 3600) h" }
    return seconds % 60 == 0 ? "\(seconds / 60) min" : "\(seconds) s"
  }
}

/// Parses a point in time: an RFC 3339 time, or a date, which stands for the start of that day.
package enum InstantText {
  package static func parse(_ text: String) throws(TextError) -> Timestamp {
    if let time = Timestamp(rfc3339: text) ?? Timestamp(rfc3339: text + "T00:00:00Z") { return time }
    throw TextError("Expected a time such as 2026-03-02T11:58:03Z or a day such as 2026-03-02.")
  }
}

/// Parses a time: a point in time, an age such as `-10m`, or `now`.
package enum MomentText {
  /// - Parameter now: the current time by this device's clock.
  package static func parse(_ text: String, now: Timestamp) throws(TextError) -> Timestamp {
    if text == "now" { return now.inMicroseconds }
    // Tries each form; the error at the end names all of them.
    if let time = try? InstantText.parse(text) { return time.inMicroseconds }
    if text.hasPrefix("-"), let ago = try? DurationText.parse(String(text.dropFirst())) {
      let elapsed = ago.components
      let microseconds = elapsed.seconds * 1_000_000 + elapsed.attoseconds / 1_000_000_000_000
      return Timestamp(microseconds: now.microseconds - microseconds)
    }
    throw TextError("Expected a time such as 2026-03-02T11:58:03Z, an age such as -10m, or now.")
  }
}

extension Timestamp {
  /// The time rounded down to microseconds, which is the backend's precision.
  fileprivate var inMicroseconds: Timestamp { Timestamp(microseconds: microseconds) }
}
