// SPDX-License-Identifier: Apache-2.0
package import DashboardModel
import FirestoreClientState
import FirestoreModel
package import TerminalCanvas

/// The choices of the user on the wall.
package struct WallPanel: Sendable {
  package var order = WallOrder.opened
}

extension DashboardState {
  /// Whether the wall is on the screen.
  package var showsWall: Bool { overlay?.kind == .wall }

  mutating func openWall() { overlay = .list(ListOverlay(content: .wall(WallPanel()))) }

  /// The listeners of the wall in its order.
  package func wallListeners(_ panel: WallPanel) -> [ListenerRecord] {
    panel.order.sorted(listeners, wall, at: now.seconds)
  }

  /// Changes the order of the wall; the selected listener stays selected.
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

  /// The next second in which the wall changes by itself; `nil` while it stands still.
  var nextWallTick: Timestamp? { showsWall && (wall.isMoving(at: now) || network.isOffline) ? now.nextSecond : nil }
}

/// The places of the parts of the wall, from the size of the screen and what there is to show.
package struct WallGeometry {
  /// The columns of a row.
  package struct Columns {
    /// The beginnings, counted from the left border.
    package static let sign = 1
    package static let name = 3
    /// The columns of the names of the own lines, `writes` and `rtt ms`.
    private static let leastName = 6
    package let width: Int
    package let nameWidth: Int
    package let graph: Int
    package let graphWidth: Int
    /// The seconds of a column of the graph.
    package let step: Int
    package let documents: Int
    package static let documentsWidth = 8
    package let rate: Int
    package static let rateWidth = 7
    /// The bars of values beside the figures; no columns where there is no room for them.
    package let mix: Int
    package let mixWidth: Int

    fileprivate static let steps = [1, 2, 3, 4, 5, 6, 10, 12, 15, 20, 30, 60]
    /// The columns from which bars can be read.
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
  /// The rows of a listener's graph: on wide screens more than one while few listeners are open.
  package let graphHeight: Int
  /// Whether the bars of values have lines of their own, which only happens where all listeners have room.
  package let opensMixes: Bool
  package let writes: Int?
  package let roundTrips: Int?
  package let last: Range<Int>
  /// The seconds between two moves of the graphs.
  package let pace: Int64
  /// The listeners on the screen, by their places in the order of the wall.
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
    // The rows that the listeners leave are those of what happened last.
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
  /// The rows that graphs of more than one may take: so many move each second within the wall's budget of bytes.
  private static let mostGraphRows = 12

  /// Whether the values of a listener's documents are drawn: of all while few rows move, else of the selected one.
  package func showsMix(isSelected: Bool) -> Bool { columns.mixWidth > 0 && (pace == 1 || isSelected) }

  /// The bytes that a row with a full history takes each time it moves, more or less.
  private static let bytesOfRow = 230
  /// The bytes that the rows may take in a second: what is left of the wall's 5 KB by the rest of it.
  private static let bytesPerSecond = 3_200

  /// The pace for a number of rows with events: more of them move less often, so that the line carries them.
  private static func pace(ofMovingRows count: Int) -> Int64 {
    let needed = (count * bytesOfRow + bytesPerSecond - 1) / bytesPerSecond
    return Int64(Columns.steps.first { $0 >= needed } ?? Wall.span)
  }
}

/// The figures of the wall up to a second, which is not part of them: what is drawn, and what `hearth wall --json` prints.
package struct WallFigures: Sendable {
  package struct Row: Sendable {
    package var listener: ListenerRecord
    /// Whether the documents are those of the cache.
    package var isFromCache: Bool
    /// The events of each second, oldest first.
    package var events: [Int]
    /// The mean of the last seconds.
    package var perSecond: Double
    package var mix: ValueMix.Shown?
  }

  /// The second before which everything happened that is shown.
  package let end: Int64
  private let frame: FrameState

  package init(_ frame: FrameState, end: Int64) {
    self.frame = frame
    self.end = end
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

  /// The longest round trip of each second in milliseconds, as `Wall.roundTrips` keeps it: 0 for none, else one more.
  package var roundTrips: [Int] { frame.state.wall.roundTrips.last(Wall.span, before: end) }

  /// The round trips of late in milliseconds; before any was seen, those that the client has kept.
  package var roundTripTimes: Histogram {
    let seen = frame.state.wall.recentTrips
    let kept = frame.state.network.roundTrips.map { Int(clamping: TimeText.wholeMilliseconds($0)) }
    return Histogram(seen.isEmpty ? kept : seen)
  }

  /// Whether the client was offline in a part of each second.
  package var outages: [Bool] {
    let all = frame.state.outages.all.filter { ($0.end?.seconds ?? end) >= end &- Int64(Wall.span) }
    return (0..<Wall.span).map { step in
      let second = end &- Int64(Wall.span - step)
      return all.contains { $0.start.seconds <= second && second <= ($0.end?.seconds ?? end) }
    }
  }

  /// The rows of the feed that were told before the end, newest last: at most so many.
  package func lastRows(_ count: Int) -> [FeedRow] {
    let rows = frame.state.feed.rows.suffix(Self.searched).filter { $0.kind != .divider || !$0.summary.isEmpty }
    let told = rows.filter { $0.time.seconds < end }
    return Array((told.isEmpty ? Array(rows) : Array(told)).suffix(count))
  }

  /// The number of rows among which the last ones are looked for: more in a second are not read anyway.
  private static let searched = 256
}
