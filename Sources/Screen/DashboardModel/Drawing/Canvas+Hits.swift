// SPDX-License-Identifier: Apache-2.0
package import TerminalCanvas

extension Canvas {
  /// Marks the matches of a filter in the drawn rows.
  package mutating func mark(hitsOf filter: RowFilter?, in area: Rect) {
    guard let filter, !filter.isEmpty else { return }
    let area = bounds.intersection(area)
    for y in area.y..<area.maxY {
      var text: [Unicode.Scalar] = []
      var columns: [Int] = []
      for (x, cell) in zip(area.x..<area.maxX, row(y).dropFirst(area.x)) {
        for scalar in cell.cluster.scalars {
          text.append(scalar)
          columns.append(x)
        }
      }
      for hit in filter.hits(in: text) {
        guard let first = columns[hit].first, let last = columns[hit].last else { continue }
        apply(role: .match, to: Rect(x: first, y: y, width: last - first + max(1, self[last, y].width), height: 1))
      }
    }
  }
}
