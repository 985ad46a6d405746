// SPDX-License-Identifier: Apache-2.0
import Foundation

/// An image with growth curves. For each dimension and unit there is a panel with logarithmic axes. The name of each
/// curve is next to its end. A gray line shows how n log n grows.
package struct GrowthPlot {
  private static let width = 1200.0
  private static let leastHeight = 900.0
  private static let heading = 40.0

  private let curves: [GrowthCurve]
  private let subtitle: String

  package init(curves: [GrowthCurve], subtitle: String) { (self.curves, self.subtitle) = (curves, subtitle) }

  package var svg: String {
    let panels = Dictionary(grouping: curves) { "\($0.dimension)\n\($0.scale.rawValue)" }.values
      .sorted { ($0.count, $1[0].dimension) > ($1.count, $0[0].dimension) }
      .map(GrowthPanel.init)
    let columnCount = panels.count > 1 ? 2 : 1
    var columns = [[GrowthPanel]](repeating: [], count: columnCount)
    for panel in panels {
      let heights = columns.map { $0.reduce(0) { $0 + $1.leastHeight } }
      let shortest = heights.indices.min { heights[$0] < heights[$1] } ?? 0
      columns[shortest].append(panel)
    }
    let height = max(
      Self.leastHeight, Self.heading + (columns.map { $0.reduce(0) { $0 + $1.leastHeight } }.max() ?? 0))
    var body = ""
    for (index, column) in columns.enumerated() where !column.isEmpty {
      let columnWidth = Self.width / Double(columnCount)
      let spare = (height - Self.heading - column.reduce(0) { $0 + $1.leastHeight }) / Double(column.count)
      var top = Self.heading
      for panel in column {
        let area = GrowthPanel.Area(
          x: Double(index) * columnWidth, y: top, width: columnWidth, height: panel.leastHeight + spare)
        body += panel.svg(in: area)
        top += area.height
      }
    }
    let (width, tall) = (Int(Self.width), Int(height.rounded(.up)))
    return """
      <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(width) \(tall)" width="\(width)" height="\(tall)" \
      font-family="DejaVu Sans, Helvetica, Arial, sans-serif" font-size="10.5">
      <rect width="100%" height="100%" fill="#ffffff"/>
      <text x="14" y="24" font-size="16" font-weight="bold" fill="#222222">Growth of each figure</text>
      <text x="216" y="24" font-size="11" fill="#555555">\(subtitle.escapedForXML)</text>
      \(body)</svg>

      """
  }
}

extension String {
  var escapedForXML: String {
    var text = ""
    for character in self {
      switch character {
      case "&": text += "&amp;"
      case "<": text += "&lt;"
      case ">": text += "&gt;"
      case "\"": text += "&quot;"
      default: text.append(character)
      }
    }
    return text
  }
}

/// The curves with the same dimension and unit.
struct GrowthPanel {
  struct Area {
    var x, y, width, height: Double
  }

  private static let margin = (top: 30.0, bottom: 34.0, left: 48.0)
  private static let lineHeight = 12.0
  private static let labelWidth = 285.0
  /// The maximum length in characters of a curve's name.
  private static let labelLength = 41
  private static let colours = [
    "#0072b2", "#c04a00", "#00795a", "#a6447f", "#7a5c00", "#5b3a9e", "#b2182b", "#2f6d3a", "#3f5a6b",
  ]
  private static let dashes = ["", "6 2.5", "2 2"]

  let curves: [GrowthCurve]

  init(_ curves: [GrowthCurve]) { self.curves = curves }

  /// The minimum height at which each name has its own line.
  var leastHeight: Double {
    max(230, Self.margin.top + Self.margin.bottom + Double(curves.count) * Self.lineHeight)
  }

  /// The two axes of a panel. They convert numbers and values to positions in the image.
  private struct Axes {
    let plot: Area
    let numbers: ClosedRange<Double>
    let values: ClosedRange<Double>

    func x(_ number: Double) -> Double { plot.x + plot.width * Self.share(number, numbers) }
    func y(_ value: Double) -> Double { plot.y + plot.height * (1 - Self.share(value, values)) }

    private static func share(_ value: Double, _ range: ClosedRange<Double>) -> Double {
      let span = log10(range.upperBound / range.lowerBound)
      return span > 0 ? log10(value / range.lowerBound) / span : 0.5
    }
  }

