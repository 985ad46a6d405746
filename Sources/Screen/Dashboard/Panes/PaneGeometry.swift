// SPDX-License-Identifier: Apache-2.0
package import DashboardModel
import FirestoreClientState
import FirestoreModel
package import TerminalCanvas

/// The parts of a pane from top to bottom: headings, the rows of its list, a line about the selected row, a row of
/// keys. Used for drawing, for mouse events and for moving the cursor.
package struct PaneGeometry {
  package let content: Rect
  /// The row count of the headings.
  package let heads: Int
  /// The area of the list. It has at least one row, so that the cursor can move even in a hidden list.
  package let rows: Rect
  /// The row that describes the selected row.
  package let note: Int?
  /// The row of keys.
  package let hints: Int?

  /// - Parameter kept: the count of rows reserved below the list, even if they are not drawn.
  fileprivate init(_ content: Rect, heads: Int, hasNote: Bool = false, hasHints: Bool = false, below kept: Int) {
    self.content = content
    let height = max(1, content.height - heads - kept)
    self.heads = min(heads, max(0, content.height - height))
    rows = Rect(x: content.x, y: content.y + self.heads, width: content.width, height: height)
    hints = hasHints ? content.maxY - 1 : nil
    note = hasNote ? content.maxY - (hasHints ? 2 : 1) : nil
  }
}

extension DashboardState {
  package func geometry(of pane: Pane, _ layout: Layout) -> PaneGeometry {
    let content = layout.content(of: pane)
    let isLarge = layout.layoutClass == .large
    switch pane {
    case .feed: return PaneGeometry(content, heads: cardHeight(layout), below: 0)
    case .network: return PaneGeometry(content, heads: 0, hasHints: isLarge, below: 0)
    case .collections:
      let hasNote = browser.result != nil && content.height >= 6
      return PaneGeometry(
        content, heads: treeHeads(layout), hasNote: hasNote, hasHints: isLarge && content.height > 1,
        below: (isLarge ? 1 : 0) + (hasNote ? 1 : 0))
    case .writes:
      let hasError = writes.selected?.error != nil && content.height >= (isLarge ? 5 : 6)
      let hasHints = isLarge && content.height > 2 && !writes.rows.isEmpty
      return PaneGeometry(
        content, heads: isRoomy(.writes, layout) ? 1 : 0, hasNote: hasError, hasHints: hasHints,
        below: (isLarge ? 1 : 0) + (hasError ? 1 : 0))
    case .detail: return PaneGeometry(content, heads: Self.detailHeads(layout.layoutClass), below: 0)
    }
  }

  /// The count of heading rows above the tree or above the result that replaces it. The headings are the column names,
  /// and the result's query if it does not fit in the frame.
  private func treeHeads(_ layout: Layout) -> Int {
    guard layout.content(of: .collections).height >= 8 else { return 0 }
    return browser.result != nil && !ResultTitle.isInFrame(self, layout) ? 2 : 1
  }

  /// Whether the screen is large and the pane is wide enough for full words.
  package func isRoomy(_ pane: Pane, _ layout: Layout) -> Bool {
    layout.layoutClass == .large && layout.content(of: pane).width >= 68
  }

  /// The count of heading rows of a document: tabs, then a separator line or the path, then column headings, if they
  /// fit.
  private static func detailHeads(_ layoutClass: LayoutClass) -> Int {
    switch layoutClass {
    case .large: 3
    case .medium, .small: 2
    case .tiny, .line: 1
    }
  }

  /// The count of visible rows of a pane's list.
  func listHeight(of pane: Pane, _ layout: Layout) -> Int { geometry(of: pane, layout).rows.height }

  /// The maximum count of documents that the tree in pane 1 loads at a time: twice the rows of its pane, at least
  /// twenty.
  var windowLimit: Int { max(20, listHeight(of: .collections, layout(size)) * 2) }
}

/// The names and numbers of the panes on screens that show one pane at a time. Used for drawing and for mouse events.
package struct PaneTabs {
  package struct Tab {
    package var pane: Pane
    package var x: Int
    package var text: String
    var width: Int
  }

  private enum Length: CaseIterable { case roomy, tight, digits }

  package let tabs: [Tab]

  /// Uses the longest texts that fit.
  package init(_ state: DashboardState, width: Int) {
    let lengths = LayoutClass(state.size) == .small ? Length.allCases : [.tight, .digits]
    let candidates = lengths.lazy.map { Self.tabs(state, $0) }
    tabs = candidates.first { Self.width(of: $0) <= width } ?? Self.tabs(state, .digits)
  }

  package var width: Int { Self.width(of: tabs) }

  private static func width(of tabs: [Tab]) -> Int { tabs.last.map { $0.x + $0.width } ?? 0 }

  /// The pane whose tab is at a column.
  func pane(at x: Int) -> Pane? { tabs.first { $0.x..<$0.x + $0.width ~= x }?.pane }

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
      let (waiting, rejected) = (state.writes.waiting, state.writes.refusedCount)
      return (waiting > 0 ? "\(bullet)\(waiting)" : "") + (rejected > 0 ? "!\(rejected)" : "")
    case .network where length == .roomy:
      return bullet + (state.network.isOffline ? "off" : state.network.onlineState == .online ? "ok" : "..")
    case .feed: return state.feed.isPaused && state.feed.newCount > 0 ? "\(bullet)+\(state.feed.newCount)" : ""
    case .network, .collections, .detail: return ""
    }
  }
}

/// The geometry of the session band, a row above the feed that shows the whole session in time steps. Used for drawing
/// and for mouse events.
package struct SessionBandGeometry {
  /// The column of the first time step. The feed's rows show their times in the columns before it.
  package static let start = 11
  /// The words of the legend. Each follows a sign.
  package static let legend = ["write", "acknowledged", "rejected", "conflict", "offline"]
  /// The widths of the texts for the step length: `16 s` and `16 s a cell`.
  private static let (unit, wordyUnit) = (8, 15)

  package let hasLegend: Bool
  /// Whether the step length is followed by `a cell`.
  package let hasWordyUnit: Bool
  /// The drawn part of the session; `nil` if there is no row for it, and before the first event.
  package let shown: SessionBand.Shown?

  package init(_ state: DashboardState, _ layout: Layout) {
    (hasLegend, hasWordyUnit) = (layout.size.width >= 160, layout.size.width >= 100)
    guard let area = layout.band else {
      shown = nil
      return
    }
    let legend = hasLegend ? Self.legend.reduce(0) { $0 + $1.count + 4 } : 0
    // An earlier moment has the band of the present, up to its last second.
    let now = state.past == nil ? state.now : Timestamp(seconds: .max / 2)
    shown = state.feed.band.shown(
      columns: area.width - Self.start - (hasWordyUnit ? Self.wordyUnit : Self.unit) - legend, at: now)
  }

  /// The time at which the time step of a column ends.
  func moment(at x: Int) -> Timestamp? {
    guard let shown, shown.steps.indices.contains(x - Self.start) else { return nil }
    return shown.end(of: x - Self.start)
  }
}

/// The button in the first row of pane 3 that switches the network. Used for drawing and for mouse events.
package struct NetworkSwitch {
  package let text: String
  /// The columns of the button in the pane's first row.
  package let columns: Range<Int>

  package init(_ state: DashboardState, width: Int) {
    let isWide = width >= 60
    let verb = state.network.isNetworkEnabled ? "go offline" : "go online"
    text = isWide ? "[ space / o : \(verb) ]" : "[ o: \(verb) ]"
    let start = max(0, min(width - text.count - 1, isWide ? 33 : 25))
    columns = start..<start + text.count
  }
}
