// SPDX-License-Identifier: Apache-2.0
import TerminalCanvas

/// The second row of screens that show one pane at a time: the other panes and their numbers.
struct TabLine {
  struct Tab {
    var pane: Pane
    var x: Int
    var text: String
    var width: Int
  }

  let state: DashboardState
  let layout: Layout
  let glyphs: Glyphs

  func draw(on canvas: inout Canvas) {
    guard let area = layout.tabs else { return }
    let tabs = Self.tabs(state, area.width)
    for tab in tabs {
      let role: Role = tab.pane == state.focus ? .paneTitleFocus : .paneTitle
      canvas.put(tab.text, at: Point(x: tab.x, y: area.y), role: role, maxWidth: area.width - tab.x)
    }
    let used = tabs.last.map { $0.x + $0.width } ?? 0
    let status = self.status
    guard !status.isEmpty, used + 2 + status.width <= area.width else { return }
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

  /// The pane whose tab is at a column.
  static func pane(at x: Int, _ state: DashboardState, _ width: Int) -> Pane? {
    tabs(state, width).first { x >= $0.x && x < $0.x + $0.width }?.pane
  }

  private enum Length: CaseIterable { case roomy, tight, digits }

  static func tabs(_ state: DashboardState, _ width: Int) -> [Tab] {
    let lengths = LayoutClass(state.size) == .small ? Length.allCases : [.tight, .digits]
    let candidates = lengths.lazy.map { tabs(state, $0) }
    return candidates.first { ($0.last.map { $0.x + $0.width } ?? 0) <= width } ?? tabs(state, .digits)
  }

  private static func tabs(_ state: DashboardState, _ length: Length) -> [Tab] {
    var panes: [Pane] = [.collections, .writes, .network, .feed]
    if state.detail != nil { panes.insert(.detail, at: 0) }
    var x = 0
    return panes.map { pane in
      let isFocused = pane == state.focus
      var text = "\(pane.rawValue)"
      switch length {
      case .roomy: text += " " + pane.shortTitle
      case .tight: text += pane == .writes ? "Wr" : pane.shortTitle
      case .digits: if isFocused { text += pane.shortTitle }
      }
      text += mark(of: pane, state, length)
      text = isFocused ? "[\(text)]" : length == .roomy ? " \(text) " : text
      let tab = Tab(pane: pane, x: x, text: text, width: SafeText.columns(of: text))
      x += tab.width + (length == .roomy ? 0 : 1)
      return tab
    }
  }

  private static func mark(of pane: Pane, _ state: DashboardState, _ length: Length) -> String {
    let bullet = state.configuration.glyphs.bullet
    switch pane {
    case .writes:
      let (waiting, rejected) = (state.writes.waiting, state.writes.rejected.count)
      return (waiting > 0 ? "\(bullet)\(waiting)" : "") + (rejected > 0 ? "!\(rejected)" : "")
    case .network where length == .roomy:
      return bullet + (state.network.isOffline ? "off" : state.network.online == .online ? "ok" : "..")
    case .feed: return state.feed.isPaused && state.feed.newCount > 0 ? "\(bullet)+\(state.feed.newCount)" : ""
    case .network, .collections, .detail: return ""
    }
  }
}