  func svg(in area: Area) -> String {
    let points = curves.flatMap(\.points)
    guard let first = curves.first, let least = points.map(\.value).min(), let most = points.map(\.value).max(),
      let fewest = points.map(\.number).min(), let largest = points.map(\.number).max()
    else { return "" }
    let plot = Area(
      x: area.x + Self.margin.left, y: area.y + Self.margin.top,
      width: area.width - Self.margin.left - Self.labelWidth,
      height: area.height - Self.margin.top - Self.margin.bottom)
    let axes = Axes(plot: plot, numbers: fewest...largest, values: least / 1.4...most * 1.4)
    let title = "\(first.scale.rawValue) over \(first.dimension)"
    return """
      <text x="\(place(plot.x - 34))" y="\(place(area.y + 18))" font-size="12.5" font-weight="bold" fill="#222222">\
      \(title.escapedForXML)</text>
      \(grid(axes))\(guide(axes))\(lines(axes))\(names(axes, in: area))
      """
  }

  private func place(_ number: Double) -> String { String(format: "%.1f", number) }

  // MARK: Parts

  private func grid(_ axes: Axes) -> String {
    let plot = axes.plot
    var svg = """
      <rect x="\(place(plot.x))" y="\(place(plot.y))" width="\(place(plot.width))" height="\(place(plot.height))" \
      fill="none" stroke="#bbbbbb"/>

      """
    for (value, isLabelled) in Self.ticks(axes.values) {
      let y = axes.y(value)
      svg += """
        <path d="M\(place(plot.x)) \(place(y))H\(place(plot.x + plot.width))" \
        stroke="\(isLabelled ? "#dddddd" : "#f1f1f1")"/>

        """
      guard isLabelled else { continue }
      svg += """
        <text x="\(place(plot.x - 5))" y="\(place(y + 3.5))" text-anchor="end" fill="#555555">\(Self.text(value))</text>

        """
    }
    let numbers = Set(curves.flatMap(\.points).map(\.number)).sorted()
    var last = -Double.infinity
    for number in numbers {
      let x = axes.x(number)
      svg += """
        <path d="M\(place(x)) \(place(plot.y))V\(place(plot.y + plot.height))" stroke="#e6e6e6"/>

        """
      guard x - last > 38 else { continue }
      last = x
      svg += """
        <text x="\(place(x))" y="\(place(plot.y + plot.height + 15))" text-anchor="middle" fill="#555555">\
        \(Self.text(number))</text>

        """
    }
    return svg
  }

  /// The ticks of an axis: the powers of ten, and 2 and 5 times each power. Some ticks have no label.
  private static func ticks(_ range: ClosedRange<Double>) -> [(value: Double, isLabelled: Bool)] {
    let decades = Int(log10(range.lowerBound).rounded(.down))...Int(log10(range.upperBound).rounded(.up))
    let isWide = log10(range.upperBound / range.lowerBound) > 2
    return decades.flatMap { decade in
      [1.0, 2, 5].map { ($0 * pow(10, Double(decade)), $0 == 1 || !isWide) }
    }.filter { range.contains($0.0) }
  }

  /// A number as the label of an axis, such as 1k for a thousand.
  private static func text(_ number: Double) -> String {
    if number >= 1e6 { return String(format: "%gM", number / 1e6) }
    return number >= 1e3 ? String(format: "%gk", number / 1e3) : String(format: "%g", number)
  }

  /// A line that grows as n log n. It starts in the middle of the first values of the curves.
  private func guide(_ axes: Axes) -> String {
    let start = curves.map { log10($0.points[0].value) }.median
    let lowest = axes.numbers.lowerBound
    let steps = 40
    var (path, end) = ("", (x: 0.0, y: 0.0))
    for step in 0...steps {
      let number = lowest * pow(axes.numbers.upperBound / lowest, Double(step) / Double(steps))
      let value = pow(10, start) * GrowthCurve.order(number) / GrowthCurve.order(lowest)
      guard axes.values.contains(value) else { break }
      end = (axes.x(number), axes.y(value))
      path += "\(step == 0 ? "M" : "L")\(place(end.x)) \(place(end.y))"
    }
    guard !path.isEmpty else { return "" }
    return """
      <path d="\(path)" fill="none" stroke="#c4c4c4" stroke-width="5" stroke-linecap="round"/>
      <text x="\(place(end.x - 6))" y="\(place(end.y + 14))" text-anchor="end" fill="#8a8a8a" \
      stroke="#ffffff" stroke-width="3" paint-order="stroke">n log n</text>

      """
  }

  private func style(_ index: Int) -> (colour: String, dash: String) {
    let dash = Self.dashes[index / Self.colours.count % Self.dashes.count]
    return (Self.colours[index % Self.colours.count], dash.isEmpty ? "" : " stroke-dasharray=\"\(dash)\"")
  }

