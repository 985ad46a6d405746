// SPDX-License-Identifier: Apache-2.0
import DashboardModel
import FirestoreModel
import TerminalCanvas

extension DashboardState {
  /// The columns of a collection that fit now: the same in every row of it.
  func columnFitting(of path: ResourcePath, _ layout: Layout) -> TreeColumns.Fitting {
    let isLarge = layout.layoutClass == .large
    let width = layout.content(of: .collections).width
    let room = width - documentLead(of: path, layout) - Self.documentFlags - (isLarge ? 7 : 4)
    return (browser.columns[path] ?? TreeColumns()).fitting(room: room, wanted: isLarge ? 2 : 1)
  }

  /// The column at which the ids of a collection begin: one step further to the right than the collection, behind a
  /// sign for folding.
  func documentLead(of path: ResourcePath, _ layout: Layout) -> Int {
    1 + min(path.count * 2, layout.content(of: .collections).width / 2) + 2
  }

  /// The columns kept free at the right for source letter, cache flag, sign of a change and listeners. The pending mark
  /// has room beside them, so that the values stay in columns.
  static let documentFlags = 4
}
