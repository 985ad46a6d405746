// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

/// A point in time: RFC 3339, or a day, which means its beginning.
package enum InstantText {
  package static func parse(_ text: String) throws(TextError) -> Timestamp {
    if let time = Timestamp(rfc3339: text) ?? Timestamp(rfc3339: text + "T00:00:00Z") { return time }
    throw TextError("Expected a time such as 2026-03-02T11:58:03Z or a day such as 2026-03-02.")
  }
}

/// A moment of the past: a point in time, how long ago it was, as in `-10m`, or `now`.
package enum MomentText {
  /// - Parameter now: by this device's clock.
  package static func parse(_ text: String, now: Timestamp) throws(TextError) -> Timestamp {
    if text == "now" { return now.inMicroseconds }
    // Each form is tried in turn; the error at the end names all of them.
    if let time = try? InstantText.parse(text) { return time.inMicroseconds }
    if text.hasPrefix("-"), let ago = try? DurationText.parse(String(text.dropFirst())) {
      let elapsed = ago.components
      let microseconds = elapsed.seconds * 1_000_000 + elapsed.attoseconds / 1_000_000_000_000
      return Timestamp(microseconds: now.microseconds - microseconds)
    }
    throw TextError("Expected a time such as 2026-03-02T11:58:03Z, so long ago as in -10m, or now.")
  }
}

extension Timestamp {
  /// The moment as precisely as a backend keeps it.
  fileprivate var inMicroseconds: Timestamp { Timestamp(microseconds: microseconds) }
}
