// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import TerminalCanvas

/// Pane 0: one document, as the server has it and as it is here.
struct DetailPane {
  let state: DashboardState
  let layout: Layout
  let glyphs: Glyphs

  /// Rows above the list: tabs, then a rule or the path, then column heads, as far as there is room.
  static func headRows(_ layoutClass: LayoutClass) -> Int {
    switch layoutClass {
    case .large: 3
    case .medium, .small: 2
    case .tiny, .line: 1
    }
  }

  func draw(on canvas: inout Canvas) {
    let area = layout.content(of: .detail)
    guard !area.isEmpty, let detail = state.detail else { return }
    let columns = DetailColumns(detail, layout.layoutClass, width: area.width)
    var y = area.y
    let height = state.listHeight(of: .detail, layout)
    for line in heads(detail, columns, width: area.width).prefix(max(0, area.height - height)) {
      canvas.put(line, x: area.x, y: y, width: area.width)
      y += 1
    }
    let lines = DetailContent.lines(of: detail, in: state)
    let batch = state.writes.batch(touching: detail.key)?.description ?? ""
    for index in detail.cursor.rows(count: lines.count, height: height) where y < area.maxY {
      let drawing = DetailLine(line: lines[index], columns: columns, batch: batch, state: state, glyphs: glyphs)
      canvas.put(drawing.drawn, x: area.x, y: y, width: area.width)
      if lines[index].id == detail.cursor.id {
        canvas.gutter(x: area.x, y: y, glyphs: glyphs, isFocused: state.focus == .detail)
      }
      y += 1
    }
  }

  private func heads(_ detail: Detail, _ columns: DetailColumns, width: Int) -> [Line] {
    switch layout.layoutClass {
    case .large:
      var rule = Line(glyphs)
      rule.add(String(repeating: glyphs.horizontal, count: width), .border)
      return [tabs(detail, width: width, status: status(detail)), rule, columns.heads(detail.tab, glyphs)]
    case .medium: return [tabs(detail, width: width, status: status(detail)), columns.heads(detail.tab, glyphs)]
    case .small:
      var path = Line(glyphs)
      path.skip(1)
      let status = status(detail)
      path.add(
        PathText.fitted(detail.key.path.text, to: max(8, width - status.count - 4), glyphs.ellipsis), .textStrong)
      path.skip(to: width - status.count - 1)
      path.add(status, .textMuted)
      return [path, tabs(detail, width: width, status: "")]
    case .tiny, .line:
      var line = Line(glyphs)
      let tab = "[\(detail.tab.title)]"
      line.cell(
        PathText.last(detail.key.path.text, to: max(4, width - tab.count - 2), glyphs.ellipsis), .textStrong,
        width: max(4, width - tab.count - 1))
      line.add(tab, .paneTitle)
      return [line]
    }
  }

  private func tabs(_ detail: Detail, width: Int, status: String) -> Line {
    var line = Line(glyphs)
    for tab in Detail.Tab.allCases {
      line.add(tab == detail.tab ? "[\(tab.title)]" : " \(tab.title) ", tab == detail.tab ? .textStrong : .textMuted)
      line.skip(1)
    }
    guard !status.isEmpty, line.width + status.count + 1 <= width else { return line }
    line.skip(to: width - status.count - 1)
    line.add(status, .textMuted)
    return line
  }

  /// `pending · from cache`, `as the server has it`.
  private func status(_ detail: Detail) -> String {
    guard detail.isLoaded else { return "loading" }
    guard let shown = detail.local ?? detail.remote else { return "not cached" }
    var words: [String] = []
    switch shown.state {
    case .found: words.append(detail.hasPendingWrites ? "pending writes" : "in sync with the cache")
    case .missing: words.append(detail.hasPendingWrites ? "pending delete" : "does not exist")
    case .unknown: words.append("content unknown")
    }
    if detail.tab == .diff, detail.versionsBack > 0 { words = ["\(detail.versionsBack) back"] }
    return words.joined(separator: " \(glyphs.bullet) ")
  }

  /// When the server last changed the document.
  static func count(_ state: DashboardState) -> String {
    guard let version = (state.detail?.remote ?? state.detail?.local)?.version else { return "" }
    let time = TimeText.clock(version.timestamp, offset: state.configuration.utcOffset)
    return LayoutClass(state.size).isTiled ? "update \(time)" : time
  }
}
