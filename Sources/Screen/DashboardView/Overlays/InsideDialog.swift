// SPDX-License-Identifier: Apache-2.0
import Dashboard
import DashboardModel
import FirestoreModel
import TerminalCanvas

/// Draws the page about the client's internals: the names of its sections, the table of the shown section, and notes
/// about the table.
struct InsideDialog {
  let list: ListOverlay
  let panel: InsidePanel
  let geometry: ListGeometry
  let frame: FrameState
  let glyphs: Glyphs

  func draw(on canvas: inout Canvas) {
    let title = frame.state.configuration.attached.map { "Inside \($0.title)" } ?? "Inside the client"
    geometry.dialog.draw(title, "tab: next section", on: &canvas, glyphs)
    let (area, rows) = (geometry.dialog.content, geometry.rows)
    guard area.height > 0 else { return }
    canvas.put(sections, x: area.x, y: area.y, width: area.width)
    let table = panel.table(frame.state.insideContext)
    if let note = panel.note(table) {
      let parts = WrappedText.lines(note, width: max(8, area.width - 2), glyphs.ellipsis)
      for (row, part) in parts.prefix(rows.height).enumerated() {
        let place = Point(x: rows.x + 1, y: rows.y + row)
        canvas.put(part, at: place, role: panel.hasFailed ? .error : .textMuted, maxWidth: area.width - 1, clip: rows)
      }
    } else if let table, rows.height > 0 {
      let columns = InsideColumns(table, width: rows.width - 1)
      if rows.y > area.y + 1 { canvas.put(columns.titles(glyphs), x: area.x, y: area.y + 1, width: area.width) }
      canvas.rows(of: list.cursor, count: table.rows.count, in: rows, frame.state) {
        columns.line(table.rows[$0], glyphs)
      }
    }
    drawFoot(table, on: &canvas)
  }

  private var sections: Line {
    var line = Line(glyphs)
    line.skip(1)
    // Sections before the shown one are dropped if not all fit.
    let all = InsideSection.allCases
    let shown = all.firstIndex(of: panel.section) ?? 0
    var first = 0
    while first < shown, all[first...shown].reduce(1, { $0 + $1.rawValue.count + 2 }) > geometry.dialog.content.width {
      first += 1
    }
    for section in all[first...] {
      let isShown = section == panel.section
      line.add(isShown ? "[\(section.rawValue)]" : " \(section.rawValue) ", isShown ? .textStrong : .textMuted)
    }
    return line
  }

  /// Draws the notes, then the full text of the selected row, if they fit.
  private func drawFoot(_ table: InsideTable?, on canvas: inout Canvas) {
    let (area, top) = (geometry.dialog.content, geometry.rows.maxY)
    guard let table, top + 1 < area.maxY else { return }
    geometry.dialog.rule(at: top, on: &canvas, glyphs)
    let room = area.maxY - top - 1
    let width = max(8, area.width - 2)
    let index = list.cursor.index
    let detail = table.rows.indices.contains(index) ? table.rows[index].detail : ""
    let selected = detail.isEmpty ? [] : WrappedText.lines(detail, width: width, glyphs.ellipsis)
    let notes = table.notes.flatMap { WrappedText.lines($0, width: width, glyphs.ellipsis) }
    let kept = min(selected.count, max(1, room - notes.count))
    let lines = notes.prefix(max(0, room - kept)).map { ($0, Role.textMuted) } + selected.map { ($0, Role.text) }
    for (row, (text, role)) in lines.prefix(room).enumerated() {
      canvas.put(text, at: Point(x: area.x + 1, y: top + 1 + row), role: role, maxWidth: area.width - 1)
    }
  }
}

/// The columns of a table that fit into a width. Each column is as wide as its widest text. The flexible column gets
/// the remaining width.
struct InsideColumns {
  private let shown: [(index: Int, column: InsideTable.Column, width: Int)]
  private static let gap = 2
  private static let narrowest = 14

  init(_ table: InsideTable, width: Int) {
    var widths = table.columns.map { SafeText.columns(of: $0.title) }
    for row in table.rows {
      for (index, text) in row.cells.enumerated() { widths[index] = max(widths[index], SafeText.columns(of: text)) }
    }
    func fixed(_ columns: [Int]) -> Int {
      columns.filter { !table.columns[$0].isFlexible }.reduce(0) { $0 + widths[$1] + Self.gap }
    }
    var kept = Array(table.columns.indices)
    while fixed(kept) + Self.narrowest > width,
      let last = kept.filter({ table.columns[$0].rank > 0 }).max(by: { table.columns[$0].rank < table.columns[$1].rank }
      )
    {
      kept.removeAll { $0 == last }
    }
    let room = max(Self.narrowest, width - fixed(kept))
    shown = kept.map { index in
      let column = table.columns[index]
      return (index, column, column.isFlexible ? min(room, widths[index]) : widths[index])
    }
  }

  func titles(_ glyphs: Glyphs) -> Line {
    line(glyphs) { column, _, width, line in
      line.cell(column.title, .textMuted, width: width, right: column.isNumber)
    }
  }

  func line(_ row: InsideTable.Row, _ glyphs: Glyphs) -> Line {
    line(glyphs) { column, index, width, line in
      let text = row.cells.indices.contains(index) ? row.cells[index] : ""
      let shown = column.isFlexible ? PathText.fitted(text, to: width, glyphs.ellipsis) : text
      line.cell(shown, row.isNotable && !column.isFlexible ? .warn : .text, width: width, right: column.isNumber)
    }
  }

  private func line(
    _ glyphs: Glyphs, _ cell: (InsideTable.Column, Int, Int, inout Line) -> Void
  ) -> Line {
    var line = Line(glyphs)
    line.skip(1)
    for (place, part) in shown.enumerated() {
      if place > 0 { line.skip(Self.gap) }
      cell(part.column, part.index, part.width, &line)
    }
    return line
  }
}
