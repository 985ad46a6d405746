// SPDX-License-Identifier: Apache-2.0
package import DashboardModel
package import TerminalCanvas

extension DashboardState {
  /// The area of the newest message, if there is one: beside the badges of the footer, or over a pane's title while a
  /// line is typed there. Used by drawing and by the mouse.
  package func toastArea(_ layout: Layout) -> Rect? {
    guard !toasts.isEmpty, let footer = layout.footer else { return nil }
    if overlay?.filterLine != nil {
      let y = layout.tabs?.y ?? layout.panes[.feed]?.y ?? layout.panes[focus]?.y ?? footer.y
      return Rect(x: 0, y: y, width: footer.width, height: 1)
    }
    let badges = Footer(self, width: footer.width).badges
    let width = badges.isEmpty ? footer.width : footer.width - badges.width - 1
    return Rect(x: 0, y: footer.y, width: max(0, width), height: 1)
  }
}
