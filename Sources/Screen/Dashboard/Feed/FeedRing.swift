// SPDX-License-Identifier: Apache-2.0
import DashboardModel

/// The places of the feed's rows on a slow line, while the feed follows its end: a new row takes the place of the oldest
/// one, so that no other moves, and a sign moves to the newest. Used by drawing and by the mouse.
package struct FeedRing {
  private let height: Int
  private let count: Int
  /// The number of rows before the first that is kept.
  private let forgotten: Int

  /// - Returns: `nil` where the feed scrolls.
  package init?(_ state: DashboardState, height: Int) {
    guard state.screen.isLinkSlow, !state.feed.isPaused, !state.showsRequests, state.past == nil, height > 0 else {
      return nil
    }
    self.height = height
    count = state.feed.visible.count
    forgotten = state.feed.passed - count
  }

  /// The row of the pane for the row of a number among those that are kept.
  package func place(of index: Int) -> Int { (forgotten + index) % height }

  /// The number, among the rows that are kept, of what stands in a row of the pane; `nil` for an empty one.
  func index(at place: Int) -> Int? { (max(0, count - height)..<count).first { self.place(of: $0) == place } }
}

extension DashboardState {
  /// The number of rows that came into the feed since it had let `passed` of them pass, and for which a slow line's next
  /// frame has no place any more.
  package func overwrittenRows(since passed: Int) -> Int {
    let height = listHeight(of: .feed, layout(size))
    guard FeedRing(self, height: height) != nil else { return 0 }
    return max(0, feed.passed - passed - height)
  }
}
