// SPDX-License-Identifier: Apache-2.0
import TerminalCanvas

extension Canvas {
  /// Draws the rows of a list that fit, and marks the selected one.
  mutating func rows(
    of cursor: Cursor<Int>, count: Int, in area: Rect, glyphs: Glyphs, line: (Int) -> Line
  ) {
    for (row, index) in cursor.rows(count: count, height: area.height).enumerated() {
      put(line(index), x: area.x, y: area.y + row, width: area.width)
      if index == cursor.index { gutter(x: area.x, y: area.y + row, glyphs: glyphs, isFocused: true) }
    }
  }

  /// Marks the selected row; fainter in a pane without the focus.
  mutating func gutter(x: Int, y: Int, glyphs: Glyphs, isFocused: Bool) {
    put(glyphs.cursor, at: Point(x: x, y: y), role: isFocused ? .cursorGutter : .textMuted, maxWidth: 1)
  }
}
