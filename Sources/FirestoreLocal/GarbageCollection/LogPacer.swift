// SPDX-License-Identifier: Apache-2.0

/// Decides when long work brings the log back into the database file, which nothing can interrupt: so often that it
/// takes no longer than a slice, on whatever disk, which the times before tell.
struct LogPacer: Sendable {
  private static let smallest: Int64 = 1 << 20
  /// Below what makes a commit do it by itself.
  private static let largest: Int64 = 8 << 20

  /// A log of this size is due.
  private(set) var dueBytes: Int64 = 2 << 20
  /// The last slice did it, so that the next one is for the work whatever the log's size.
  var wasLast = false

  /// The log had this size, and took this long.
  mutating func took(_ time: Duration, for bytes: Int64) {
    guard time > .zero, bytes > 0 else { return }
    let fitting = Double(bytes) * (SlicePacer.aim / time)
    dueBytes = min(max(Int64(min(fitting, Double(Self.largest))), Self.smallest), Self.largest, dueBytes * 2)
  }
}
