// SPDX-License-Identifier: Apache-2.0
import Dashboard
import DashboardModel
import FirestoreModel
import TerminalCanvas

/// Draws the wall: a line for each listener with its last minute, then the own writes, their round trips and outages on
/// the same axis, and what happened last.
struct WallView {
  let list: ListOverlay
  let panel: WallPanel
  let frame: FrameState
  let layout: Layout
  let glyphs: Glyphs

  func draw(on canvas: inout Canvas) {
    let listeners = frame.state.wallListeners(panel)
    let geometry = WallGeometry(list, listeners, frame.state, layout)
    let shown = listeners[geometry.shown]
    let (second, pace) = (frame.state.now.seconds, geometry.pace)
    let figures = WallFigures(frame, end: second / pace * pace)
    canvas.fill(geometry.area)
    if let y = geometry.axis {
      canvas.put(axis(geometry, listeners.count, pace), x: 0, y: y, width: geometry.area.width)
    }
    drawListeners(shown, figures, geometry, on: &canvas)
    let lines = WallLines(figures: figures, frame: frame, columns: geometry.columns, glyphs: glyphs)
    if let y = geometry.writes { canvas.put(lines.writes, x: 0, y: y, width: geometry.area.width) }
    if let y = geometry.roundTrips { canvas.put(lines.roundTrips, x: 0, y: y, width: geometry.area.width) }
    for (row, y) in zip(figures.lastRows(geometry.last.count).reversed(), geometry.last) {
      canvas.put(lines.last(row, isFirst: y == geometry.last.lowerBound), x: 0, y: y, width: geometry.area.width)
    }
  }

  /// `Wall    60 s ──── 1-9 of 76, every 2 s, by rate ──── now      docs   ev/s`.
  private func axis(_ geometry: WallGeometry, _ count: Int, _ pace: Int64) -> Line {
    let columns = geometry.columns
    var line = Line(glyphs)
    line.skip(WallGeometry.Columns.sign)
    line.add("Wall", .paneTitleFocus)
    line.skip(to: columns.graph)
    let ends = ("\(Wall.span) s ", " now")
    let rule = columns.graphWidth - ends.0.count - ends.1.count
    if rule >= 1 {
      let (first, last) = (geometry.shown.lowerBound + 1, geometry.shown.upperBound)
      let notes = [
        geometry.shown.count == count ? nil : "\(first)-\(last) of \(grouped(count))",
        pace > 1 ? "every \(pace) s" : nil, panel.order == .opened ? nil : panel.order.words,
      ].compactMap(\.self)
      let texts = (0..<notes.count).reversed().map { " \(notes[...$0].joined(separator: ", ")) " }
      let word = texts.first { $0.count + 2 <= rule } ?? ""
      let left = (rule - word.count) / 2
      line.add(ends.0, .textMuted)
      line.add(String(repeating: glyphs.horizontal, count: left), .border)
      line.add(word, .textMuted)
      line.add(String(repeating: glyphs.horizontal, count: rule - word.count - left), .border)
      line.add(ends.1, .textMuted)
    }
    guard columns.hasFigures else { return line }
    line.skip(to: columns.documents)
    line.cell("docs", .textMuted, width: WallGeometry.Columns.documentsWidth, right: true)
    line.cell("ev/s", .textMuted, width: WallGeometry.Columns.rateWidth, right: true)
    return line
  }

  private func drawListeners(
    _ listeners: ArraySlice<ListenerRecord>, _ figures: WallFigures, _ geometry: WallGeometry, on canvas: inout Canvas
  ) {
    if listeners.isEmpty {
      let text = "no listener is open: space on a collection listens to it, n makes one"
      let place = Point(x: WallGeometry.Columns.name, y: geometry.rows.y)
      canvas.put(text, at: place, role: .textMuted, clip: geometry.rows)
      return
    }
    let lines = WallLines(figures: figures, frame: frame, columns: geometry.columns, glyphs: glyphs)
    var y = geometry.rows.y
    for (index, listener) in zip(geometry.shown, listeners) {
      let row = figures.row(of: listener)
      let isSelected = index == list.cursor.index
      for part in (1..<geometry.graphHeight).reversed() {
        canvas.put(lines.above(row, part, of: geometry.graphHeight), x: 0, y: y, width: geometry.area.width)
        y += 1
      }
      canvas.put(
        lines.listener(row, graphHeight: geometry.graphHeight, showsMix: geometry.showsMix(isSelected: isSelected)),
        x: 0, y: y, width: geometry.area.width)
      if isSelected { canvas.gutter(x: 0, y: y, glyphs: glyphs, isFocused: true) }
      y += 1
      guard geometry.opensMixes, let mix = row.mix else { continue }
      canvas.put(lines.mixBelow(mix), x: 0, y: y, width: geometry.area.width)
      y += 1
    }
  }
}
