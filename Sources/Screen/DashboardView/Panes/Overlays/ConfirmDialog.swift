// SPDX-License-Identifier: Apache-2.0
import Dashboard
import DashboardModel
import TerminalCanvas

/// A question. The safe answer is selected first; brackets and the gutter say which one is, not colour alone.
struct ConfirmDialog {
  let question: Confirmation
  let layout: Layout
  let glyphs: Glyphs

  func draw(on canvas: inout Canvas) {
    let geometry = ConfirmGeometry(question, layout, glyphs)
    geometry.dialog.draw(question.title, "", on: &canvas, glyphs)
    let area = geometry.dialog.content
    guard area.height > 0 else { return }
    var y = area.y
    for text in geometry.lines.prefix(max(0, area.height - geometry.fixedRows)) {
      canvas.put(text, at: Point(x: area.x, y: y), maxWidth: area.width, clip: area)
      y += 1
    }
    if let typed = question.typed, y < area.maxY - 1 {
      let used = canvas.put("type it: ", at: Point(x: area.x, y: y), role: .key, maxWidth: area.width)
      canvas.put(
        typed, x: area.x + used, y: y, width: area.width - used,
        role: question.isAllowed || typed.isEmpty ? .input : .inputInvalid)
    }
    canvas.put(answers(geometry), x: area.x, y: geometry.answerRow, width: area.width)
  }

  private func answers(_ geometry: ConfirmGeometry) -> Line {
    var line = Line(glyphs)
    let isAction = question.isActionSelected
    line.add(geometry.cancel, isAction ? .text : .selection)
    line.skip(2)
    let role: Role = !question.isAllowed ? .textMuted : isAction ? .confirmDanger : .text
    line.add(geometry.action, role)
    return line
  }
}
