// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A reading as a line of the report.
///
/// `value` is the wall time if the machine's load was below 1.5, otherwise the processor time. Both times are also
/// included separately. The ratio to the SQLite floor is computed from processor times. It is above 1 if the same work
/// with only SQLite is faster. `best` is the ratio of the fastest repetitions, because other load affects them least.
package struct ReportLine: Encodable {
  /// The machine load at and above which wall times are unreliable.
  private static let quietLoad = 1.5

  package var `case`: String
  package var variant: String?
  package var n: Int
  package var value: Double
  package var unit: String
  package var clock: String
  package var wall: Double
  package var cpu: Double
  package var floor: Double?
  package var ratio: Double?
  package var best: Double?
  package var goal: Double?
  /// The 50th percentile of the durations of single operations, in `us`. `p99` is the 99th percentile.
  package var p50: Double?
  package var p99: Double?
  /// The growth of memory from the start to the peak, in MB.
  package var peak: Double?
  /// The number of allocations per operation or document.
  package var allocations: Double?
  package var load: Double
  /// The number for the axis of a growth curve; `nil` if this is the document count. It is not printed.
  package var dimension: Dimension?

  private enum CodingKeys: String, CodingKey {
    case `case`, variant, n, value, unit, clock, wall, cpu, floor, ratio, best, goal, p50, p99, peak, allocations, load
  }

  /// - Parameter load: the average number of runnable processes on the machine.
  package init(_ name: String, documents: Int, _ reading: Reading, load: Double) {
    let (wall, cpu) = (reading.wall(reading.samples), reading.cpu(reading.samples))
    let isQuiet = load < Self.quietLoad
    `case` = name
    variant = reading.variant
    n = documents
    value = Self.rounded(isQuiet ? wall : cpu)
    unit = reading.unit.rawValue
    clock = isQuiet ? "wall" : "cpu"
    self.wall = Self.rounded(wall)
    self.cpu = Self.rounded(cpu)
    if !reading.floor.isEmpty {
      let floorCPU = reading.cpu(reading.floor)
      floor = Self.rounded(isQuiet ? reading.wall(reading.floor) : floorCPU)
      if floorCPU > 0, cpu > 0 {
        ratio = Self.rounded(reading.unit.isBetterWhenHigher ? floorCPU / cpu : cpu / floorCPU)
      }
      let (ownBest, floorBest) = (reading.best(reading.samples), reading.best(reading.floor))
      if ownBest > 0, floorBest > 0 { best = Self.rounded(ownBest / floorBest) }
    }
    goal = reading.goal
    if !reading.latencies.isEmpty {
      p50 = Self.rounded(reading.latencies.percentile(50) * 1e6)
      p99 = Self.rounded(reading.latencies.percentile(99) * 1e6)
    }
    peak = reading.peak.map(Self.rounded)
    let taken = reading.samples.map { $0.allocations / $0.count }.median
    if reading.unit != .megabytes, taken > 0 { allocations = Self.rounded(taken) }
    self.load = Self.rounded(load)
    dimension = reading.dimension
  }

  /// The name of the reading, without the document count: the case and its variant.
  package var name: String { variant.map { "\(`case`) (\($0))" } ?? `case` }

  private static func rounded(_ value: Double) -> Double {
    guard value != 0, value.isFinite else { return 0 }
    let scale = pow(10, 3 - ceil(log10(abs(value))))
    return scale >= 1 ? (value * scale).rounded() / scale : value.rounded()
  }

  package var json: String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    // Encoding a line of numbers and short texts as JSON does not fail.
    return (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
  }

  package static let tableHeader = row(
    [
      "case", "n", "value", "unit", "clock", "wall", "cpu", "floor", "ratio", "goal", "p50us", "p99us", "peakMB",
      "allocs", "load",
    ])

  package var tableRow: String {
    func text(_ number: Double?) -> String { number.map { String(format: "%g", $0) } ?? "-" }
    return Self.row([
      name, "\(n)", text(value), unit, clock, text(wall), text(cpu), text(floor), text(ratio), text(goal), text(p50),
      text(p99), text(peak), text(allocations), text(load),
    ])
  }

  private static func row(_ cells: [String]) -> String {
    let padding = cells.dropFirst().map { String(repeating: " ", count: max(0, 7 - $0.count)) + $0 }
    return cells[0].padding(toLength: max(cells[0].count, 46), withPad: " ", startingAt: 0) + " "
      + padding.joined(separator: " ")
  }
}
