// SPDX-License-Identifier: Apache-2.0
import TerminalCanvas

/// A question. The safe answer is selected first; brackets and the gutter say which one is, not colour alone.
struct ConfirmDialog {
  let question: Confirmation
  let layout: Layout
  let glyphs: Glyphs

  func draw(on canvas: inout Canvas) {
    let widest = question.body.map { SafeText.columns(of: $0) }.max() ?? 0
    let width = max(40, min(widest + 4, layout.size.width * 3 / 4))
    let lines = question.body.flatMap {
      WrappedText.lines($0, width: max(8, min(width, layout.size.width - 2) - 4), glyphs.ellipsis)
    }
    let typedRows = question.typed == nil ? 0 : 1
    let dialog = Dialog(layout, width: width, rows: lines.count + typedRows + 2)
    dialog.draw(question.title, "", on: &canvas, glyphs)
    let area = dialog.content
    guard area.height > 0 else { return }
    let fixed = typedRows + 1
    var y = area.y
    for text in lines.prefix(max(0, area.height - fixed)) {
      canvas.put(text, at: Point(x: area.x, y: y), maxWidth: area.width, clip: area)
      y += 1
    }
    if let typed = question.typed, y < area.maxY - 1 {
      let used = canvas.put("type it: ", at: Point(x: area.x, y: y), role: .key, maxWidth: area.width)
      canvas.put(
        typed, x: area.x + used, y: y, width: area.width - used,
        role: question.isAllowed || typed.isEmpty ? .input : .inputInvalid)
      y += 1
    }
    canvas.put(answers, x: area.x, y: min(y + 1, area.maxY - 1), width: area.width)
  }

  private var answers: Line {
    var line = Line(glyphs)
    let isAction = question.isActionSelected
    line.add(isAction ? "  Cancel  " : "[ Cancel ]", isAction ? .text : .selection)
    line.skip(2)
    let role: Role = !question.isAllowed ? .textMuted : isAction ? .confirmDanger : .text
    line.add(isAction ? "[ \(question.action) ]" : "  \(question.action)  ", role)
    return line
  }
}
