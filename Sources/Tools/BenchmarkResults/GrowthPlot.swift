// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Growth curves as a picture: a panel for each kind of number and each unit, with logarithmic axes, the curves' names
/// beside their ends, and the growth of n log n in grey.
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
