// SPDX-License-Identifier: Apache-2.0
package import DashboardModel
package import FirestoreModel
import FirestoreQuery
import TerminalCanvas

/// The columns of the feed. On narrow screens the following are omitted, in this order: hours, words for sources, the
/// listener, all but the end of the document's path, the summary. The change sign, source letter and flags are always
/// shown.
package struct FeedColumns {
  package var width: Int
  /// The columns before the time; the first is the gutter.
  package var lead = 2
  package var time = 12
  package var precision = TimeText.Precision.hours
  package var gap = 2
  /// The width of the column with the line number of the scenario's step, which precedes the time; 0 without a
  /// scenario.
  package private(set) var step = 0
  package var listener = 12
  /// The width of the document column. Large screens show a root collection and an automatic id in full: `orders/` and
  /// 20 characters.
  package var document = 27
  package var documentGap = 1
  package var showsLastSegment = false
  package var showsListenerEnd = false
  package var hasWords = true
  package var source = 6
  /// The width of the summary. If the summaries are short, the batch numbers after them are aligned.
  package var summary = 29

  /// Whether the columns of the source and its flags are shown. They are hidden if all rows came from the server.
  package var hasSources: Bool

  /// The columns of a state's feed.
  package init(_ state: DashboardState, _ layoutClass: LayoutClass, width: Int) {
    let step = state.isInScenario && !layoutClass.isSmallerThan(.small) ? Self.stepWidth : 0
    self.init(
      layoutClass: layoutClass, width: width - step, listeners: state.listeners.map(\.name),
      documents: state.listeners.map(\.documentWidth), hasSources: state.feed.tellsSources)
    (self.step, self.width) = (step, width)
  }

  /// A line number and a blank.
  private static let stepWidth = 4

  /// - Parameters:
  ///   - listeners: the names in the listener column. The column is only as wide as needed to distinguish them.
  ///   - documents: the widths of the paths of the listeners' documents.
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
  /// The width of the path of a document with an automatic id; unlimited for a collection group.
  fileprivate var documentWidth: Int {
    query.collectionGroup == nil ? SafeText.columns(of: query.path.text) + 21 : 60
  }
}

/// Additional fields of a row's document. Wide screens show them after the summary.
package struct FeedContext {
  private static let mostFields = 12

  private let interests: [ResourcePath: FieldInterest]
  private let glyphs: Glyphs

  package init(_ state: DashboardState, _ rows: [FeedRow]) {
    let collections = Set(rows.compactMap { $0.document == nil ? nil : $0.key?.collection })
    interests = Dictionary(uniqueKeysWithValues: collections.map { ($0, state.interest(in: $0)) })
    glyphs = state.configuration.glyphs
  }

  /// The fields after the change, most informative first: `user "ada" · total 42.0`.
  /// - Parameter room: the count of available columns. Arrays and maps are expanded if everything fits.
  package func text(of row: FeedRow, room: Int) -> String {
    guard let document = row.document, row.kind == .added || row.kind == .modified,
      let interest = interests[document.key.collection], let fields = document.data?.fields, fields.count > 1
    else { return "" }
    let told = " " + row.summary
    let rest = interest.sorted(fields).filter { field in
      field.value.isTelling && !told.contains(" \(field.name) ") && !told.contains("+\(field.name) ")
    }
    var parts = rest.prefix(Self.mostFields).map { "\($0.name) \(ValueText.short($0.value))" }
    var left = room - parts.reduce(0) { $0 + SafeText.columns(of: $1) + 3 }
    for (index, field) in rest.prefix(Self.mostFields).enumerated() where left > 0 {
      let before = SafeText.columns(of: parts[index])
      let open = "\(field.name) \(ValueText.open(field.value, limit: left))"
      let more = SafeText.columns(of: open) - before
      guard more <= left else { continue }
      parts[index] = open
      left -= more
    }
    return parts.joined(separator: " \(glyphs.bullet) ")
  }
}

extension Value {
  /// Whether a user learns something from the value: it is not empty, null or a time.
  fileprivate var isTelling: Bool {
    switch self {
    case .null, .timestamp, .serverTimestamp: false
    case .map(let fields): !fields.isEmpty
    case .array(let values): !values.isEmpty
    default: true
    }
  }
}

/// The positions of the feed's rows on a slow terminal connection while the feed follows the newest row. A new row is
/// drawn over the oldest row, so that all other rows stay in place. A sign marks the newest row. Used for drawing and
/// for mouse events.
package struct FeedRing {
  private let height: Int
  private let count: Int
  /// The count of rows that were dropped before the first stored row.
  private let forgotten: Int

  /// - Returns: `nil` if the feed scrolls instead.
  package init?(_ state: DashboardState, height: Int) {
    guard state.screen.isLinkSlow, !state.feed.isPaused, !state.showsRequests, state.past == nil, height > 0 else {
      return nil
    }
    self.height = height
    count = state.feed.visible.count
    forgotten = state.feed.passed - count
  }

  /// The row of the pane in which a stored row is drawn.
  package func place(of index: Int) -> Int { (forgotten + index) % height }

  /// The index of the stored row in a row of the pane; `nil` if the row is empty.
  func index(at place: Int) -> Int? { (max(0, count - height)..<count).first { self.place(of: $0) == place } }
}

extension DashboardState {
  /// The count of feed rows since `passed` that the next frame cannot show, because a slow terminal connection skipped
  /// frames.
  package func overwrittenRows(since passed: Int) -> Int {
    let height = listHeight(of: .feed, layout(size))
    guard FeedRing(self, height: height) != nil else { return 0 }
    return max(0, feed.passed - passed - height)
  }
}

extension DashboardState {
  /// The order in which the fields of a collection are shown.
  package func interest(in collection: ResourcePath) -> FieldInterest {
    FieldInterest(
      browser.statistics[collection] ?? FieldStatistics(), picked: browser.columns[collection]?.picked)
  }
}
