// SPDX-License-Identifier: Apache-2.0

/// Decides how much work fits into one slice of a long task, on any machine and disk. A slice works until its working
/// time is over, and then commits. The pacer estimates the duration of the commit from earlier slices, and reserves
/// this time.
package struct SlicePacer: Sendable {
  /// The intended duration of a slice. Other work may have to wait up to 10 ms. The intended duration is shorter,
  /// because the last piece of work may take longer.
  static let aim = Duration.milliseconds(6)
  private static let shortest = Duration.milliseconds(1)

  /// Returns the time since a fixed point, from a monotonic clock.
  private let now: @Sendable () -> Duration
  /// The working time of a slice before its commit, measured separately for slices that only read and for slices that
  /// write.
  private var readingTime = Duration.milliseconds(2)
  private var writingTime = Duration.milliseconds(1)
  private var isWriting = false
  private var start = Duration.zero
  private var workEnd: Duration?
  /// The number of pieces of work in each slice; `nil` if slices are limited by time.
  private var piecesPerSlice: Int?
  private var pieces = 0

  package init(now: @escaping @Sendable () -> Duration) { self.now = now }

  /// A pacer that uses the machine's clock.
  package static var continuous: SlicePacer {
    let clock = ContinuousClock()
    let origin = clock.now
    return SlicePacer { origin.duration(to: clock.now) }
  }

  /// A pacer that ends each slice after a fixed number of pieces, regardless of time, so that runs are reproducible.
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

  /// Ends the slice, and adjusts the working time of the next slice.
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

/// Decides when a long task writes the write-ahead log back into the database file (a checkpoint). A checkpoint cannot
/// be interrupted, so the log must stay small enough that each checkpoint takes no longer than a slice. The allowed
/// size is estimated from the durations of earlier checkpoints on this disk.
struct LogPacer: Sendable {
  private static let smallest: Int64 = 1 << 20
  /// The largest threshold in bytes. It is smaller than the log size at which SQLite writes the log back automatically
  /// during a commit.
  private static let largest: Int64 = 8 << 20

  /// The minimum size of the log, in bytes, for writing it back.
  private(set) var dueBytes: Int64 = 2 << 20
  /// Whether the last slice wrote the log back. If so, the next slice does other work, regardless of the size of the
  /// log.
  private var wasLast = false

  /// Whether the next slice must write back the log, which has this size, instead of doing other work.
  mutating func isDue(at bytes: Int64) -> Bool {
    if bytes >= dueBytes, !wasLast { return true }
    wasLast = false
    return false
  }

  /// Adjusts the threshold to the time that writing this much of the log back took.
  mutating func wroteBack(_ bytes: Int64, in time: Duration) {
    wasLast = true
    guard time > .zero, bytes > 0 else { return }
    let fitting = Double(bytes) * (SlicePacer.aim / time)
    dueBytes = min(max(Int64(min(fitting, Double(Self.largest))), Self.smallest), Self.largest, dueBytes * 2)
  }
}
