// SPDX-License-Identifier: Apache-2.0
import TerminalCanvas

/// What stands in the upper line of a pane. Drawing and the mouse go by it.
enum PaneTitle {
  /// The column of a pane's title in its frame.
  static let start = 2

  /// The column at which the feed says whether it follows or is paused, behind its name.
  static func feedStatus(_ layoutClass: LayoutClass) -> Int {
    start + SafeText.columns(of: text(of: .feed)) + (layoutClass == .large ? 3 : 2)
  }

  static func text(of pane: Pane) -> String { " \(pane.rawValue) \(pane.title) " }
}
