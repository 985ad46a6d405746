// SPDX-License-Identifier: Apache-2.0

/// Decides how much work fits into one slice of a long task, on any machine and disk. A slice works until its working
/// time is over. The remaining time is left for the commit. The pacer estimates how long the commit takes from earlier
/// slices.
package struct SlicePacer: Sendable {
  /// The intended duration of a slice. Other work may have to wait up to 10 ms. This duration is shorter, because the
  /// last piece of work may end after it.
  static let aim = Duration.milliseconds(6)
  private static let shortest = Duration.milliseconds(1)

  /// The time since a fixed point, on a monotonic clock.
  private let now: @Sendable () -> Duration
  /// The working time of a slice before its commit, measured separately for slices that only read and for slices that
  /// write.
  private var readingTime = Duration.milliseconds(2)
  private var writingTime = Duration.milliseconds(1)
  private var isWriting = false
  private var start = Duration.zero
  private var workEnd: Duration?
  /// The number of pieces in a slice; `nil` if time ends each slice.
  private var piecesPerSlice: Int?
  private var pieces = 0

  package init(now: @escaping @Sendable () -> Duration) { self.now = now }

  /// A pacer that uses the machine's clock.
  package static var continuous: SlicePacer {
    let clock = ContinuousClock()
    let origin = clock.now
    return SlicePacer { origin.duration(to: clock.now) }
  }

  /// A pacer whose slices have a fixed number of pieces regardless of time, so that runs are reproducible.
  package static func pieces(_ count: Int) -> SlicePacer {
    var pacer = SlicePacer { .zero }
    pacer.piecesPerSlice = count
    return pacer
  }

  /// - Parameter isWriting: whether the slice mainly writes.
  mutating func begin(isWriting: Bool) {
    self.isWriting = isWriting
    pieces = 0
    start = now()
    workEnd = nil
  }

  /// Counts a completed piece of work.
  /// - Returns: whether the slice's working time is over.
  mutating func isOver() -> Bool {
    pieces += 1
    if let piecesPerSlice { return pieces >= piecesPerSlice }
    return now() - start >= workingTime
  }

  private var workingTime: Duration {
    get { isWriting ? writingTime : readingTime }
    set { if isWriting { writingTime = newValue } else { readingTime = newValue } }
  }

  /// The time since the slice began.
  var elapsed: Duration { now() - start }

  /// Records the end of the work. Only the commit remains.
  mutating func endWork() { workEnd = now() }

  /// Ends the slice and adjusts the working time of the next one.
  mutating func end() {
    guard let workEnd else { return }
    let work = max(workEnd - start, .microseconds(100))
    let share = work / max(now() - start, work)
    let fitting = min(max(Self.aim * share, Self.shortest), Self.aim)
    // Limits the change, because a single slice may be misleading: another process may have used the processor
    // meanwhile.
    workingTime = min(max(fitting, workingTime / 2), workingTime * 1.5)
  }
}

/// Decides when a long task writes the log back into the database file. Writing back cannot be interrupted. The task
/// must therefore write back often enough that each time takes no longer than a slice. Earlier durations on this disk
/// show how much log fits into that time.
struct LogPacer: Sendable {
  private static let smallest: Int64 = 1 << 20
  /// The largest threshold. It is smaller than the log size at which commits write the log back automatically.
  private static let largest: Int64 = 8 << 20

  /// The minimum log size for writing the log back.
  private(set) var dueBytes: Int64 = 2 << 20
  /// Whether the last slice wrote the log back. If so, the next slice works regardless of the log's size.
  private var wasLast = false

  /// Whether the next slice, instead of doing work, must write back a log of this size.
  mutating func isDue(at bytes: Int64) -> Bool {
    if bytes >= dueBytes, !wasLast { return true }
    wasLast = false
    return false
  }

  /// Adjusts the threshold to the time that a slice took to write the log back.
  mutating func wroteBack(_ bytes: Int64, in time: Duration) {
    wasLast = true
    guard time > .zero, bytes > 0 else { return }
    let fitting = Double(bytes) * (SlicePacer.aim / time)
    dueBytes = min(max(Int64(min(fitting, Double(Self.largest))), Self.smallest), Self.largest, dueBytes * 2)
  }
}
