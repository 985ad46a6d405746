// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc

/// Documents, rate and time left of long work: one line on standard error that is written over, if that is a terminal.
struct TransferProgress {
  private static let interval = Duration.milliseconds(100)

  private let isShown: Bool
  private let start = ContinuousClock.now
  private var lastShown: ContinuousClock.Instant?
  private var hasLine = false

  init(isQuiet: Bool) { isShown = !isQuiet && isatty(STDERR_FILENO) == 1 }

  var elapsed: Duration { .now - start }

  /// - Parameter fraction: how much of the work is done; `nil` if nobody knows how much there is.
  mutating func show(_ documents: Int, fraction: Double? = nil) {
    guard isShown else { return }
    let now = ContinuousClock.now
    if let lastShown, now - lastShown < Self.interval { return }
    lastShown = now
    hasLine = true
    write("\r\(Self.line(documents, fraction: fraction, after: now - start))\u{1b}[K")
  }

  /// Removes the line.
  mutating func end() {
    if hasLine { write("\r\u{1b}[K") }
    hasLine = false
  }

  static func line(_ documents: Int, fraction: Double?, after elapsed: Duration) -> String {
    let seconds = elapsed / .seconds(1)
    var line = "\(documents.documents), \(seconds > 0 ? Int(Double(documents) / seconds) : 0)/s"
    guard let fraction, fraction > 0 else { return line }
    line += ", \(Int(fraction * 100)) %"
    let left = Int((seconds / fraction * (1 - fraction)).rounded(.up))
    let (minutes, rest) = left.quotientAndRemainder(dividingBy: 60)
    return line + ", \(minutes):\(rest < 10 ? "0" : "")\(rest) left"
  }

  /// `3.2 s (31250/s)`
  static func summary(_ documents: Int, in elapsed: Duration) -> String {
    let seconds = elapsed / .seconds(1)
    let tenths = Int((seconds * 10).rounded())
    return "\(tenths / 10).\(tenths % 10) s (\(Int(Double(documents) / max(seconds, 0.001)))/s)"
  }

  private func write(_ text: String) { FileHandle.standardError.write(Data(text.utf8)) }
}

extension Int {
  /// `1 document`, `2 documents`
  var documents: String { "\(self) document\(self == 1 ? "" : "s")" }
}
