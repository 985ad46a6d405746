// SPDX-License-Identifier: Apache-2.0
import DashboardModel
import TerminalCanvas

extension DashboardState {
  /// Goes to the pane in the direction of a key; `w` and `ctrl-w` go to the next one. Where one pane fills the screen,
  /// panes lie in a row.
  mutating func goToPane(_ key: Key) {
    let direction: Layout.Direction
    switch key {
    case .character("h"), Key(.left), .ctrl("h"): direction = .left
    case .character("j"), Key(.down), .ctrl("j"): direction = .down
    case .character("k"), Key(.up), .ctrl("k"): direction = .up
    case .character("l"), Key(.right), .ctrl("l"): direction = .right
    case .character("w"), .ctrl("w"): return cycleFocus(by: 1)
    default: return
    }
    let layout = layout(size)
    guard layout.layoutClass.isTiled, !screen.isZoomed else {
      return cycleFocus(by: direction == .left || direction == .up ? -1 : 1)
    }
    if let pane = layout.neighbour(of: focus, direction, among: visiblePanes) { focusPane(pane) }
  }
}
