// SPDX-License-Identifier: Apache-2.0
package import DashboardModel
package import TerminalCanvas

/// The parts of a pane from top to bottom: heads, the rows of its list, a line about the selected row, a row of keys.
/// Used by drawing, the mouse and the cursors.
package struct PaneGeometry {
  package let content: Rect
  /// The number of rows of the heads.
  package let heads: Int
  /// The area of the list; never without a row, so that a hidden list has a cursor too.
  package let rows: Rect
  /// The row of the line about the selected row.
  package let note: Int?
  /// The row of keys.
  package let hints: Int?

  /// - Parameter kept: the number of rows below the list that are reserved, whether they are drawn or not.
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

  /// The heads of the tree, or of the result in its place: the names of the columns; where the frame has no
  /// room for it also the query of the result.
  private func treeHeads(_ layout: Layout) -> Int {
    guard layout.content(of: .collections).height >= 8 else { return 0 }
    return browser.result != nil && !ResultTitle.isInFrame(self, layout) ? 2 : 1
  }

  /// Whether a pane of a large screen is wide enough for full words.
  package func isRoomy(_ pane: Pane, _ layout: Layout) -> Bool {
    layout.layoutClass == .large && layout.content(of: pane).width >= 68
  }

  /// The heads of a document: tabs, then a rule or the path, then column heads, as far as they fit.
  private static func detailHeads(_ layoutClass: LayoutClass) -> Int {
    switch layoutClass {
    case .large: 3
    case .medium, .small: 2
    case .tiny, .line: 1
    }
  }

  /// The number of rows of a pane's list that are on the screen.
  func listHeight(of pane: Pane, _ layout: Layout) -> Int { geometry(of: pane, layout).rows.height }

  /// The number of documents in a window of the browser: two screens, and at least twenty.
  var windowLimit: Int { max(20, listHeight(of: .collections, layout(size)) * 2) }
}
