// SPDX-License-Identifier: Apache-2.0
import CommandOutput
import Glibc

/// The progress of long work: documents, rate and time left, on one line of standard error that is overwritten, if that
/// is a terminal.
package struct TransferProgress {
  private static let interval = Duration.milliseconds(100)

  /// The progress of an earlier run that the work continues, which took none of this run's time.
  package struct Start: Hashable {
    package var documents = 0
    package var fraction = 0.0
  }

  private let isShown: Bool
  private let first: Start
  private let start = ContinuousClock.now
  private var lastShown: ContinuousClock.Instant?
  private var hasLine = false
  private let interruption: InterruptionNote?

  /// - Parameter interruption: makes the message for a number of documents when a signal ends the work; `nil` for work
  ///   that leaves nothing.
  package init(isQuiet: Bool, from first: Start = Start(), interruption: (@Sendable (Int) -> String)? = nil) {
    isShown = !isQuiet && isatty(STDERR_FILENO) == 1
    self.first = first
    self.interruption = interruption.map(InterruptionNote.init)
  }

  package var elapsed: Duration { .now - start }

  /// - Parameter fraction: the part of the work that is done; `nil` if its whole extent is not known.
  package mutating func show(_ documents: Int, fraction: Double? = nil) {
    interruption?.note(documents)
    guard isShown else { return }
    let now = ContinuousClock.now
    if let lastShown, now - lastShown < Self.interval { return }
    lastShown = now
    hasLine = true
    StandardError.put("\r\(Self.line(documents, fraction: fraction, after: now - start, from: first))\u{1b}[K")
  }

  /// Removes the line; must be called when the work ends.
  package mutating func end() {
    interruption?.end()
    if hasLine { StandardError.put("\r\u{1b}[K") }
    hasLine = false
  }

  package static func line(
    _ documents: Int, fraction: Double?, after elapsed: Duration, from first: Start = Start()
  ) -> String {
    let seconds = elapsed / .seconds(1)
    var line = "\(documents.documents), \(seconds > 0 ? Int(Double(documents - first.documents) / seconds) : 0)/s"
    guard let fraction, fraction > first.fraction else { return line }
    line += ", \(Int(fraction * 100)) %"
    let left = Int((seconds / (fraction - first.fraction) * (1 - fraction)).rounded(.up))
    let (minutes, rest) = left.quotientAndRemainder(dividingBy: 60)
    return line + ", \(minutes):\(rest < 10 ? "0" : "")\(rest) left"
  }

  /// The duration and the rate: `3.2 s (31250/s)`.
  package static func summary(_ documents: Int, in elapsed: Duration) -> String {
    let seconds = elapsed / .seconds(1)
    let tenths = Int((seconds * 10).rounded())
    let time = "\(tenths / 10).\(tenths % 10) s"
    // A duration close to zero gives no rate.
    return seconds < 0.1 ? time : "\(time) (\(Int(Double(documents) / seconds))/s)"
  }
}
