// SPDX-License-Identifier: Apache-2.0
import FirestoreModel

/// A point in time: RFC 3339, or a day, which means its beginning.
enum InstantText {
  static func parse(_ text: String) throws -> Timestamp {
    if let time = Timestamp(rfc3339: text) ?? Timestamp(rfc3339: text + "T00:00:00Z") { return time }
    throw ArgumentError("Expected a time such as 2026-03-02T11:58:03Z or a day such as 2026-03-02.")
  }
}
