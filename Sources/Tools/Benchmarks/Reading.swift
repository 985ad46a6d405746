// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The measured values of one case under one of its conditions.
struct Reading {
  /// The condition that distinguishes this reading from the case's others.
  var variant: String?
  var unit: Unit
  /// The goal at 100 000 documents on a quiet machine.
  var goal: Double?
  var samples: [Sample]
  /// The same work done with SQLite alone, in the same run.
  var floor: [Sample] = []

  func wall(_ samples: [Sample]) -> Double { samples.map { unit.value($0.wall, $0.count) }.median }
  func cpu(_ samples: [Sample]) -> Double { samples.map { unit.value($0.cpu, $0.count) }.median }
}

/// A reading as it is printed.
///
/// `value` is wall time if the machine had a load below 1.5, processor time otherwise; both are given. The ratio to the
/// floor is of processor times, and above 1 where SQLite alone is faster.
struct ReportLine: Encodable {
  /// The load from which on wall time measures the other processes.
  private static let quietLoad = 1.5

  var `case`: String
  var variant: String?
  var n: Int
  var value: Double
  var unit: String
  var clock: String
  var wall: Double
  var cpu: Double
  var floor: Double?
  var ratio: Double?
  var goal: Double?
  var load: Double

  init(_ name: String, documents: Int, _ reading: Reading) {
    let load = machineLoad()
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
    }
    goal = reading.goal
    self.load = Self.rounded(load)
  }

  private static func rounded(_ value: Double) -> Double {
    guard value != 0, value.isFinite else { return 0 }
    let scale = pow(10, 3 - ceil(log10(abs(value))))
    return scale >= 1 ? (value * scale).rounded() / scale : value.rounded()
  }

  var json: String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    // A line of numbers and short texts always has a JSON form.
    return (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
  }

  static let tableHeader = row(
    ["case", "n", "value", "unit", "clock", "wall", "cpu", "floor", "ratio", "goal", "load"])

  var tableRow: String {
    func text(_ number: Double?) -> String { number.map { String(format: "%g", $0) } ?? "-" }
    let name = variant.map { "\(`case`) (\($0))" } ?? `case`
    return Self.row([
      name, "\(n)", text(value), unit, clock, text(wall), text(cpu), text(floor), text(ratio), text(goal), text(load),
    ])
  }

  private static func row(_ cells: [String]) -> String {
    let padding = cells.dropFirst().map { String(repeating: " ", count: max(0, 7 - $0.count)) + $0 }
    return cells[0].padding(toLength: max(cells[0].count, 46), withPad: " ", startingAt: 0) + " "
      + padding.joined(separator: " ")
  }
}
