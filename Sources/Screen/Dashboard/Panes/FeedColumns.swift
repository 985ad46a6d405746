// SPDX-License-Identifier: Apache-2.0
package import DashboardModel
package import FirestoreModel
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

/// The fields of a row's document besides those that its summary tells, for screens that are wide enough.
package struct FeedContext {
  private static let mostFields = 12

  private let interests: [ResourcePath: FieldInterest]
  private let glyphs: Glyphs

  package init(_ state: DashboardState, _ rows: [FeedRow]) {
    let collections = Set(rows.compactMap { $0.document == nil ? nil : $0.key?.collection })
    interests = Dictionary(uniqueKeysWithValues: collections.map { ($0, state.interest(in: $0)) })
    glyphs = state.configuration.glyphs
  }

  /// `user "ada" · total 42.0`: the fields as the change left them, the most telling ones first.
  /// - Parameter room: the columns for it: arrays and maps are opened while all has room.
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
  /// Whether the value says something beside others: not one that is empty, nor a time.
  fileprivate var isTelling: Bool {
    switch self {
    case .null, .timestamp, .serverTimestamp: false
    case .map(let fields): !fields.isEmpty
    case .array(let values): !values.isEmpty
    default: true
    }
  }
}

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

extension DashboardState {
  /// The order in which fields of a collection's documents are worth telling.
  package func interest(in collection: ResourcePath) -> FieldInterest {
    FieldInterest(
      browser.statistics[collection] ?? FieldStatistics(), picked: browser.columns[collection]?.picked)
  }
}