  private func lines(_ axes: Axes) -> String {
    curves.enumerated().map { index, curve in
      let (colour, dash) = style(index)
      let places = curve.points.map { "\(place(axes.x($0.number))),\(place(axes.y($0.value)))" }
      let dots = curve.points.map {
        "<circle cx=\"\(place(axes.x($0.number)))\" cy=\"\(place(axes.y($0.value)))\" r=\"2.4\" fill=\"\(colour)\"/>"
      }
      return """
        <polyline points="\(places.joined(separator: " "))" fill="none" stroke="\(colour)" stroke-width="1.5"\(dash)/>
        \(dots.joined())

        """
    }.joined()
  }

  /// The names next to the ends of the curves, in the order of the ends. A line connects each name with its curve.
  private func names(_ axes: Axes, in area: Area) -> String {
    let ends = curves.enumerated().compactMap { index, curve in
      curve.points.last.map { (index: index, x: axes.x($0.number), y: axes.y($0.value), curve: curve) }
    }.sorted { ($0.y, $0.index) < ($1.y, $1.index) }
    let room = (top: area.y + Self.margin.top + 2, bottom: area.y + area.height - Self.margin.bottom)
    var places = ends.map(\.y)
    for index in places.indices {
      places[index] = max(places[index], index == 0 ? room.top : places[index - 1] + Self.lineHeight)
    }
    for index in places.indices.reversed() {
      places[index] = min(
        places[index], index == places.count - 1 ? room.bottom : places[index + 1] - Self.lineHeight)
    }
    let right = axes.plot.x + axes.plot.width
    return zip(ends, places).map { end, y in
      let (colour, dash) = style(end.index)
      let name = end.curve.name.count > Self.labelLength ? end.curve.name.prefix(Self.labelLength - 1) + "…" : nil
      return """
        <path d="M\(place(end.x)) \(place(end.y))L\(place(right + 16)) \(place(y))" fill="none" stroke="\(colour)" \
        stroke-width="0.6" opacity="0.55"/>
        <path d="M\(place(right + 16)) \(place(y))h14" stroke="\(colour)" stroke-width="1.8"\(dash)/>
        <text x="\(place(right + 34))" y="\(place(y + 3.5))" fill="\(colour)">\
        \(String(name ?? Substring(end.curve.name)).escapedForXML)</text>

        """
    }.joined()
  }
}

/// The growth of one figure with the number of documents, listeners or pending writes.
package struct GrowthCurve {
  package struct Point: Equatable {
    package var number: Double
    /// The total time, the time of one operation, or a size. Lower is better.
    package var value: Double
  }

  /// The unit of the values in the plot.
  package enum Scale: String {
    case milliseconds = "ms"
    case microseconds = "µs"
    case megabytes = "MB"
  }

  /// A figure may grow faster than n log n by this factor; the excess counts as noise.
  static let margin = 1.25

  package var name: String
  /// The things that are counted, such as "documents".
  package var dimension: String
  package var scale: Scale
  package var points: [Point]

  /// The growth of a figure from one number to the next larger number.
  package struct Step {
    package var from: Point
    package var to: Point
    /// The factors by which the figure and n log n grow.
    package var factor: Double
    package var allowed: Double
  }

  /// The steps in which the figure grows faster than n log n, apart from noise.
  package var fastSteps: [Step] {
    zip(points, points.dropFirst()).compactMap { from, to in
      guard from.value > 0, from.number > 0 else { return nil }
      let step = Step(
        from: from, to: to, factor: to.value / from.value, allowed: Self.order(to.number) / Self.order(from.number))
      return step.factor > step.allowed * Self.margin ? step : nil
    }
  }

  /// The value of n log n, but at least n.
  static func order(_ number: Double) -> Double { number * max(1, log2(number)) }
}

extension GrowthCurve {
  /// The curves of all figures that were measured for at least two numbers. They are in the order of the report lines.
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
    // Wall times and processor times cannot be compared. If one line has processor times, processor times are used for
    // all.
    let isWall = lines.allSatisfy { $0.clock == "wall" }
    for line in lines {
      add(line, line.name, over: "documents", at: line.n, isWall)
    }
    // Curves over other dimensions use only the largest document count.
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
    // A rate counts as the time for all documents.
    case .documentsPerSecond: return value > 0 ? (.milliseconds, Double(line.n) / value * 1e3) : nil
    case nil: return nil
    }
  }
}
