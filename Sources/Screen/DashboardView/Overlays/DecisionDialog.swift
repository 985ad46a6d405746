// SPDX-License-Identifier: Apache-2.0
import Dashboard
import DashboardModel
import TerminalCanvas

/// Draws the dialog of a decision: the values that would be overwritten, field by field, and the possible answers.
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
    // The history is a list on narrow screens. The list repeats the first sentence.
    let sentences =
      lanes != nil && width < WriteLanesView.narrowest - 6 ? decision.lead.dropFirst() : decision.lead[...]
    let lead = sentences.flatMap { WrappedText.lines($0, width: max(8, width - 6), glyphs.ellipsis) }
    let dialog = Dialog(
      layout, width: width,
      rows: lead.count + (decision.fraction == nil ? 0 : 1) + way.count + 2 + decision.rows.count + decision.items.count
    )
    dialog.draw(decision.title, "", on: &canvas, glyphs)
    let area = dialog.content
    guard area.height > 0 else { return }
    // The answers have precedence, then the sentences, then as many fields as fit.
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
    if let fraction = decision.fraction, room > 0 {
      var line = Line(glyphs)
      line.skip(1)
      line.add(glyphs.bar(Int(fraction * 1000), of: 1000, width: min(40, area.width - 2)), .chartLow)
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

/// Draws a question. The safe answer is selected initially. Brackets and the gutter mark the selection, not only color.
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

/// Draws a prompt: its sentences, the text field, and the error.
struct PromptDialog {
  let prompt: Prompt
  let layout: Layout
  let glyphs: Glyphs

  func draw(on canvas: inout Canvas) {
    let width = min(76, layout.size.width - 4)
    let lead = prompt.lead.flatMap { WrappedText.lines($0, width: max(8, width - 4), glyphs.ellipsis) }
    let error = prompt.error.map { WrappedText.lines("! \($0)", width: max(8, width - 4), glyphs.ellipsis) } ?? []
    let dialog = Dialog(layout, width: width, rows: lead.count + 2 + max(1, error.count))
    dialog.draw(prompt.title, "", on: &canvas, glyphs)
    let area = dialog.content
    guard area.height > 0 else { return }
    // The text field stays visible, then the error, then the sentences.
    let told = min(error.count, area.height - 1)
    var y = area.y
    for text in lead.prefix(max(0, area.height - 1 - told - 1)) {
      canvas.put(text, at: Point(x: area.x, y: y), role: .textMuted, maxWidth: area.width, clip: area)
      y += 1
    }
    if y > area.y, y < area.maxY - 1 - told { y += 1 }
    let label = SafeText.columns(of: prompt.label) + 2
    canvas.put(prompt.label, at: Point(x: area.x, y: y), role: .key, maxWidth: label, clip: area)
    canvas.put(
      prompt.field, x: area.x + label, y: y, width: max(1, area.width - label),
      role: prompt.error == nil ? .input : .inputInvalid, isFocused: true)
    if prompt.field.isEmpty {
      canvas.put(
        prompt.ghost, at: Point(x: area.x + label, y: y), role: .inputGhost, maxWidth: area.width - label, clip: area)
    }
    for (row, text) in error.prefix(told).enumerated() where y + 1 + row < area.maxY {
      canvas.put(text, at: Point(x: area.x, y: y + 1 + row), role: .error, maxWidth: area.width, clip: area)
    }
  }
}
