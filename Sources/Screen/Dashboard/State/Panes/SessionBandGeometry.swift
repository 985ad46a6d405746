// SPDX-License-Identifier: Apache-2.0
package import DashboardModel
import FirestoreModel
import TerminalCanvas

/// The places of the steps in the row of the session. Used by drawing and by the mouse.
package struct SessionBandGeometry {
  /// The column of the first step: the times of the feed's rows begin and end before it.
  package static let start = 11
  /// The words of the legend, each behind a sign.
  package static let legend = ["write", "ack", "refused", "conflict", "offline"]
  /// The columns for the length of a step, `16 s`.
  private static let unit = 8

  package let hasLegend: Bool
  /// The session as it is drawn; `nil` where it has no row, and before anything happened.
  package let shown: SessionBand.Shown?

  package init(_ state: DashboardState, _ layout: Layout) {
    hasLegend = layout.size.width >= 160
    guard let area = layout.band else {
      shown = nil
      return
    }
    let legend = hasLegend ? Self.legend.reduce(0) { $0 + $1.count + 4 } : 0
    // An earlier moment has the band of the present, up to its last second.
    let now = state.past == nil ? state.now : Timestamp(seconds: .max / 2)
    shown = state.feed.band.shown(columns: area.width - Self.start - Self.unit - legend, at: now)
  }

  /// The last moment of the step in a column.
  func moment(at x: Int) -> Timestamp? {
    guard let shown, shown.steps.indices.contains(x - Self.start) else { return nil }
    return shown.end(of: x - Self.start)
  }
}
