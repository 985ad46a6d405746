// SPDX-License-Identifier: Apache-2.0
package import DashboardModel
import FirestoreClientState
import FirestoreModel
package import TerminalCanvas

/// The user's settings for the wall, the full-screen view of all listeners.
package struct WallPanel: Sendable {
  package var order = WallOrder.opened
}

extension DashboardState {
  /// Whether the wall is on screen.
  package var showsWall: Bool { overlay?.kind == .wall }

  mutating func openWall() { overlay = .list(ListOverlay(content: .wall(WallPanel()))) }

  /// The listeners on the wall, in display order.
  package func wallListeners(_ panel: WallPanel) -> [ListenerRecord] {
    panel.order.sorted(listeners, wall, at: now.seconds)
  }

  /// Changes the sort order of the wall. The same listener remains selected.
  mutating func changeWallOrder() {
    guard let list = overlay?.list, case .wall(var panel) = list.content else { return }
    let before = wallListeners(panel)
    let selected = before.indices.contains(list.cursor.index) ? before[list.cursor.index].tag : nil
    panel.order = panel.order.next
    let after = wallListeners(panel)
    overlay?.list?.content = .wall(panel)
    overlay?.list?.cursor.select(index: after.firstIndex { $0.tag == selected } ?? 0, in: after.indices)
    toast(.info, "listeners \(panel.order.words)")
  }

  /// The listener that is selected on the wall.
  var wallListener: ListenerRecord? {
    guard let list = overlay?.list, case .wall(let panel) = list.content else { return nil }
    let listeners = wallListeners(panel)
    return listeners.indices.contains(list.cursor.index) ? listeners[list.cursor.index] : nil
  }

  /// The next full second at which the wall changes because time passes; `nil` if it does not change.
  var nextWallTick: Timestamp? { showsWall && (wall.isMoving(at: now) || network.isOffline) ? now.nextSecond : nil }
}

/// The geometry of the wall. It depends on the screen size and on the contents.
package struct WallGeometry {
  /// The columns of a row.
  package struct Columns {
    /// The first columns of the sign and the name, counted from the left border.
    package static let sign = 1
    package static let name = 3
    /// The minimum width of the names: the rows `writes` and `rtt ms` need 6 columns.
    private static let leastName = 6
    package let width: Int
    package let nameWidth: Int
    package let graph: Int
    package let graphWidth: Int
    /// The seconds per column of the graph.
    package let step: Int
    package let documents: Int
    package static let documentsWidth = 8
    package let rate: Int
    package static let rateWidth = 7
    /// The width of the value bars next to the figures; 0 if there is no space for them. A value bar shows a result's
    /// document counts by field value (`ValueMix`).
    package let mix: Int
    package let mixWidth: Int

    fileprivate static let steps = [1, 2, 3, 4, 5, 6, 10, 12, 15, 20, 30, 60]
    /// The minimum width at which value bars are readable.
    private static let leastMix = 40

    init(width: Int, longestName: Int) {
      let most = width < 60 ? 10 : width < 100 ? 16 : width < 150 ? 24 : 32
      self.width = width
      nameWidth = max(Self.leastName, min(most, longestName))
      graph = Self.name + nameWidth + 1
      let figures = width < 36 ? 0 : Self.documentsWidth + Self.rateWidth + 1
      let room = max(0, width - graph - figures)
      step = Self.steps.first { Wall.span / $0 <= room } ?? Wall.span
      graphWidth = min(room, Wall.span / step)
      documents = graph + graphWidth
      rate = documents + (figures > 0 ? Self.documentsWidth : 0)
      let end = documents + figures
      mix = end + 2
      mixWidth = width - mix >= Self.leastMix ? width - mix - 1 : 0
    }

    package var hasFigures: Bool { rate > documents }
  }

  package let area: Rect
  package let columns: Columns
  package let axis: Int?
  /// The rows of the listeners.
  package let rows: Rect
  /// The height in rows of a listener's graph. Wide screens with few listeners use several rows.
  package let graphHeight: Int
  /// Whether the value bars are on separate lines. This requires space for all listeners.
  package let opensMixes: Bool
  package let writes: Int?
  package let roundTrips: Int?
  package let last: Range<Int>
  /// The seconds between two steps of the graphs.
  package let pace: Int64
  /// The indices of the listeners on screen, in display order.
  package let shown: Range<Int>

  package init(_ list: ListOverlay, _ listeners: [ListenerRecord], _ state: DashboardState, _ layout: Layout) {
    let end = layout.footer?.y ?? layout.size.height
    area = Rect(x: 0, y: 1, width: layout.size.width, height: max(0, end - 1))
    let height = area.height
    columns = Columns(
      width: area.width, longestName: listeners.map { SafeText.columns(of: $0.name) }.max() ?? 0)
    axis = height >= 4 ? area.y : nil
    let hasWrites = height >= 7
    let gap = height >= 16 ? 1 : 0
    let lines = height < 9 ? 0 : min(8, max(1, (height - 7) / 5))
    let top = area.y + (axis == nil ? 0 : 1)
    let room = max(0, area.maxY - lines - (hasWrites ? 2 + 2 * gap : 0) - top)
    let count = max(1, listeners.count)
    graphHeight = layout.isWide ? max(1, min(Self.tallest, room / count, Self.mostGraphRows / count)) : 1
    let mixes = columns.mixWidth > 0 ? 0 : listeners.count { state.listening.result(of: $0.tag)?.mix != nil }
    // The remaining rows show the latest events.
    rows = Rect(x: 0, y: top, width: area.width, height: min(room, count * graphHeight + mixes))
    writes = hasWrites ? rows.maxY + gap : nil
    roundTrips = writes.map { $0 + 1 }
    let below = roundTrips.map { $0 + 1 + gap } ?? rows.maxY
    last = min(below, area.maxY - lines)..<area.maxY
    shown = list.cursor.rows(count: listeners.count, height: rows.height / graphHeight)
    let now = state.now.seconds
    let moving = listeners[shown].count { state.wall.events(of: $0.tag).sum(Wall.span, before: now) > 0 }
    pace = Self.pace(ofMovingRows: moving * graphHeight)
    opensMixes = mixes > 0 && listeners.count + mixes <= rows.height && pace == 1
  }

  private static let tallest = 3
  /// The maximum count of rows with taller graphs. The limit follows from the wall's byte budget, because all these
  /// rows can change each second.
  private static let mostGraphRows = 12

  /// Whether to draw the value bars of a listener's documents. If the graphs move less than once a second, only the
  /// selected listener has them.
  package func showsMix(isSelected: Bool) -> Bool { columns.mixWidth > 0 && (pace == 1 || isSelected) }

  /// The approximate count of bytes that the terminal receives each time a row with a full history moves.
  private static let bytesOfRow = 230
  /// The byte budget of the rows per second. The whole wall may use 5 KB per second.
  private static let bytesPerSecond = 3_200

  /// The interval in seconds between moves of the graphs, for a count of rows with events. With more rows, the graphs
  /// move less often, which limits the bytes sent.
  private static func pace(ofMovingRows count: Int) -> Int64 {
    let needed = (count * bytesOfRow + bytesPerSecond - 1) / bytesPerSecond
    return Int64(Columns.steps.first { $0 >= needed } ?? Wall.span)
  }
}

