// SPDX-License-Identifier: Apache-2.0
import Dashboard
import DashboardModel
import TerminalCanvas

/// The write that an edit comes to, before it is sent: its kind, mask and condition, and each field's old and new
/// value.
struct FieldReviewDialog {
  let review: FieldReview
  let frame: FrameState
  let layout: Layout
  let glyphs: Glyphs

  func draw(on canvas: inout Canvas) {
    let geometry = FieldReviewGeometry(review, layout, frame.state)
    geometry.dialog.draw(review.title, "not sent yet", noteRole: .warn, on: &canvas, glyphs)
    let area = geometry.dialog.content
    for (row, text) in geometry.lead.enumerated() {
      canvas.put(
        SafeText.truncated(text, to: area.width - 1, ellipsis: glyphs.ellipsis),
        at: Point(x: area.x + 1, y: area.y + row), clip: area)
    }
    if let y = geometry.rule { geometry.dialog.rule(at: y, on: &canvas, glyphs) }
    canvas.rows(of: review.cursor, count: review.rows.count, in: geometry.rows, frame.state) { index in
      field(review.rows[index], width: area.width)
    }
    if let problem = review.problem, geometry.buttons - 1 >= area.y {
      canvas.put(
        SafeText.truncated("! \(problem)", to: area.width - 1, ellipsis: glyphs.ellipsis),
        at: Point(x: area.x + 1, y: geometry.buttons - 1), role: .error, clip: area)
    }
    var line = Line(glyphs)
    line.skip(1)
    line.add(FieldReviewGeometry.send, review.problem == nil ? .selection : .textMuted)
    line.skip(2)
    line.add(FieldReviewGeometry.back)
    canvas.put(line, x: area.x, y: geometry.buttons, width: area.width)
    drawSelected(geometry, on: &canvas)
  }

  /// Draws the full text of the selected row, if there is room.
  private func drawSelected(_ geometry: FieldReviewGeometry, on canvas: inout Canvas) {
    guard review.rows.indices.contains(review.cursor.index) else { return }
    let row = review.rows[review.cursor.index]
    let area = geometry.dialog.content
    let words = (row.old.map { "\($0) \(glyphs.arrow) " } ?? "") + row.new
    guard row.name.count + words.count + 12 > area.width else { return }
    let lines = WrappedText.lines("\(row.name) \(words)", width: max(8, area.width - 2), glyphs.ellipsis)
    let top = geometry.buttons + 2
    for (offset, text) in lines.prefix(max(0, area.maxY - top)).enumerated() {
      canvas.put(text, at: Point(x: area.x + 1, y: top + offset), role: .textMuted, clip: area)
    }
  }

  private func field(_ row: FieldReview.Row, width: Int) -> Line {
    var line = Line(glyphs)
    line.skip(1)
    let (sign, role): (String, Role) =
      switch row.change {
      case .added: ("+", .diffAdded)
      case .modified: ("~", .diffModified)
      case .removed: ("-", .diffRemoved)
      case .computed: ("*", .flagPending)
      }
    line.cell(sign, role, width: 2)
    line.cell(row.name, .jsonKey, width: max(8, min(28, width * 30 / 100)))
    line.skip(1)
    // The new value keeps half of the room, however long the old one is.
    if let old = row.old {
      let room = max(4, (width - line.width) / 2 - 2)
      line.add(SafeText.truncated(old, to: room, ellipsis: glyphs.ellipsis), .textMuted)
      line.add(" \(glyphs.arrow) ", .textMuted)
    }
    line.add(row.new, row.change == .computed ? .flagPending : .text)
    return line
  }
}
