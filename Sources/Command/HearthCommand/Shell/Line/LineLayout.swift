// SPDX-License-Identifier: Apache-2.0
import CommandOutput
import TerminalCanvas

/// A prompt and a text as rows of a terminal, and where the cursor is in them.
struct LineLayout: Hashable, Sendable {
  private(set) var rows: [String] = [""]
  private(set) var cursorRow = 0
  private(set) var cursorColumn = 0
  private let columns: Int
  private var width = 0

  /// - Parameters:
  ///   - prompt: the text before the line, with the control sequences of its colours.
  ///   - cursor: the place of the cursor, in characters of the text.
  ///   - continuation: the text before the second line and later ones.
  init(prompt: ShellPrompt, _ text: [Character], cursor: Int, columns: Int, continuation: String = "  ") {
    self.columns = max(1, columns)
    if SafeText.columns(of: prompt.text) < columns {
      rows = [prompt.painted.text]
      width = SafeText.columns(of: prompt.text)
    } else {
      for cluster in SafeText(prompt.text) { put(cluster.text, cluster.width) }
    }
    for (index, character) in text.enumerated() {
      if index == cursor { markCursor() }
      if character.isNewline {
        startRow()
        for cluster in SafeText(continuation) { put(cluster.text, cluster.width) }
      } else {
        for cluster in SafeText(String(character)) { put(cluster.text, cluster.width) }
      }
    }
    if cursor >= text.count { markCursor() }
  }

  private mutating func put(_ text: String, _ columns: Int) {
    if width + columns > self.columns { startRow() }
    rows[rows.count - 1] += text
    width += columns
  }

  private mutating func startRow() {
    rows.append("")
    width = 0
  }

  /// A cursor behind the last column is at the beginning of the next row.
  private mutating func markCursor() {
    if width == columns { startRow() }
    (cursorRow, cursorColumn) = (rows.count - 1, width)
  }

  /// The rows that a terminal of a height has room for, those around the cursor, and which of them has it.
  func visible(height: Int) -> (rows: ArraySlice<String>, cursor: Int) {
    let height = max(1, height)
    guard rows.count > height else { return (rows[...], cursorRow) }
    let first = min(max(0, cursorRow - height + 1), rows.count - height)
    return (rows[first..<(first + height)], cursorRow - first)
  }
}
