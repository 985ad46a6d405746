// SPDX-License-Identifier: Apache-2.0
import TerminalCanvas

extension Cursor {
  /// The rows on the screen: those the cursor remembers, moved as little as needed to fill the height and to hold the
  /// selected row, whatever size the list was settled for.
  func rows(count: Int, height: Int) -> Range<Int> {
    guard count > 0, height > 0 else { return 0..<0 }
    let index = min(max(0, index), count - 1)
    var first = min(max(0, top), max(0, count - height))
    if index < first { first = index }
    if index >= first + height { first = index - height + 1 }
    return first..<min(count, first + height)
  }
}

extension Canvas {
  /// Marks the selected row; fainter in a pane without the focus.
  mutating func gutter(x: Int, y: Int, glyphs: Glyphs, isFocused: Bool) {
    put(glyphs.cursor, at: Point(x: x, y: y), role: isFocused ? .cursorGutter : .textMuted, maxWidth: 1)
  }
}
