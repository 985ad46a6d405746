// SPDX-License-Identifier: Apache-2.0
import Dashboard
import DashboardModel
import TerminalCanvas

/// The dialog of a decision: the values that would be overwritten, field by field, and the answers.
struct DecisionDialog {
  let list: ListOverlay
  let decision: Decision
  let frame: FrameState
  let layout: Layout
  let glyphs: Glyphs

  func draw(on canvas: inout Canvas) {
    let lanes = decision.batch.flatMap { frame.state.lanes(of: $0) }.map { WriteLanesView(lanes: $0, glyphs: glyphs) }
    let width = min(lanes == nil ? 100 : 140, layout.size.width - 4)
    let way = lanes?.lines(width: width - 4) ?? []
    // A list of the way tells what the first sentence does.
    let sentences =
      lanes != nil && width < WriteLanesView.narrowest - 6 ? decision.lead.dropFirst() : decision.lead[...]
    let lead = sentences.flatMap { WrappedText.lines($0, width: max(8, width - 6), glyphs.ellipsis) }
    let dialog = Dialog(
      layout, width: width, rows: lead.count + way.count + 2 + decision.rows.count + decision.items.count)
    dialog.draw(decision.title, "", on: &canvas, glyphs)
    let area = dialog.content
    guard area.height > 0 else { return }
    // The answers stay visible; then come the sentences, then as many fields as fit.
    var room = area.height - min(decision.items.count, area.height)
    var y = area.y
    func put(_ line: Line) {
      canvas.put(line, x: area.x, y: y, width: area.width)
      (y, room) = (y + 1, room - 1)
    }
    for text in lead.prefix(room) {
      var line = Line(glyphs)
      line.skip(1)
      line.add(text)
      put(line)
    }
    for line in way.prefix(room) { put(line) }
    if room > 2 {
      put(row(decision.heads, isDisputed: false, .textMuted, width: area.width))
      let shown = decision.rows.count < room ? decision.rows.count : max(0, room - 2)
      for fields in decision.rows.prefix(shown) {
        put(row(fields.cells, isDisputed: fields.isDisputed, .text, width: area.width))
      }
      if shown < decision.rows.count, room > 1 {
        var line = Line(glyphs)
        line.skip(3)
        line.add("\(glyphs.ellipsis) \(decision.rows.count - shown) more", .textMuted)
        put(line)
      }
    }
    if room > 0 {
      dialog.rule(at: y, on: &canvas, glyphs)
      y += 1
    }
    let rows = Rect(x: area.x, y: y, width: area.width, height: area.maxY - y)
    canvas.rows(of: list.cursor, count: decision.items.count, in: rows, frame.state) { index in
      let item = decision.items[index]
      var line = Line(glyphs)
      line.skip(2)
      line.cell(String(item.letter), .key, width: 3)
      line.cell(item.title, width: min(30, max(12, area.width / 3)))
      line.skip(1)
      line.add(item.detail, .textMuted)
      return line
    }
  }

  private func row(_ cells: [String], isDisputed: Bool, _ role: Role, width: Int) -> Line {
    var line = Line(glyphs)
    line.skip(1)
    line.cell(isDisputed ? "!" : "", .warn, width: 2)
    let room = max(cells.count, width - 3)
    let name = max(8, room / (cells.count + 1))
    let rest = (room - name) / max(1, cells.count - 1)
    for (index, cell) in cells.enumerated() {
      let columns = index == 0 ? name : rest
      line.cell(cell, index == 0 && role == .text ? .jsonKey : role, width: max(0, columns - 1))
      line.skip(1)
    }
    return line
  }
}
