// SPDX-License-Identifier: Apache-2.0
package import DashboardModel
import FirestoreModel
package import TerminalCanvas

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
