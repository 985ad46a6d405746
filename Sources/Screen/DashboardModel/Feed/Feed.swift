// SPDX-License-Identifier: Apache-2.0
package import ClientPort
package import FirestoreModel

/// The rows of pane 4: a bounded buffer of rows, and the rows that match the filter.
package struct Feed: Sendable {
  /// The maximum count of stored rows. The total also counts rows that were dropped.
  package static let capacity = 5000
  /// Rows are dropped in blocks of this size, so that an event does not move the whole buffer.
  private static let slack = 256

  /// The two lists of pane 4. It shows one of them at a time.
  package enum Tab: Hashable, Sendable { case events, requests }

  package var tab = Tab.events
  package private(set) var rows = BlockList<FeedRow>()
  /// The count of all reported events, including those whose rows were dropped.
  package private(set) var total = 0
  /// The ids of the rows that match the filter and the restriction, ascending.
  package private(set) var visible: [Int] = []
  /// The last row of a paused feed; `nil` while the feed follows the newest row.
  package private(set) var pausedAt: Int?
  package var cursor = Cursor<Int>()
  package var filter = RowFilter.none { didSet { refilter() } }
  package var onlyListener: ListenerTag? { didSet { refilter() } }
  package var onlyDocument: DocumentKey? { didSet { refilter() } }
  /// The rows of a reconnection, if the feed shows only these rows.
  package var onlySpan: FeedSpan? { didSet { refilter() } }
  /// Whether the time column shows the time since the previous row.
  package var showsDeltas = false
  /// Whether the selected row is shown in full below the list.
  package var isOpened = false
  /// The count of matching rows that were dropped.
  private var forgotten = 0
  /// The count of rows that were overwritten between two frames on a slow terminal connection, while the feed followed
  /// the newest row.
  package private(set) var overwritten = 0
  /// The line number of the current step while a scenario plays. New rows contain it.
  package var step: Int?
  package private(set) var rate = EventRate()
  /// The session band, which shows the whole session since its first event.
  package private(set) var band = SessionBand()

  package init() {}
  private var nextID = 1

  package var isPaused: Bool { pausedAt != nil }

  /// The rows that can be scrolled to: all matching rows, or those before the pause.
  package var shown: ArraySlice<Int> {
    guard let pausedAt else { return visible[...] }
    return visible[..<visibleIndex(after: pausedAt)]
  }

  /// The count of events since the pause.
  package var newCount: Int { visible.count - shown.count }

  /// The count of rows that have matched the filter and the restriction, including dropped rows. It only grows while
  /// both are unchanged.
  package var passed: Int { forgotten + visible.count }

  package subscript(id: Int) -> FeedRow? {
    guard let first = rows.first?.id, id >= first, id - first < rows.count else { return nil }
    return rows[id - first]
  }

  /// The row that commands act on: the selected row, or the newest row while the feed is not paused.
  package var selected: FeedRow? {
    if isPaused, let id = cursor.id { return self[id] }
    return shown.last.flatMap { self[$0] }
  }

  package mutating func append(_ row: FeedRow) {
    var row = row
    row.id = nextID
    row.step = step
    nextID += 1
    if row.kind != .divider { total += row.count }
    rows.append(row)
    if passes(row) { visible.append(row.id) }
    guard rows.count > Self.capacity + Self.slack else { return }
    rows.removeFirst(rows.count - Self.capacity)
    guard let oldest = rows.first?.id else { return }
    let gone = visibleIndex(after: oldest - 1)
    visible.removeFirst(gone)
    forgotten += gone
  }

  /// The source column disappears after this many consecutive rows from the server. The high count avoids flicker.
  private static let silent = 200

  /// Whether one of the last rows has a source other than the server.
  package var tellsSources: Bool {
    rows.suffix(Self.silent).contains { $0.kind != .divider && ($0.isLocal || $0.isFromCache || $0.hasPendingWrites) }
  }

  /// Adds events to the event rate.
  package mutating func countEvents(_ count: Int = 1, at now: Timestamp) {
    rate.note(count, at: now)
    band.note(events: count, at: now)
  }

  /// Records marks in the session band.
  package mutating func note(_ marks: SessionBand.Marks, at now: Timestamp) { band.note(marks, at: now) }

  package mutating func note(isOffline: Bool, at now: Timestamp) { band.note(isOffline: isOffline, at: now) }

  /// Extends the session band to the present.
  package mutating func runBand(to now: Timestamp) { band.run(to: now) }

  /// Shows another session band. For example, the band of the whole session is shown together with the feed rows of an
  /// earlier time.
  package mutating func show(_ band: SessionBand) { self.band = band }

  /// Shifts all times of the session band after the clock was set back.
  package mutating func moveBand(_ moved: (Timestamp) -> Timestamp) { band.move(moved) }

  package mutating func pause() {
    guard pausedAt == nil else { return }
    pausedAt = nextID - 1
    overwritten = 0
    if let last = visible.last {
      cursor.select(index: visible.count - 1, in: visible)
      cursor.select(last)
    }
  }

  package mutating func follow() { pausedAt = nil }

  /// Switches between the rows of all listeners and only those of the selected row's listener.
  package mutating func toggleOnlyListener() {
    onlyListener = onlyListener == nil ? selected?.listener : nil
    follow()
  }

  package mutating func toggleOnlyDocument() {
    onlyDocument = onlyDocument == nil ? selected?.key : nil
    follow()
  }

  package var isFiltered: Bool {
    onlyListener != nil || onlyDocument != nil || onlySpan != nil || !filter.isEmpty
  }

  package mutating func clearFilter() {
    onlyListener = nil
    onlyDocument = nil
    onlySpan = nil
    filter = RowFilter.none
  }

  package var reasonAgainstOnlyListener: String? {
    onlyListener == nil && selected?.listener == nil ? "no listener's row is selected" : nil
  }

  package var reasonAgainstOnlyDocument: String? {
    onlyDocument == nil && selected?.key == nil ? "no document's row is selected" : nil
  }

  package mutating func clear() {
    rows.removeAll()
    visible.removeAll()
    pausedAt = nil
    (forgotten, overwritten) = (0, 0)
  }

  /// Counts rows that no frame has shown.
  package mutating func note(overwritten count: Int) { overwritten += count }

  package mutating func forgetOverwritten() { overwritten = 0 }

  /// The count of recent rows that can report an acknowledgement whose latency is not known yet.
  private static let late = 256

  /// Replaces the summary of a row.
  package mutating func retell(_ id: Int, as summary: String) {
    guard let first = rows.first?.id, id >= first, id - first < rows.count else { return }
    rows[id - first].summary = summary
  }

  /// Assigns the rows of a listener to the listener that replaces it, or renames the listener in its rows.
  package mutating func reassign(_ old: ListenerTag, to tag: ListenerTag, name: String) {
    for index in rows.indices where rows[index].listener == old {
      rows[index].listener = tag
      rows[index].listenerName = name
    }
    if onlyListener == old { onlyListener = tag } else { refilter() }
  }

  /// Adds an acknowledgement's latency to the rows that were added before the latency was known.
  package mutating func note(_ answer: WriteAnswer) {
    for index in rows.indices.suffix(Self.late) where rows[index].acknowledges == answer.batch {
      rows[index].summary = answer.completing(rows[index].summary)
    }
  }

  /// Adds the document to recent rows that report how its write ended but do not name the document.
  package mutating func complete(_ batch: BatchID, with key: DocumentKey) {
    for index in rows.indices.suffix(Self.late) where rows[index].ends == batch && rows[index].key == nil {
      rows[index].key = key
    }
  }

  /// The recent rows in which listeners showed a batch as pending. There is one row per listener.
  package func echoes(of batch: BatchID, in key: DocumentKey) -> [FeedRow] {
    var seen: Set<ListenerTag> = []
    return rows.suffix(Self.late).filter { row in
      guard row.batch == batch, row.key == key, let listener = row.listener else { return false }
      return seen.insert(listener).inserted
    }
  }

  private mutating func refilter() {
    visible = rows.filter(passes).map(\.id)
    forgotten = 0
  }

  private func passes(_ row: FeedRow) -> Bool {
    if let onlyListener, row.listener != onlyListener, row.kind != .divider { return false }
    if let onlyDocument, row.key != onlyDocument { return false }
    if let onlySpan, !onlySpan.contains(row.id) { return false }
    return filter.matches(row.searchText, in: row.filteredDocuments)
  }

  private func visibleIndex(after id: Int) -> Int { visible.indices.partitioningIndex { visible[$0] > id } }
}