/// The figures of the wall up to a given second (exclusive). The wall draws them, and `hearth wall --json` prints them.
package struct WallFigures: Sendable {
  package struct Row: Sendable {
    package var listener: ListenerRecord
    /// Whether the documents come from the cache.
    package var isFromCache: Bool
    /// The events of each second, oldest first.
    package var events: [Int]
    /// The mean count of events per second over the last seconds.
    package var perSecond: Double
    package var mix: ValueMix.Shown?
  }

  /// The end of the shown period, exclusive, in seconds.
  package let end: Int64
  private let frame: FrameState

  package init(_ frame: FrameState, end: Int64) {
    self.frame = frame
    self.end = end
  }

  /// The count of seconds at the start of the period for which no data exists, because the dashboard started later.
  package var unseen: Int {
    max(0, min(Wall.span, Int(clamping: frame.state.wall.start.seconds - end + Int64(Wall.span))))
  }

  package func row(of listener: ListenerRecord) -> Row {
    let series = frame.state.wall.events(of: listener.tag)
    let rate = Double(series.sum(Wall.rateSpan, before: end)) / Double(Wall.rateSpan)
    return Row(
      listener: listener,
      isFromCache: listener.failure == nil && listener.count != nil
        && (listener.isFromCache || frame.state.network.isOffline),
      events: series.last(Wall.span, before: end), perSecond: rate,
      mix: listener.failure == nil ? frame.state.listening.result(of: listener.tag)?.mix : nil)
  }

  package var made: [Int] { frame.state.wall.made.last(Wall.span, before: end) }
  package var acknowledged: [Int] { frame.state.wall.acknowledged.last(Wall.span, before: end) }
  package var rejected: [Int] { frame.state.wall.rejected.last(Wall.span, before: end) }

  /// The longest round trip of each second in milliseconds, encoded as in `Wall.roundTrips`: 0 for none, otherwise the
  /// round trip plus 1.
  package var roundTrips: [Int] { frame.state.wall.roundTrips.last(Wall.span, before: end) }

  /// Recent round trips in milliseconds. Before this dashboard has observed one, returns the round trips that the
  /// client has stored.
  package var roundTripTimes: Histogram {
    let seen = frame.state.wall.recentTrips
    let kept = frame.state.network.roundTrips.map { Int(clamping: TimeText.wholeMilliseconds($0)) }
    return Histogram(seen.isEmpty ? kept : seen)
  }

  /// Whether the client was offline during any part of a second, for each second.
  package var outages: [Bool] {
    let all = frame.state.outages.all.filter { ($0.end?.seconds ?? end) >= end &- Int64(Wall.span) }
    return (0..<Wall.span).map { step in
      let second = end &- Int64(Wall.span - step)
      return all.contains { $0.start.seconds <= second && second <= ($0.end?.seconds ?? end) }
    }
  }

  /// The last feed rows before the end of the period, newest last.
  package func lastRows(_ count: Int) -> [FeedRow] {
    let rows = frame.state.feed.rows.suffix(Self.searched).filter { $0.kind != .divider || !$0.summary.isEmpty }
    let told = rows.filter { $0.time.seconds < end }
    return Array((told.isEmpty ? Array(rows) : Array(told)).suffix(count))
  }

  /// The maximum count of feed rows that are searched for the latest rows. If more rows than this arrive in a second,
  /// you could not read them anyway.
  private static let searched = 256
}
