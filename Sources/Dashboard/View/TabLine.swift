// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import TerminalCanvas

/// The second row of screens that show one pane at a time: the other panes and their numbers.
struct TabLine {
  let state: DashboardState
  let layout: Layout
  let glyphs: Glyphs

  func draw(on canvas: inout Canvas) {
    guard let area = layout.tabs else { return }
    let tabs = PaneTabs(state, width: area.width)
    for tab in tabs.tabs {
      let role: Role = tab.pane == state.focus ? .paneTitleFocus : .paneTitle
      canvas.put(tab.text, at: Point(x: tab.x, y: area.y), role: role, maxWidth: area.width - tab.x)
    }
    let status = self.status
    guard !status.isEmpty, tabs.width + 2 + status.width <= area.width else { return }
    canvas.put(status, x: area.width - status.width, y: area.y, width: status.width)
  }

  private var status: Line {
    var line = Line(glyphs)
    switch state.focus {
    case .feed: line = FeedPane.status(state, glyphs)
    case .collections, .writes, .network, .detail:
      line.add(PaneFrame.count(of: state.focus, state, layout.layoutClass, glyphs), .paneCount)
    }
    if layout.layoutClass == .small, !line.isEmpty { line.add(" ") }
    return line
  }
}
