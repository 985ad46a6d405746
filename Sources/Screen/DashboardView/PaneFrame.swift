// SPDX-License-Identifier: Apache-2.0
import Dashboard
import DashboardModel
import FirestoreModel
import TerminalCanvas

/// Draws the outline and the title of a pane. Only the title shows the focus, because changing the color of two
/// outlines sends 25 times as many bytes. The feed has no side borders, so that the terminal can scroll it.
struct PaneFrame {
  let pane: Pane
  let frame: FrameState
  let layout: Layout
  let glyphs: Glyphs

  /// The columns in the top line of a frame that a path must leave free. They contain the count and the corners.
  private static let columnsBesidePath = 24
  /// The columns of a frame's top line that a document's whole path leaves free: the corners, the number and blanks.
  private static let columnsAroundPath = 8

  func draw(on canvas: inout Canvas) {
    guard layout.layoutClass.isTiled, let rect = layout.panes[pane], rect.height > 0 else { return }
    if pane == .feed {
      canvas.horizontalLine(at: rect.origin, width: rect.width, glyphs: glyphs)
    } else {
      canvas.box(rect, glyphs: glyphs)
    }
    var title = PaneTitle.text(of: pane)
    if pane == .feed, frame.state.showsRequests { title = RequestsPane.title }
    if pane == .detail, let key = frame.state.shownDetail?.key {
      // The whole path comes first. The time beside it gives way.
      let whole = key.path.text
      let path =
        SafeText.columns(of: whole) <= rect.width - Self.columnsAroundPath
        ? whole : PathText.fitted(whole, to: max(8, rect.width - 30), glyphs.ellipsis)
      title = " \(pane.rawValue) \(path) "
    }
    if pane == .collections, let result = frame.state.browser.result {
      title =
        " \(pane.rawValue) \(ResultTitle.isInFrame(frame.state, layout) ? ResultTitle.text(result, frame.state) : "Result") "
    }
    if pane == .collections, let path = frame.state.collectionOffScreen(layout) {
      // The collection's name replaces the word "Collections", so that the count has room. Number and rows identify the
      // pane.
      let room = max(8, rect.width - Self.columnsBesidePath)
      title = " \(pane.rawValue) \(PathText.fitted(path.text, to: room, glyphs.ellipsis)) "
    }
    let place = Point(x: rect.x + PaneTitle.start, y: rect.y)
    let used = canvas.put(
      title, at: place, role: pane == frame.state.focus && pane != .detail ? .paneTitleFocus : .paneTitle,
      maxWidth: rect.width - 4)
    if pane == .detail, let key = frame.state.shownDetail?.key,
      let address = frame.state.configuration.backend.address(of: key)
    {
      canvas.link(place.x + 3..<place.x + max(3, used - 1), of: place.y, to: address)
    }
    // Only the number shows the focus if the title is a path, because a long path would be sent twice.
    if pane == .detail, pane == frame.state.focus {
      canvas.apply(role: .paneTitleFocus, to: Rect(x: place.x, y: place.y, width: min(used, 3), height: 1))
    }
    var left = rect.x + PaneTitle.start + used
    let room = rect.maxX - 5 - left
    // Uses the full text if it fits, otherwise the text of smaller screens.
    let counts = [layout.layoutClass, .medium].map { Self.count(of: pane, frame.state, $0, glyphs) }
    let count = counts.first { SafeText.columns(of: $0) <= room } ?? ""
    let columns = SafeText.columns(of: count)
    let start = rect.maxX - columns - 4
    if columns > 0, start > left {
      canvas.put(" \(count) ", at: Point(x: start, y: rect.y), role: .paneCount)
    }
    guard pane == .feed else { return }
    let status = FeedPane.titleStatus(frame.state, layout.layoutClass, glyphs)
    left = rect.x + PaneTitle.feedStatus(layout.layoutClass)
    if left + status.width + 1 < start { canvas.put(status, x: left, y: rect.y, width: status.width) }
  }

