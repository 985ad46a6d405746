// SPDX-License-Identifier: Apache-2.0
import Dashboard
import DashboardModel
import FirestoreClientState
import FirestoreModel
import TerminalCanvas

/// The second row of screens that show one pane at a time: the other panes and their numbers.
struct TabLine {
  let frame: FrameState
  let layout: Layout
  let glyphs: Glyphs

  func draw(on canvas: inout Canvas) {
    guard let area = layout.tabs else { return }
    let tabs = PaneTabs(frame.state, width: area.width)
    for tab in tabs.tabs {
      let role: Role = tab.pane == frame.state.focus ? .paneTitleFocus : .paneTitle
      canvas.put(tab.text, at: Point(x: tab.x, y: area.y), role: role, maxWidth: area.width - tab.x)
    }
    let status = self.status
    guard !status.isEmpty, tabs.width + 2 + status.width <= area.width else { return }
    canvas.put(status, x: area.width - status.width, y: area.y, width: status.width)
  }

  private var status: Line {
    var line = Line(glyphs)
    switch frame.state.focus {
    case .feed: line = FeedPane.status(frame.state, glyphs)
    case .collections, .writes, .network, .detail:
      line.add(PaneFrame.count(of: frame.state.focus, frame.state, layout.layoutClass, glyphs), .paneCount)
    }
    if layout.layoutClass == .small, !line.isEmpty { line.add(" ") }
    return line
  }
}

/// Some rows below the feed that say what the columns of the selected row had to leave out: always where panes are
/// narrow, elsewhere when they are asked for.
struct SelectionStrip {
  let frame: FrameState
  let layout: Layout
  let glyphs: Glyphs

  func draw(on canvas: inout Canvas) {
    guard let area = layout.strip, area.height >= 3 else { return }
    canvas.horizontalLine(at: area.origin, width: area.width, glyphs: glyphs)
    let isHeld = frame.state.showsRequests ? !frame.state.requests.isFollowing : frame.state.feed.isPaused
    let title = isHeld ? " selected " : " newest "
    canvas.put(title, at: Point(x: 2, y: area.y), role: .paneTitle, maxWidth: area.width - 2)
    if frame.state.showsRequests { return drawRequest(in: area, on: &canvas) }
    guard let row = frame.state.feed.selected else { return }
    var first = Line(glyphs)
    first.skip(2)
    let subject = row.subject.isEmpty ? row.listenerName : row.subject
    if frame.state.feed.isOpened {
      first.add(subject, .textStrong)
      canvas.put(first, x: 0, y: area.y + 1, width: area.width)
      let interest = row.key.map { frame.state.interest(in: $0.collection) }
      let opened = OpenedRow(row: row, interest: interest, glyphs: glyphs)
      let lines = opened.lines(width: max(8, area.width - 3), limit: area.height - 2)
      for (index, text) in lines.enumerated() {
        canvas.put(text, at: Point(x: 2, y: area.y + 2 + index), maxWidth: area.width - 3)
      }
      return
    }
    first.add(PathText.fitted(subject, to: max(8, area.width / 2 - 2), glyphs.ellipsis), .textStrong)
    first.add("  " + row.summary)
    canvas.put(first, x: 0, y: area.y + 1, width: area.width)
    var second = Line(glyphs)
    second.skip(2)
    let flags = [row.isFromCache ? "cache" : nil, row.hasPendingWrites ? "pending" : nil].compactMap(\.self)
    let parts =
      [
        TimeText.milliseconds(row.time, offset: frame.state.configuration.utcOffset, from: .hours),
        row.subject.isEmpty || row.listenerName.isEmpty ? nil : row.listenerName,
        row.batch?.description, row.why,
      ].compactMap(\.self) + flags
    second.add(parts.joined(separator: " \(glyphs.bullet) "), .textMuted)
    canvas.put(second, x: 0, y: area.y + 2, width: area.width)
  }
  private func drawRequest(in area: Rect, on canvas: inout Canvas) {
    guard frame.state.requestsNote == nil, let decision = frame.state.requests.selected else { return }
    let parts = WrappedText.lines(decision.sentence, width: max(8, area.width - 3), glyphs.ellipsis)
    for (row, part) in parts.prefix(area.height - 1).enumerated() {
      canvas.put(part, at: Point(x: area.x + 2, y: area.y + 1 + row), maxWidth: area.width - 3)
    }
  }
}
