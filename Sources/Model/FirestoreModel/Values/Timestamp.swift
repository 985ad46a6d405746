// SPDX-License-Identifier: Apache-2.0

/// A point in time: seconds since 1970-01-01T00:00:00Z plus 0…999 999 999 nanoseconds. The backend stores microseconds.
package struct Timestamp: Hashable, Comparable, Sendable {
  package var seconds: Int64
  package var nanoseconds: Int32

  package init(seconds: Int64, nanoseconds: Int32 = 0) {
    self.seconds = seconds
    self.nanoseconds = nanoseconds
  }

  /// Creates a time from microseconds.
  /// - Parameter microseconds: the microseconds since the epoch; may be negative.
  package init(microseconds: Int64) {
    let (quotient, remainder) = microseconds.quotientAndRemainder(dividingBy: 1_000_000)
    let borrows = remainder < 0
    seconds = borrows ? quotient - 1 : quotient
    nanoseconds = Int32(borrows ? remainder + 1_000_000 : remainder) * 1000
  }

  /// The microseconds since the epoch, rounded down.
  package var microseconds: Int64 { seconds &* 1_000_000 &+ Int64(nanoseconds / 1000) }

  package static func < (left: Timestamp, right: Timestamp) -> Bool {
    (left.seconds, left.nanoseconds) < (right.seconds, right.nanoseconds)
  }

  /// Adds a duration. The result has microsecond precision.
  package static func + (time: Timestamp, delay: Duration) -> Timestamp {
    Timestamp(microseconds: time.microseconds &+ delay.wholeMicroseconds)
  }

  /// The duration between two times, with microsecond precision.
  package static func - (left: Timestamp, right: Timestamp) -> Duration {
    let (difference, overflow) = left.microseconds.subtractingReportingOverflow(right.microseconds)
    return .microseconds(overflow ? (left > right ? .max : .min) : difference)
  }
}

/// The version of a document or of a whole snapshot: a commit time of the backend. A missing version is represented by
/// `nil`, not by a special "minimum" version.
package struct SnapshotVersion: Hashable, Comparable, Sendable {
  package var timestamp: Timestamp

  package init(_ timestamp: Timestamp) { self.timestamp = timestamp }
  package init(microseconds: Int64) { timestamp = Timestamp(microseconds: microseconds) }

  package var microseconds: Int64 { timestamp.microseconds }

  package static func < (left: SnapshotVersion, right: SnapshotVersion) -> Bool { left.timestamp < right.timestamp }
}

extension Timestamp {
  /// The earliest valid time, 0001-01-01T00:00:00Z.
  package static let earliest = Timestamp(seconds: -62_135_596_800)
  /// The latest valid time, 9999-12-31T23:59:59.999999999Z.
  package static let latest = Timestamp(seconds: 253_402_300_799, nanoseconds: 999_999_999)

  /// Whether Firestore supports the time. Writes and queries with other times are rejected. Such times can still be
  /// compared and shown, because older data may contain them.
  package var isValid: Bool {
    (0..<1_000_000_000).contains(nanoseconds) && self >= .earliest && self <= .latest
  }

  /// The error message for an invalid time.
  package var objection: String {
    "Timestamp (seconds: \(seconds), nanos: \(nanoseconds)) is outside of 0001-01-01T00:00:00Z to "
      + "9999-12-31T23:59:59.999999999Z."
  }
}

extension Value {
  /// The first time in the value, at any nesting depth, that Firestore does not support; `nil` if there is none.
  package var invalidTimestamp: Timestamp? {
    switch self {
    case .timestamp(let time): time.isValid ? nil : time
    case .array(let elements): elements.lazy.compactMap(\.invalidTimestamp).first
    case .map(let fields): fields.entries.lazy.compactMap(\.value.invalidTimestamp).first
    default: nil
    }
  }
}

extension Timestamp {
  /// The RFC 3339 text in UTC, such as `2026-03-02T11:58:03.120Z`. The fraction has 0, 3, 6 or 9 digits, as necessary.
  package var rfc3339Text: String {
    let (days, secondOfDay) = seconds.flooredQuotientAndRemainder(dividingBy: 86_400)
    let (year, month, day) = Self.civilDate(daysSinceEpoch: days)
    let date = "\(Self.padded(year, 4))-\(Self.padded(month, 2))-\(Self.padded(day, 2))"
    let time = [secondOfDay / 3600, secondOfDay / 60 % 60, secondOfDay % 60].map { Self.padded($0, 2) }
    return "\(date)T\(time.joined(separator: ":"))\(fractionText)Z"
  }

  private var fractionText: String {
    if nanoseconds == 0 { return "" }
    if nanoseconds % 1_000_000 == 0 { return "." + Self.padded(Int64(nanoseconds / 1_000_000), 3) }
    if nanoseconds % 1000 == 0 { return "." + Self.padded(Int64(nanoseconds / 1000), 6) }
    return "." + Self.padded(Int64(nanoseconds), 9)
  }

