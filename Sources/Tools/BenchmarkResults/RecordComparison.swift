// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A figure beside the newest entry of the record.
package struct RecordComparison {
  /// The growth of a ratio to the floor that is too much.
  package static let ratioMargin = 1.25
  /// The same where the record has no entry of this kind of machine: caches and kernels differ.
  package static let otherMachineMargin = 2.0
  package static let allocationMargin = 1.1

  /// The figure with its values and limits, as a line of text.
  package private(set) var text: String
  /// Whether the record has the figure.
  package private(set) var isRecorded = false
  package private(set) var ratioHasGrown = false
  package private(set) var allocationsHaveGrown = false

  /// - Returns: `nil` for a figure that has neither a floor nor a number of allocations.
  package init?(_ line: ReportLine, with record: BenchmarkRecord, on machine: String = BenchmarkRecord.machine) {
    if line.best == nil, line.allocations == nil { return nil }
    text = BenchmarkRecord.name(line)
    guard let entry = record.newest(text, of: machine) else { return }
    isRecorded = true
    let isOfThisKind = entry.machine == machine
    // Work that has become dearer is so in the best repetitions and in the median; a busy machine changes one of them, now or
    // when the record was made.
    ratioHasGrown = compare(
      "ratio", [line.best, line.ratio].compactMap(\.self).min(), [entry.best, entry.ratio].compactMap(\.self).max(),
      isOfThisKind ? Self.ratioMargin : Self.otherMachineMargin)
    allocationsHaveGrown = compare("allocations", line.allocations, entry.allocations, Self.allocationMargin)
    if line.best != nil, !isOfThisKind { text += "  (of another kind of machine)" }
  }

  package var hasGrown: Bool { ratioHasGrown || allocationsHaveGrown }

  private mutating func compare(_ name: String, _ value: Double?, _ recorded: Double?, _ margin: Double) -> Bool {
    guard let value, let recorded else { return false }
    let limit = recorded * margin
    text += "  \(name) " + String(format: "%g (record %g, at most %.4g)", value, recorded, limit)
    return value > limit
  }
}
