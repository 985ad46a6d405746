// SPDX-License-Identifier: Apache-2.0
import TerminalCanvas

/// Rows of texts in columns, each as wide as its widest text.
package struct TextTable {
  package enum Alignment { case left, right }

  package struct Column {
    package var title: String
    package var alignment = Alignment.left

    package init(title: String, alignment: Alignment = Alignment.left) {
      (self.title, self.alignment) = (title, alignment)
    }
  }

  package let columns: [Column]
  package private(set) var rows: [[String]] = []

  package init(_ columns: [Column]) { self.columns = columns }

  /// - Parameter texts: one for each column, of any origin.
  package mutating func add(_ texts: [String]) { rows.append(texts.map(SafeText.sanitized)) }

  /// The titles and the rows, without space at the ends.
  /// - Parameter width: the largest width in terminal columns; longer lines are cut. `nil` for any.
  package func lines(width: Int? = nil) -> [ShownText] {
    let all = [columns.map { SafeText.sanitized($0.title) }] + rows
    let widths = columns.indices.map { column in all.map { SafeText.columns(of: $0[column]) }.max() ?? 0 }
    return all.map { row in
      var line = ""
      for (index, text) in row.enumerated() {
        let space = String(repeating: " ", count: widths[index] - SafeText.columns(of: text))
        line += (index == 0 ? "" : "  ") + (columns[index].alignment == .left ? text + space : space + text)
      }
      let end = line.lastIndex { $0 != " " }.map(line.index(after:)) ?? line.startIndex
      let trimmed = String(line[..<end])
      // Its parts are safe.
      return ShownText(verbatim: width.map { SafeText.truncated(trimmed, to: $0) } ?? trimmed)
    }
  }
}