  /// Parses a time in RFC 3339 form: a full date and time, a fraction of up to nine digits, and `Z` or an offset such
  /// as `+01:00`.
  /// - Returns: `nil` if the text has another form, if the date does not exist, or if the second is a leap second.
  package init?(rfc3339 text: String) {
    var scanner = DigitScanner(text)
    guard let year = scanner.number(digits: 4), scanner.take("-"), let month = scanner.number(digits: 2),
      scanner.take("-"), let day = scanner.number(digits: 2), scanner.take("T") || scanner.take("t"),
      let hour = scanner.number(digits: 2), scanner.take(":"), let minute = scanner.number(digits: 2),
      scanner.take(":"), let second = scanner.number(digits: 2),
      hour < 24, minute < 60, second < 60, year >= 1, (1...12).contains(month),
      day >= 1, day <= Self.days(inMonth: month, of: year)
    else { return nil }
    var fraction: Int64 = 0
    if scanner.take(".") {
      guard let nanoseconds = scanner.fraction() else { return nil }
      fraction = nanoseconds
    }
    guard let offset = scanner.offset(), scanner.isAtEnd else { return nil }

    let days = Self.daysSinceEpoch(year: year, month: month, day: day)
    self.init(
      seconds: days * 86_400 + hour * 3600 + minute * 60 + second - offset, nanoseconds: Int32(fraction))
  }

  private static func padded(_ number: Int64, _ width: Int) -> String {
    let digits = String(number.magnitude)
    let zeros = String(repeating: "0", count: Swift.max(0, width - digits.utf8.count))
    return (number < 0 ? "-" : "") + zeros + digits
  }

  /// The number of days in a month.
  /// - Parameter month: the number of the month, 1 to 12.
  package static func days(inMonth month: Int64, of year: Int64) -> Int64 {
    switch month {
    case 4, 6, 9, 11: 30
    case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
    default: 31
    }
  }

  /// The days since 1970-01-01 in the proleptic Gregorian calendar. For the calculation, a year starts in March, so
  /// that the leap day is its last day. The calculation counts in cycles of 400 years, each of which has 146 097 days.
  package static func daysSinceEpoch(year: Int64, month: Int64, day: Int64) -> Int64 {
    let (cycle, yearOfCycle) = (month <= 2 ? year - 1 : year).flooredQuotientAndRemainder(dividingBy: 400)
    let monthFromMarch = (month + 9) % 12
    let dayOfYear = (153 * monthFromMarch + 2) / 5 + day - 1
    let dayOfCycle = yearOfCycle * 365 + yearOfCycle / 4 - yearOfCycle / 100 + dayOfYear
    return cycle * 146_097 + dayOfCycle - daysFromMarchOfYear0ToEpoch
  }

  /// The date in the proleptic Gregorian calendar. Months and days start at 1.
  package static func civilDate(daysSinceEpoch days: Int64) -> (year: Int64, month: Int64, day: Int64) {
    let (cycle, dayOfCycle) = (days + daysFromMarchOfYear0ToEpoch).flooredQuotientAndRemainder(dividingBy: 146_097)
    let yearOfCycle = (dayOfCycle - dayOfCycle / 1460 + dayOfCycle / 36_524 - dayOfCycle / 146_096) / 365
    let dayOfYear = dayOfCycle - (365 * yearOfCycle + yearOfCycle / 4 - yearOfCycle / 100)
    let monthFromMarch = (5 * dayOfYear + 2) / 153
    let day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
    let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
    return (cycle * 400 + yearOfCycle + (month <= 2 ? 1 : 0), month, day)
  }

  private static let daysFromMarchOfYear0ToEpoch: Int64 = 719_468
}

extension Int64 {
  /// The quotient, rounded down, and the remainder, which has the same sign as the divisor.
  package func flooredQuotientAndRemainder(dividingBy divisor: Int64) -> (Int64, Int64) {
    let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
    return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
  }
}

/// Reads a text that consists of digits and single separators.
private struct DigitScanner {
  private var rest: Substring.UTF8View

  init(_ text: String) { rest = text[...].utf8 }

  var isAtEnd: Bool { rest.isEmpty }

  mutating func take(_ separator: Unicode.Scalar) -> Bool {
    guard let byte = rest.first, UInt32(byte) == separator.value else { return false }
    rest.removeFirst()
    return true
  }

  private mutating func digit() -> Int64? {
    guard let byte = rest.first, case 48...57 = byte else { return nil }
    rest.removeFirst()
    return Int64(byte - 48)
  }

  mutating func number(digits: Int) -> Int64? {
    var number: Int64 = 0
    for _ in 0..<digits {
      guard let digit = digit() else { return nil }
      number = number * 10 + digit
    }
    return number
  }

  /// Reads a fraction of a second with one to nine digits, and returns it in nanoseconds.
  mutating func fraction() -> Int64? {
    var nanoseconds: Int64 = 0
    var scale: Int64 = 1_000_000_000
    while let digit = digit() {
      guard scale > 1 else { return nil }
      scale /= 10
      nanoseconds += digit * scale
    }
    return scale == 1_000_000_000 ? nil : nanoseconds
  }

  /// Reads an offset, and returns it in seconds east of UTC.
  mutating func offset() -> Int64? {
    if take("Z") || take("z") { return 0 }
    let sign: Int64
    if take("+") { sign = 1 } else if take("-") { sign = -1 } else { return nil }
    guard let hours = number(digits: 2), take(":"), let minutes = number(digits: 2), hours < 24, minutes < 60 else {
      return nil
    }
    return sign * (hours * 3600 + minutes * 60)
  }
}

extension Duration {
  /// The number of whole microseconds. It is clamped to 64 bits, because a duration from another program may exceed
  /// them.
  package var wholeMicroseconds: Int64 {
    // The limit prevents the product from overflowing 64 bits.
    let longest = Duration.seconds(9_000_000_000_000)
    if self > longest { return .max }
    if self < .zero - longest { return .min }
    let (seconds, attoseconds) = components
    return seconds * 1_000_000 + attoseconds / 1_000_000_000_000
  }
}
