// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import TerminalCanvas

/// The outline and title of a pane. Only the title shows the focus: recolouring two outlines costs 25 times as many
/// bytes. The feed has no sides, so that the terminal can scroll it.
struct PaneFrame {
  let pane: Pane
  let state: DashboardState
  let layout: Layout
  let glyphs: Glyphs

  func draw(on canvas: inout Canvas) {
    guard layout.layoutClass.isTiled, let rect = layout.panes[pane], rect.height > 0 else { return }
    if pane == .feed {
      canvas.horizontalLine(at: rect.origin, width: rect.width, glyphs: glyphs)
    } else {
      canvas.box(rect, glyphs: glyphs)
    }
    var title = " \(pane.rawValue) \(pane.title) "
    if pane == .detail, let key = state.detail?.key {
      let path = PathText.fitted(key.path.text, to: max(8, rect.width - 30), glyphs.ellipsis)
      title = " \(pane.rawValue) \(path) "
    }
    let used = canvas.put(
      title, at: Point(x: rect.x + 2, y: rect.y), role: pane == state.focus ? .paneTitleFocus : .paneTitle,
      maxWidth: rect.width - 4)
    let count = Self.count(of: pane, state, layout.layoutClass, glyphs)
    let columns = SafeText.columns(of: count)
    let start = rect.maxX - columns - 4
    var left = rect.x + 2 + used
    if columns > 0, start > left {
      canvas.put(" \(count) ", at: Point(x: start, y: rect.y), role: .paneCount)
    }
    guard pane == .feed else { return }
    let status = FeedPane.titleStatus(state, layout.layoutClass, glyphs)
    left += layout.layoutClass == .large ? 3 : 2
    if left + status.width + 1 < start { canvas.put(status, x: left, y: rect.y, width: status.width) }
  }

  /// What stands at the right of the title.
  static func count(of pane: Pane, _ state: DashboardState, _ layoutClass: LayoutClass, _ glyphs: Glyphs) -> String {
    switch pane {
    case .collections: return CollectionsPane.count(state, layoutClass, glyphs)
    case .writes: return WritesPane.count(state, layoutClass, glyphs)
    case .network: return NetworkPane.count(state)
    case .detail: return DetailPane.count(state)
    case .feed:
      // As of the last whole second, like the rate in the header.
      let count = max(0, state.feed.total - state.rate.uncounted(at: state.now))
      return layoutClass == .large ? "\(grouped(count)) event\(count == 1 ? "" : "s")" : grouped(count)
    }
  }
}

/// A row of keys inside a large pane, taken from the keymap; what is impossible now is muted.
enum PaneHints {
  /// The commands of each row, by name.
  static func names(in pane: Pane) -> [String] {
    switch pane {
    case .collections: ["filter", "listen", "open", "new"]
    case .writes: ["cancel-write", "mark", "retry", "edit", "copy"]
    case .network: ["faults", "retry", "new"]
    case .feed, .detail: []
    }
  }

  static func line(
    _ pane: Pane, _ state: DashboardState, _ glyphs: Glyphs, width: Int, without hidden: String? = nil
  ) -> Line {
    var line = Line(glyphs)
    line.skip(1)
    for name in names(in: pane) where name != hidden {
      guard let command = Keymap.command(named: name, in: [.pane(pane), .screen]) else { continue }
      let key = command.keyText(glyphs, limit: 1)
      let word = command.word(state)
      let columns = SafeText.columns(of: key) + 1 + SafeText.columns(of: word)
      guard line.width + 2 + columns <= width else { continue }
      if line.width > 1 { line.skip(2) }
      let isDisabled = pane == state.focus && command.reason(state) != nil
      line.add(key, isDisabled ? .textMuted : .key)
      line.add(" " + word, isDisabled ? .textMuted : .hint)
    }
    return line
  }
}

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