/// Feed events per second over the last seconds, as shown in the header. The current second does not count, so that the
/// header changes once a second and not with every event.
package struct EventRate: Sendable {
  private static let span: Int64 = 8
  /// The period over which the mean is computed, in seconds.
  private static let window: Int64 = 4
  /// The length of the stored history in seconds. It exceeds `span`, because a slow terminal connection shows a figure
  /// that is some seconds old.
  private static let kept: Int64 = span + 12

  private var counts: [Int64: Int] = [:]

  package mutating func note(_ count: Int, at time: Timestamp) {
    counts = counts.filter { $0.key >= time.seconds &- Self.kept && $0.key <= time.seconds }
    counts[time.seconds, default: 0] += count
  }

  /// The counts of events in each of the last `span` whole seconds, oldest first.
  package func history(at now: Timestamp) -> [Double] {
    (0..<Self.span).map { Double(counts[now.seconds &- (Self.span - $0)] ?? 0) }
  }

  /// The count of events in the current second.
  package func uncounted(at now: Timestamp) -> Int { counts[now.seconds] ?? 0 }

  package func perSecond(at now: Timestamp) -> Int {
    let sum = history(at: now).suffix(Int(Self.window)).reduce(0, +)
    return Int((sum / Double(Self.window)).rounded(.up))
  }

  /// Whether the event rate or its sparkline will change although no event occurs.
  package func isDecaying(at now: Timestamp) -> Bool { uncounted(at: now) > 0 || history(at: now).contains { $0 > 0 } }
}

/// Consecutive rows of the feed, and a name for them.
package struct FeedSpan: Hashable, Sendable {
  package let first: Int
  /// The last row; `nil` while more rows may follow.
  package let last: Int?
  package let name: String

  package init(first: Int, last: Int?, name: String) {
    self.first = first
    self.last = last
    self.name = name
  }

  func contains(_ row: Int) -> Bool { row >= first && last.map { row <= $0 } ?? true }
}
