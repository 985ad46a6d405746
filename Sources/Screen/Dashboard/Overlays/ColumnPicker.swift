// SPDX-License-Identifier: Apache-2.0
package import DashboardModel
package import FirestoreModel
import TerminalCanvas

/// The list of a collection's fields for choosing the columns of its documents.
package struct ColumnPicker: Sendable {
  package let path: ResourcePath
  /// All observed fields. The fields that are shown as columns come first.
  package let names: [String]
  /// The columns that `esc` restores.
  let original: [String]?
}

extension DashboardState {
  mutating func openColumns() {
    guard let path = selectedCollection else { return }
    let shown = shownColumns(of: path)
    let all = browser.statistics[path]?.byInterest ?? []
    let names = shown + all.filter { !shown.contains($0) }
    overlay = .list(
      ListOverlay(
        content: .columns(ColumnPicker(path: path, names: names, original: browser.columns[path]?.picked))))
  }

  /// Shows or hides the selected field.
  mutating func toggleColumn() {
    guard let list = overlay?.list, case .columns(let picker) = list.content,
      picker.names.indices.contains(list.cursor.index)
    else { return }
    let name = picker.names[list.cursor.index]
    var shown = browser.columns[picker.path]?.picked ?? shownColumns(of: picker.path)
    if let index = shown.firstIndex(of: name) { shown.remove(at: index) } else { shown.append(name) }
    pickColumns(shown, of: picker.path)
  }

  private func shownColumns(of path: ResourcePath) -> [String] {
    columnFitting(of: path, layout(size), withFiltered: false).columns.map(\.name)
  }

  /// Shows the most informative fields again.
  mutating func resetColumns() {
    guard let list = overlay?.list, case .columns(let picker) = list.content else { return }
    pickColumns(nil, of: picker.path)
  }

  mutating func pickColumns(_ names: [String]?, of path: ResourcePath) {
    let documents = browser.windows[path]?.documents ?? []
    browser.columns[path, default: TreeColumns()].pick(
      names, documents, browser.statistics[path] ?? FieldStatistics())
  }

  var reasonAgainstColumns: String? {
    if browser.result != nil { return "a result has its query's columns: esc returns to the tree" }
    guard let path = selectedCollection else { return "no collection is selected" }
    return browser.statistics[path]?.documentCount ?? 0 == 0 ? "no document of \(path.text) was seen yet" : nil
  }
}

extension DashboardState {
  /// The columns of a collection that fit now, the same for all its rows.
  /// - Parameter withFiltered: whether the fields of the filter come first, so that each row shows why it is there.
  package func columnFitting(
    of path: ResourcePath, _ layout: Layout, withFiltered: Bool = true
  ) -> TreeColumns.Fitting {
    let isLarge = layout.layoutClass == .large
    let width = layout.content(of: .collections).width
    let marks = Self.documentFlags + Self.pendingMark(layout) + (timeColumn(layout) == nil ? 0 : Self.timeWidth + 2)
    let room = width - documentLead(of: path, layout) - marks - (isLarge ? 0 : 1)
    var filtered: [String] = []
    // A column shows a whole field. A condition on a part of a map has no column.
    for field in (withFiltered ? browser.windows[path]?.filter?.filter.fields : nil) ?? []
    where field.segments.count == 1 && !filtered.contains(field.first) {
      filtered.append(field.first)
    }
    let columns = (browser.columns[path] ?? TreeColumns()).leading(
      with: filtered, browser.statistics[path] ?? FieldStatistics())
    return columns.fitting(
      room: room, wanted: isLarge ? 3 : 2, takesOthers: layout.isWide)
  }

  /// The column where the ids of a collection's documents start: one indentation level further right than the
  /// collection, after a fold mark.
  func documentLead(of path: ResourcePath, _ layout: Layout) -> Int {
    1 + min(path.count * 2, layout.content(of: .collections).width / 2) + 2
  }

  /// The columns reserved at the right for source letter, cache flag, change sign and listeners. The mark of a pending
  /// write fits next to them, so the values stay aligned.
  package static let documentFlags = 4

  /// The width of the column that shows when documents last changed. If documents are sorted by creation, the column
  /// shows the creation time.
  package static let timeWidth = 10
  /// The minimum width at which the tree shows ages next to the values.
  private static let leastWithTimes = 62

  /// The width of the mark of a pending write with its batch.
  package static func pendingMark(_ layout: Layout) -> Int { layout.layoutClass == .large ? 7 : 3 }

  /// The column where the times start in the tree; `nil` if they are hidden.
  package func timeColumn(_ layout: Layout) -> Int? {
    let width = layout.content(of: .collections).width
    guard layout.layoutClass == .large, width >= Self.leastWithTimes else { return nil }
    return width - Self.documentFlags - Self.pendingMark(layout) - Self.timeWidth
  }

  /// The approximate age of a document's last change, relative to the header's time. If documents are sorted by
  /// creation, returns the creation time instead: `12:04:17`, or the date if it was another day.
  package func timeText(of document: Document) -> String {
    let isCreation = browser.windows[document.key.collection]?.shownOrder.key == .created
    guard let time = (isCreation ? document.createTime : document.version)?.timestamp else { return "" }
    // An age would be sent repeatedly. A slow line gets the time instead, which is sent once.
    if !isCreation, !screen.isLinkSlow { return TimeText.roughAge(of: time, at: shownTime) }
    let offset = configuration.utcOffset
    let isToday = TimeText.isSameDay(time, now, offset: offset)
    return isToday ? TimeText.clock(time, offset: offset) : String(TimeText.date(time).prefix(Self.timeWidth))
  }

  /// The time that the header shows. On an idle screen this is the time of the last event, otherwise the current time.
  package var shownTime: Timestamp {
    hasRunningClock || headerClock.runsOn ? headerClock.time : headerClock.lastNews
  }
}
