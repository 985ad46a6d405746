// SPDX-License-Identifier: Apache-2.0
import FirestoreModel

/// What a commit's server timestamps (REQUEST_TIME) become, all of them the same.
///
/// They are strictly increasing over a database's commits, across restarts, and never after the commit's own time,
/// which is the version and update time of what it wrote. As at the real backend it is the commit's time cut to
/// milliseconds. Where that was given before, because several commits fell into one millisecond, it is the commit's
/// time itself, to the microsecond; so a burst of commits does not run away from the clock.
enum ServerTimestamp {
  /// - Parameters:
  ///   - version: of the commit, in microseconds.
  ///   - last: the last server timestamp that was given, or something between it and the version.
  static func of(_ version: Int64, after last: Int64) -> Timestamp {
    let time = Timestamp(microseconds: version)
    let cut = Timestamp(seconds: time.seconds, nanoseconds: time.nanoseconds / 1_000_000 * 1_000_000)
    return cut.microseconds > last ? cut : time
  }
}
