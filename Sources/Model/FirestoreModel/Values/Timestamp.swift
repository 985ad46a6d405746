// SPDX-License-Identifier: Apache-2.0

/// A point in time: seconds since 1970-01-01T00:00:00Z and 0…999 999 999 nanoseconds after them.
/// The backend keeps microseconds.
package struct Timestamp: Hashable, Comparable, Sendable {
  package var seconds: Int64
  package var nanoseconds: Int32

  package init(seconds: Int64, nanoseconds: Int32 = 0) {
    self.seconds = seconds
    self.nanoseconds = nanoseconds
  }

  /// Makes a time of microseconds.
  /// - Parameter microseconds: since the epoch; may be negative.
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

  /// Calculates to the microsecond.
  package static func + (time: Timestamp, delay: Duration) -> Timestamp {
    Timestamp(microseconds: time.microseconds &+ delay.wholeMicroseconds)
  }

  /// Calculates to the microsecond.
  package static func - (left: Timestamp, right: Timestamp) -> Duration {
    let (difference, overflow) = left.microseconds.subtractingReportingOverflow(right.microseconds)
    return .microseconds(overflow ? (left > right ? .max : .min) : difference)
  }
}

/// The version of a document or of a whole snapshot: a commit time of the backend.
/// There is no "minimum" sentinel; a thing without a version has `nil`.
package struct SnapshotVersion: Hashable, Comparable, Sendable {
  package var timestamp: Timestamp

  package init(_ timestamp: Timestamp) { self.timestamp = timestamp }
  package init(microseconds: Int64) { timestamp = Timestamp(microseconds: microseconds) }

  package var microseconds: Int64 { timestamp.microseconds }

  package static func < (left: SnapshotVersion, right: SnapshotVersion) -> Bool { left.timestamp < right.timestamp }
}

extension Timestamp {
  /// 0001-01-01T00:00:00Z.
  package static let earliest = Timestamp(seconds: -62_135_596_800)
  /// 9999-12-31T23:59:59.999999999Z.
  package static let latest = Timestamp(seconds: 253_402_300_799, nanoseconds: 999_999_999)

  /// Whether Firestore knows the time. Any other can be compared and shown, since older data may hold one, and is
  /// refused when it is stored or asked for.
  package var isValid: Bool {
    (0..<1_000_000_000).contains(nanoseconds) && self >= .earliest && self <= .latest
  }

  /// The reason for the refusal of a time that is not valid.
  package var objection: String {
    "Timestamp (seconds: \(seconds), nanos: \(nanoseconds)) is outside of 0001-01-01T00:00:00Z to "
      + "9999-12-31T23:59:59.999999999Z."
  }
}

extension Value {
  /// The first time in the value, at any depth, that Firestore does not know; `nil` if there is none.
  package var invalidTimestamp: Timestamp? {
    switch self {
    case .timestamp(let time): time.isValid ? nil : time
    case .array(let elements): elements.lazy.compactMap(\.invalidTimestamp).first
    case .map(let fields): fields.entries.lazy.compactMap(\.value.invalidTimestamp).first
    default: nil
    }
  }
}
