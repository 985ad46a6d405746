// SPDX-License-Identifier: Apache-2.0
package import DashboardModel
package import FirestoreModel
import FirestoreQuery
import TerminalCanvas

/// The columns of the feed. Narrow screens drop, in this order: hours, words for sources, the listener, all but the end
/// of the document's path, the summary. Change glyph, source letter and flags always remain.
package struct FeedColumns {
  package var width: Int
  /// The columns before the time; the first is the gutter.
  package var lead = 2
  package var time = 12
  package var precision = TimeText.Precision.hours
  package var gap = 2
  /// The width of the scenario's step before the time; 0 without a scenario.
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
  /// The width of the summary. Short summaries let the batch numbers after them form a column.
  package var summary = 29

  /// Whether the columns of the source and its flags are shown. They are hidden if all rows came from the server.
  package var hasSources: Bool

  /// The columns of the feed of a state.
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
  ///   - listeners: the names that the listener column must distinguish, which limits its width.
  ///   - documents: the width that the paths of their documents need.
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
  /// The width of an automatic id's path; unlimited for a collection group.
  fileprivate var documentWidth: Int {
    query.collectionGroup == nil ? SafeText.columns(of: query.path.text) + 21 : 60
  }
}

/// Further fields of a row's document next to its summary, for wide screens.
package struct FeedContext {
  private static let mostFields = 12

  private let interests: [ResourcePath: FieldInterest]
  private let glyphs: Glyphs

  package init(_ state: DashboardState, _ rows: [FeedRow]) {
    let collections = Set(rows.compactMap { $0.document == nil ? nil : $0.key?.collection })
    interests = Dictionary(uniqueKeysWithValues: collections.map { ($0, state.interest(in: $0)) })
    glyphs = state.configuration.glyphs
  }

  /// `user "ada" · total 42.0`: the fields after the change, most informative first.
  /// - Parameter room: the available columns. Arrays and maps are expanded while everything fits.
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
  /// Whether the value is informative next to others: neither empty nor a time.
  fileprivate var isTelling: Bool {
    switch self {
    case .null, .timestamp, .serverTimestamp: false
    case .map(let fields): !fields.isEmpty
    case .array(let values): !values.isEmpty
    default: true
    }
  }
}

/// The positions of the feed's rows on a slow line while the feed follows its tail. A new row replaces the oldest row,
/// so that no other row moves. A sign marks the newest row. Used by drawing and by the mouse.
package struct FeedRing {
  private let height: Int
  private let count: Int
  /// The count of rows before the first stored one.
  private let forgotten: Int

  /// - Returns: `nil` if the feed scrolls.
  package init?(_ state: DashboardState, height: Int) {
    guard state.screen.isLinkSlow, !state.feed.isPaused, !state.showsRequests, state.past == nil, height > 0 else {
      return nil
    }
    self.height = height
    count = state.feed.visible.count
    forgotten = state.feed.passed - count
  }

  /// The pane's row for a stored row's index.
  package func place(of index: Int) -> Int { (forgotten + index) % height }

  /// The stored row's index in a row of the pane; `nil` for an empty one.
  func index(at place: Int) -> Int? { (max(0, count - height)..<count).first { self.place(of: $0) == place } }
}

extension DashboardState {
  /// The count of rows since `passed` that the next frame of a slow line has no room for.
  package func overwrittenRows(since passed: Int) -> Int {
    let height = listHeight(of: .feed, layout(size))
    guard FeedRing(self, height: height) != nil else { return 0 }
    return max(0, feed.passed - passed - height)
  }
}

extension DashboardState {
  /// The display order of a collection's fields.
  package func interest(in collection: ResourcePath) -> FieldInterest {
    FieldInterest(
      browser.statistics[collection] ?? FieldStatistics(), picked: browser.columns[collection]?.picked)
  }
}
