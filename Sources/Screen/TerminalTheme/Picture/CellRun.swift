// SPDX-License-Identifier: Apache-2.0
package import TerminalCanvas

/// Cells of one row beside each other that look the same.
struct CellRun {
  var x: Int
  var width: Int
  var text: String
  /// Whether every cluster of the run takes two columns.
  var isWide: Bool
  var style: ResolvedStyle

  /// The runs of a row, from left to right.
  static func runs(_ row: some Sequence<Cell>, in theme: Theme, at depth: ColorDepth) -> [CellRun] {
    var runs: [CellRun] = []
    var x = 0
    for cell in row {
      defer { x += 1 }
      // The right half of a wide cluster belongs to the run of its left one.
      guard cell.width > 0 else { continue }
      var style = theme.resolved(cell.role, at: depth)
      style.attributes.formUnion(cell.attributes)
      let isWide = cell.width == 2
      if var last = runs.last, last.style == style, !last.isWide, !isWide {
        last.text += cell.cluster.text
        last.width += 1
        runs[runs.count - 1] = last
      } else {
        runs.append(CellRun(x: x, width: cell.width, text: cell.cluster.text, isWide: isWide, style: style))
      }
    }
    return runs
  }

  var isBlank: Bool { text.allSatisfy { $0 == " " } }
}

extension Canvas {
  /// The rows without trailing blanks.
  package var plainText: String {
    let rows = (0..<size.height).map { y in
      let text = row(y).map(\.cluster.text).joined()
      return String(text.reversed().drop { $0 == " " }.reversed())
    }
    return rows.joined(separator: "\n") + "\n"
  }

  /// The rows with colours and attributes as a terminal of a depth takes them (ECMA-48, SGR), each ending with a reset.
  package func ansiText(in theme: Theme, at depth: ColorDepth) -> String {
    var text = ""
    for y in 0..<size.height {
      for run in CellRun.runs(row(y), in: theme, at: depth) {
        text += "\u{1B}[\(run.style.sgrParameters)m\(run.text)"
      }
      text += "\u{1B}[0m\n"
    }
    return text
  }
}

extension ResolvedStyle {
  /// The parameters of `ESC [ … m` that set this style, whatever was drawn before.
  package var sgrParameters: String {
    var numbers = ["0"]
    let numbered: [(Attributes, String)] = [
      (.bold, "1"), (.dim, "2"), (.italic, "3"), (.underline, "4"), (.reverse, "7"),
    ]
    numbers += numbered.filter { attributes.contains($0.0) }.map(\.1)
    for (color, named, extended) in [(foreground, 30, 38), (background, 40, 48)] {
      switch color {
      case .terminal: break
      case .index(let index) where index < 8: numbers.append("\(named + Int(index))")
      case .index(let index): numbers.append("\(extended);5;\(index)")
      case .rgb(let rgb): numbers.append("\(extended);2;\(rgb.red);\(rgb.green);\(rgb.blue)")
      }
    }
    return numbers.joined(separator: ";")
  }
}
