// SPDX-License-Identifier: Apache-2.0
package import ClientPort
package import FirestoreModel

/// The rows of pane 4: a bounded ring, and the rows that pass the filter.
package struct Feed: Sendable {
  /// The ring drops older rows; the total still counts them.
  package static let capacity = 5000
  /// Rows are dropped in blocks to avoid shifting the whole ring for each event.
  private static let slack = 256

  /// The lists of pane 4. It shows one of them.
  package enum Tab: Hashable, Sendable { case events, requests }

  package var tab = Tab.events
  package private(set) var rows = BlockList<FeedRow>()
  /// The count of reported events, including events of dropped rows.
  package private(set) var total = 0
  /// Ids of the rows that pass filter and restriction, ascending.
  package private(set) var visible: [Int] = []
  /// The last row of a paused feed; `nil` while it follows the tail.
  package private(set) var pausedAt: Int?
  package var cursor = Cursor<Int>()
  package var filter = RowFilter.none { didSet { refilter() } }
  package var onlyListener: ListenerTag? { didSet { refilter() } }
  package var onlyDocument: DocumentKey? { didSet { refilter() } }
  /// The rows of one reconnection, if only those are shown.
  package var onlySpan: FeedSpan? { didSet { refilter() } }
  /// Whether the time column shows the time since the previous row.
  package var showsDeltas = false
  /// Whether the selected row is shown in full below the list.
  package var isOpened = false
  /// The count of visible rows that were dropped.
  private var forgotten = 0
  /// The count of rows that arrived and were overwritten between two frames on a slow line, while the feed followed its
  /// tail.
  package private(set) var overwritten = 0
  /// The line of the current step of a playing scenario; its rows have it.
  package var step: Int?
  package private(set) var rate = EventRate()
  /// The timeline of the session since its first event.
  package private(set) var band = SessionBand()

  package init() {}
  private var nextID = 1

  package var isPaused: Bool { pausedAt != nil }

  /// Rows on the page: all visible rows, or those before the pause.
  package var shown: ArraySlice<Int> {
    guard let pausedAt else { return visible[...] }
    return visible[..<visibleIndex(after: pausedAt)]
  }

  /// The count of events since the pause.
  package var newCount: Int { visible.count - shown.count }

  /// The count of rows that have passed the filter and restriction, including dropped rows. It only grows while filter
  /// and restriction are unchanged.
  package var passed: Int { forgotten + visible.count }

  package subscript(id: Int) -> FeedRow? {
    guard let first = rows.first?.id, id >= first, id - first < rows.count else { return nil }
    return rows[id - first]
  }

  /// The row that commands apply to: the selected row, or the newest while following.
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

  /// The source column disappears after this many rows from the server, so that it rarely flickers.
  private static let silent = 200

  /// Whether one of the last rows has a source other than the server.
  package var tellsSources: Bool {
    rows.suffix(Self.silent).contains { $0.kind != .divider && ($0.isLocal || $0.isFromCache || $0.hasPendingWrites) }
  }

  /// Counts events for the rate.
  package mutating func countEvents(_ count: Int = 1, at now: Timestamp) {
    rate.note(count, at: now)
    band.note(events: count, at: now)
  }

  /// Records marks in the session's band.
  package mutating func note(_ marks: SessionBand.Marks, at now: Timestamp) { band.note(marks, at: now) }

  package mutating func note(isOffline: Bool, at now: Timestamp) { band.note(isOffline: isOffline, at: now) }

  /// Extends the session's band to the present.
  package mutating func runBand(to now: Timestamp) { band.run(to: now) }

  /// Shows another band, for example the whole session's band together with the rows of an earlier time.
  package mutating func show(_ band: SessionBand) { self.band = band }

  /// Shifts all times of the band after the clock was set back.
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

  /// Toggles between the selected row's listener and all listeners.
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

  /// The count of recent rows that may report an acknowledgement before its latency is known.
  private static let late = 256

  /// Replaces the summary of a row.
  package mutating func retell(_ id: Int, as summary: String) {
    guard let first = rows.first?.id, id >= first, id - first < rows.count else { return }
    rows[id - first].summary = summary
  }

  /// Moves the rows of a listener to its replacement or renames them.
  package mutating func reassign(_ old: ListenerTag, to tag: ListenerTag, name: String) {
    for index in rows.indices where rows[index].listener == old {
      rows[index].listener = tag
      rows[index].listenerName = name
    }
    if onlyListener == old { onlyListener = tag } else { refilter() }
  }

  /// Adds an acknowledgement's latency to the rows that were added before it was known.
  package mutating func note(_ answer: WriteAnswer) {
    for index in rows.indices.suffix(Self.late) where rows[index].acknowledges == answer.batch {
      rows[index].summary = answer.completing(rows[index].summary)
    }
  }

  /// Adds the document to recent rows that report the end of its write without naming it.
  package mutating func complete(_ batch: BatchID, with key: DocumentKey) {
    for index in rows.indices.suffix(Self.late) where rows[index].ends == batch && rows[index].key == nil {
      rows[index].key = key
    }
  }

  /// The recent rows where listeners showed a batch as pending, one per listener.
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

/// Feed events per second over the last seconds: the header's figure and sparkline. The current second does not count,
/// so the header changes once a second, not with every event.
package struct EventRate: Sendable {
  private static let span: Int64 = 8
  /// The window of the mean, in seconds.
  private static let window: Int64 = 4
  /// The count of stored seconds. A slow line shows a figure that is some seconds old.
  private static let kept: Int64 = span + 12

  private var counts: [Int64: Int] = [:]

  package mutating func note(_ count: Int, at time: Timestamp) {
    counts = counts.filter { $0.key >= time.seconds &- Self.kept && $0.key <= time.seconds }
    counts[time.seconds, default: 0] += count
  }

  /// Events in each of the last `span` whole seconds, oldest first.
  package func history(at now: Timestamp) -> [Double] {
    (0..<Self.span).map { Double(counts[now.seconds &- (Self.span - $0)] ?? 0) }
  }

  /// Events in the current second.
  package func uncounted(at now: Timestamp) -> Int { counts[now.seconds] ?? 0 }

  package func perSecond(at now: Timestamp) -> Int {
    let sum = history(at: now).suffix(Int(Self.window)).reduce(0, +)
    return Int((sum / Double(Self.window)).rounded(.up))
  }

  /// Whether the figure or the sparkline will change as time passes.
  package func isDecaying(at now: Timestamp) -> Bool { uncounted(at: now) > 0 || history(at: now).contains { $0 > 0 } }
}

/// Consecutive rows of the feed, and a name for them.
package struct FeedSpan: Hashable, Sendable {
  package let first: Int
  /// The last row; `nil` while more may follow.
  package let last: Int?
  package let name: String

  package init(first: Int, last: Int?, name: String) {
    self.first = first
    self.last = last
    self.name = name
  }

  func contains(_ row: Int) -> Bool { row >= first && last.map { row <= $0 } ?? true }
}
