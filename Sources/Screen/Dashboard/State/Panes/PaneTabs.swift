// SPDX-License-Identifier: Apache-2.0
package import DashboardModel
import FirestoreClientState
import TerminalCanvas

/// The panes' names and numbers, on screens that show one pane at a time. Drawing and the mouse go by it.
package struct PaneTabs {
  package struct Tab {
    package var pane: Pane
    package var x: Int
    package var text: String
    var width: Int
  }

  private enum Length: CaseIterable { case roomy, tight, digits }

  package let tabs: [Tab]

  /// The longest texts that fit.
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
