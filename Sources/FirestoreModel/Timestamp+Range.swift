// SPDX-License-Identifier: Apache-2.0

extension Timestamp {
  /// 0001-01-01T00:00:00Z.
  package static let earliest = Timestamp(seconds: -62_135_596_800)
  /// 9999-12-31T23:59:59.999999999Z.
  package static let latest = Timestamp(seconds: 253_402_300_799, nanoseconds: 999_999_999)

  /// Whether it is a time that Firestore knows. Any other can be compared and shown, since older data may hold one, and
  /// is refused where it would be stored or asked for.
  package var isValid: Bool {
    (0..<1_000_000_000).contains(nanoseconds) && self >= .earliest && self <= .latest
  }

  /// Why it is refused when it is not valid.
  package var objection: String {
    "Timestamp (seconds: \(seconds), nanos: \(nanoseconds)) is outside of 0001-01-01T00:00:00Z to "
      + "9999-12-31T23:59:59.999999999Z."
  }
}

extension Value {
  /// The first time in it, at any depth, that Firestore does not know.
  package var invalidTimestamp: Timestamp? {
    switch self {
    case .timestamp(let time): time.isValid ? nil : time
    case .array(let elements): elements.lazy.compactMap(\.invalidTimestamp).first
    case .map(let fields): fields.entries.lazy.compactMap(\.value.invalidTimestamp).first
    default: nil
    }
  }
}
