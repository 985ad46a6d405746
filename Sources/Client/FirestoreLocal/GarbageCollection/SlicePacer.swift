// SPDX-License-Identifier: Apache-2.0

/// Decides how much work fits into one slice of long work, on any machine and disk: a slice works until its time is
/// over and leaves the rest for the commit at its end, whose share it learns from the slices before.
package struct SlicePacer: Sendable {
  /// The time that a slice aims to take altogether. Anything else may have to wait ten milliseconds; the rest of these
  /// is for the last piece of work before the clock is looked at.
  static let aim = Duration.milliseconds(6)
  private static let shortest = Duration.milliseconds(1)

  /// The time since some fixed point, by a clock that never goes back.
  private let now: @Sendable () -> Duration
  /// The time that a slice may work before its commit: a slice that only reads, and one that has changes to commit.
  private var readingTime = Duration.milliseconds(2)
  private var writingTime = Duration.milliseconds(1)
  private var isWriting = false
  private var start = Duration.zero
  private var workEnd: Duration?
  /// The number of pieces after which a slice is over, instead of a time.
  private var piecesPerSlice: Int?
  private var pieces = 0

  package init(now: @escaping @Sendable () -> Duration) { self.now = now }

  /// A pacer by the machine's clock.
  package static var continuous: SlicePacer {
    let clock = ContinuousClock()
    let origin = clock.now
    return SlicePacer { origin.duration(to: clock.now) }
  }

  /// Slices of this many pieces of work however long they take, for runs that have to be repeatable.
  package static func pieces(_ count: Int) -> SlicePacer {
    var pacer = SlicePacer { .zero }
    pacer.piecesPerSlice = count
    return pacer
  }

  /// - Parameter isWriting: whether the slice has more to commit than it has read.
  mutating func begin(isWriting: Bool) {
    self.isWriting = isWriting
    pieces = 0
    start = now()
    workEnd = nil
  }

  /// Counts a piece of work that is done.
  /// - Returns: whether the work of this slice has taken its time.
  mutating func isOver() -> Bool {
    pieces += 1
    if let piecesPerSlice { return pieces >= piecesPerSlice }
    return now() - start >= workingTime
  }

  private var workingTime: Duration {
    get { isWriting ? writingTime : readingTime }
    set { if isWriting { writingTime = newValue } else { readingTime = newValue } }
  }

  /// The time that the slice has taken so far.
  var elapsed: Duration { now() - start }

  /// Notes that only the end of the slice is left to do.
  mutating func endWork() { workEnd = now() }

  /// Ends the slice. Its time tells how long the next may work.
  mutating func end() {
    guard let workEnd else { return }
    let work = max(workEnd - start, .microseconds(100))
    let share = work / max(now() - start, work)
    let fitting = min(max(Self.aim * share, Self.shortest), Self.aim)
    // One slice alone is not believed: another process may have had the processor meanwhile.
    workingTime = min(max(fitting, workingTime / 2), workingTime * 1.5)
  }
}

/// Decides when long work writes the log back into the database file, which nothing can interrupt: so often that it
/// takes no longer than a slice on any disk, judged by the times before.
struct LogPacer: Sendable {
  private static let smallest: Int64 = 1 << 20
  /// The largest size that may be due, below the size at which a commit writes the log back by itself.
  private static let largest: Int64 = 8 << 20

  /// The size from which on the log is written back.
  private(set) var dueBytes: Int64 = 2 << 20
  /// Whether the last slice wrote the log back, so that the next one is for the work whatever the log's size.
  private var wasLast = false

  /// Whether the next slice has to write back a log of this size; otherwise it is for the work.
  mutating func isDue(at bytes: Int64) -> Bool {
    if bytes >= dueBytes, !wasLast { return true }
    wasLast = false
    return false
  }

  /// Notes that a slice wrote the log back, and learns from the time that it took.
  mutating func wroteBack(_ bytes: Int64, in time: Duration) {
    wasLast = true
    guard time > .zero, bytes > 0 else { return }
    let fitting = Double(bytes) * (SlicePacer.aim / time)
    dueBytes = min(max(Int64(min(fitting, Double(Self.largest))), Self.smallest), Self.largest, dueBytes * 2)
  }
}
