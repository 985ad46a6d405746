// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The growth of one figure with the number of documents, listeners or pending writes.
package struct GrowthCurve {
  package struct Point: Equatable {
    package var number: Double
    /// A time of all, or of one operation, or a size: in any case less is better.
    package var value: Double
  }

  /// The unit of the values, as the plot has it.
  package enum Scale: String {
    case milliseconds = "ms"
    case microseconds = "µs"
    case megabytes = "MB"
  }

  /// The growth beyond that of n log n that is put down to chance.
  static let margin = 1.25

  package var name: String
  /// The things that are counted.
  package var dimension: String
  package var scale: Scale
  package var points: [Point]

  /// A step that a figure takes from one number to the next.
  package struct Step {
    package var from: Point
    package var to: Point
    /// The growth of the figure, and the one of n log n.
    package var factor: Double
    package var allowed: Double
  }

  /// The steps that the figure takes faster than n log n would, beyond what is put down to chance.
  package var fastSteps: [Step] {
    zip(points, points.dropFirst()).compactMap { from, to in
      guard from.value > 0, from.number > 0 else { return nil }
      let step = Step(
        from: from, to: to, factor: to.value / from.value, allowed: Self.order(to.number) / Self.order(from.number))
      return step.factor > step.allowed * Self.margin ? step : nil
    }
  }

  /// n log n, and 1 for a single one.
  static func order(_ number: Double) -> Double { number * max(1, log2(number)) }
}

extension GrowthCurve {
  /// The curves of all figures that were measured at two numbers or more, in the order of the lines.
  package static func all(_ lines: [ReportLine]) -> [GrowthCurve] {
    var (curves, order): ([String: GrowthCurve], [String]) = ([:], [])
    func add(_ line: ReportLine, _ name: String, over dimension: String, at number: Int, _ isWall: Bool) {
      guard let (scale, value) = figure(line, isWall) else { return }
      let key = "\(dimension)\n\(name)"
      if curves[key] == nil {
        order.append(key)
        curves[key] = GrowthCurve(name: name, dimension: dimension, scale: scale, points: [])
      }
      curves[key]?.points.append(Point(number: Double(number), value: value))
    }
    // Wall times and processor times are different figures: a busy moment makes all of them processor times.
    let isWall = lines.allSatisfy { $0.clock == "wall" }
    for line in lines {
      add(line, line.name, over: "documents", at: line.n, isWall)
    }
    // The largest number of documents is where the other numbers are of most interest.
    let most = lines.map(\.n).max()
    for line in lines where line.n == most {
      guard let dimension = line.dimension else { continue }
      let name = dimension.family.map { "\(line.case) (\($0))" } ?? line.case
      add(line, name, over: dimension.name, at: dimension.number, isWall)
    }
    return order.compactMap { key in
      guard var curve = curves[key] else { return nil }
      curve.points.sort { $0.number < $1.number }
      return curve.points.count > 1 && curve.points.allSatisfy { $0.value > 0 } ? curve : nil
    }
  }

  private static func figure(_ line: ReportLine, _ isWall: Bool) -> (Scale, Double)? {
    let value = isWall ? line.wall : line.cpu
    switch FigureUnit(rawValue: line.unit) {
    case .milliseconds: return (.milliseconds, value)
    case .microseconds: return (.microseconds, value)
    case .megabytes: return (.megabytes, value)
    // A rate counts as the time that all documents take.
    case .documentsPerSecond: return value > 0 ? (.milliseconds, Double(line.n) / value * 1e3) : nil
    case nil: return nil
    }
  }
}
