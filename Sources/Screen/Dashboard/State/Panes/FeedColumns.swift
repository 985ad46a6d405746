// SPDX-License-Identifier: Apache-2.0
package import DashboardModel
import FirestoreModel
import FirestoreQuery
import TerminalCanvas

/// The columns of the feed. Narrow screens lose, in this order: hours, words for sources, the listener, all but the end
/// of the document's path, the summary. Change glyph, source letter and flags always stay.
package struct FeedColumns {
  package var width: Int
  /// The columns before the time; the first is the gutter.
  package var lead = 2
  package var time = 12
  package var precision = TimeText.Precision.hours
  package var gap = 2
  package var listener = 12
  /// The width of the document column. Large screens show a root collection and an automatic id in full: `orders/` and
  /// 20 characters.
  package var document = 27
  package var documentGap = 1
  package var showsLastSegment = false
  package var showsListenerEnd = false
  package var hasWords = true
  package var source = 6
  /// The width of the summary, behind which batch numbers form a column where summaries are short.
  package var summary = 29

  /// The columns of the source and of its flags. Where all rows came from the server they say nothing, and are left out.
  package var hasSources: Bool

  /// The columns of the feed of a state.
  package init(_ state: DashboardState, _ layoutClass: LayoutClass, width: Int) {
    self.init(
      layoutClass: layoutClass, width: width, listeners: state.listeners.map(\.name),
      documents: state.listeners.map(\.documentWidth), hasSources: state.feed.tellsSources)
  }

  /// - Parameters:
  ///   - listeners: the names that the listener column must tell apart; it is no wider than they need.
  ///   - documents: the columns that the paths of their documents need.
  ///   - hasSources: whether a row is local, cached or pending.
  init(layoutClass: LayoutClass, width: Int, listeners: [String], documents: [Int], hasSources: Bool) {
    self.width = width
    self.hasSources = hasSources
    let longest = listeners.map { SafeText.columns(of: $0) }.max() ?? 0
    switch layoutClass {
    case .large:
      let spare = max(0, width - 120)
      listener = max(8, min(longest, 12 + spare / 4))
      document = max(27, min(documents.max() ?? 27, 27 + min(24, spare / 3)))
      let sources = hasSources ? 12 : 0
      summary = max(12, min(40, width - 2 - 12 - 2 - listener - 3 - document - 1 - sources - 7))
    case .medium:
      time = 9
      precision = .minutes
      gap = 1
      listener = max(4, min(longest, 11))
      document = 15 + max(-3, (width - 80) / 3)
      documentGap = 2
      hasWords = false
      source = 1
      summary = 21
    case .small:
      time = 9
      precision = .minutes
      gap = 1
      listener = width >= 56 ? max(4, min(longest, 6)) : 0
      showsListenerEnd = true
      document = 15
      documentGap = 2
      hasWords = false
      source = 1
      summary = 14
    case .tiny, .line:
      lead = 1
      time = 6
      precision = .seconds
      gap = 1
      listener = 0
      document = 8 + max(0, min(8, (width - 40) / 2))
      documentGap = 1
      showsLastSegment = true
      hasWords = false
      source = 1
      summary = 12
    }
  }
}

extension ListenerRecord {
  /// The columns of an automatic id's path; of a collection group's as many as there may be.
  fileprivate var documentWidth: Int {
    query.collectionGroup == nil ? SafeText.columns(of: query.path.text) + 21 : 60
  }
}