  /// The text at the right of the title.
  static func count(of pane: Pane, _ state: DashboardState, _ layoutClass: LayoutClass, _ glyphs: Glyphs) -> String {
    switch pane {
    case .collections: return CollectionsPane.count(state, layoutClass, glyphs)
    case .writes: return WritesPane.count(state, layoutClass, glyphs)
    case .network: return NetworkPane.count(state)
    case .detail: return DetailPane.count(state)
    case .feed where state.showsRequests: return RequestsPane.count(state)
    case .feed:
      // The count is as of the last whole second, like the header's rate. The first second has none.
      let uncounted = state.screen.isLinkSlow ? 0 : state.feed.rate.uncounted(at: state.now)
      let count = state.feed.total - uncounted
      if count <= 0, state.feed.total > 0 { return "" }
      return layoutClass == .large ? "\(grouped(count)) event\(count == 1 ? "" : "s")" : grouped(count)
    }
  }
}

extension Canvas {
  /// Draws the rows of a list that fit, and marks the selected one.
  mutating func rows(
    of cursor: Cursor<Int>, count: Int, in area: Rect, _ state: DashboardState, line: (Int) -> Line
  ) {
    for (row, index) in cursor.rows(count: count, height: area.height).enumerated() {
      put(line(index), x: area.x, y: area.y + row, width: area.width)
      if index == cursor.index {
        select(Rect(x: area.x, y: area.y + row, width: area.width, height: 1), state, isFocused: true, isWhole: true)
      }
    }
  }

  /// The maximum width of the highlight of a selected row, after the gutter. A highlight over the whole row would
  /// double the bytes sent when the selection moves, and hide the colors of states.
  private static let highlight = 20
  /// A first text below this width, such as a number, is short. In that case the highlight includes the following text.
  private static let shortText = 6

  /// The area of the first text of a row. It ends before two blanks.
  private func firstText(of row: Rect, _ glyphs: Glyphs) -> Rect {
    func isBlank(_ x: Int) -> Bool { x >= row.maxX || self[x, row.y].cluster == .space }
    var start = row.x + 1
    while start < row.maxX, isBlank(start) { start += 1 }
    if start < row.maxX, [glyphs.folded, glyphs.unfolded].contains(self[start, row.y].text), isBlank(start + 1) {
      start += 2
    }
    var end = start
    while end < row.maxX, !isBlank(end) || !isBlank(end + 1) || end - start < Self.shortText { end += 1 }
    end = min(end, start + Self.highlight)
    // One run with the gutter, because the cells in between would be sent again anyway.
    return Rect(x: row.x, y: row.y, width: max(0, min(row.maxX, end) - row.x), height: row.height)
  }

  /// Highlights the first text of a selected row. Only the gutter shows whether the pane has the focus, so a change of
  /// the focus changes two cells instead of two rows.
  /// - Parameter isWhole: whether to highlight the whole row, as in lists that are shown only briefly.
  mutating func select(_ row: Rect, _ state: DashboardState, isFocused: Bool, isWhole: Bool = false) {
    let glyphs = state.configuration.glyphs
    defer { gutter(x: row.x, y: row.y, glyphs: glyphs, isFocused: isFocused) }
    guard state.screen.highlightsRows, !state.screen.isLinkSlow else { return }
    let tints: Set<Role> = [.diffAdded, .diffModified, .diffRemoved]
    let area = isWhole ? row : firstText(of: row, glyphs)
    for y in area.y..<area.maxY {
      for x in area.x..<area.maxX where !tints.contains(self[x, y].role) {
        apply(role: .selection, to: Rect(x: x, y: y, width: 1, height: 1))
      }
    }
  }

  /// Marks the selected row. The mark is fainter in an unfocused pane.
  mutating func gutter(x: Int, y: Int, glyphs: Glyphs, isFocused: Bool) {
    put(glyphs.cursor, at: Point(x: x, y: y), role: isFocused ? .cursorGutter : .textMuted, maxWidth: 1)
  }
}
