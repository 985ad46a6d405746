// SPDX-License-Identifier: Apache-2.0
import TerminalCanvas

/// The content of the upper line of a pane. Used by drawing and by the mouse.
package enum PaneTitle {
  /// The column of a pane's title in its frame.
  package static let start = 2

  /// The column of the feed's status, followed or paused, behind its name.
  package static func feedStatus(_ layoutClass: LayoutClass) -> Int {
    start + SafeText.columns(of: text(of: .feed)) + (layoutClass == .large ? 3 : 2)
  }

  package static func text(of pane: Pane) -> String { " \(pane.rawValue) \(pane.title) " }
}
