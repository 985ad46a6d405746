// SPDX-License-Identifier: Apache-2.0
import TerminalCanvas

/// The box of an overlay; on screens without borders it takes the whole body.
struct Dialog {
  /// Where the contents go, without the border and one column of air.
  let content: Rect
  private let rect: Rect
  private let hasBorder: Bool

  /// - Parameter rows: rows of content that are wanted; fewer when the screen is small.
  init(_ layout: Layout, width: Int, rows: Int) {
    // The tab line stays where there is room for it.
    let top = layout.layoutClass == .small ? 2 : 1
    let body = Rect(x: 0, y: top, width: layout.size.width, height: max(0, layout.size.height - top - 1))
    hasBorder = layout.layoutClass.isTiled || layout.layoutClass == .small
    guard hasBorder else {
      rect = body
      content = body
      return
    }
    let width = min(width, body.width - 2)
    let height = min(rows + 2, body.height)
    rect = Rect(
      x: (body.width - width) / 2, y: body.y + (body.height - height) / 2, width: width, height: height)
    content = rect.inset(dx: 2, dy: 1)
  }

  func draw(_ title: String, _ note: String, noteRole: Role = .paneCount, on canvas: inout Canvas, _ glyphs: Glyphs) {
    canvas.fill(rect)
    guard hasBorder else { return }
    canvas.box(rect, glyphs: glyphs)
    let text = SafeText.truncated(" \(title) ", to: rect.width - 4, ellipsis: glyphs.ellipsis)
    let used = canvas.put(text, at: Point(x: rect.x + 2, y: rect.y), role: .paneTitleFocus)
    let columns = SafeText.columns(of: note)
    guard columns > 0, used + columns + 8 <= rect.width else { return }
    canvas.put(" \(note) ", at: Point(x: rect.maxX - columns - 4, y: rect.y), role: noteRole)
  }

  /// A line between two parts of the contents, joined to the border.
  func rule(at y: Int, on canvas: inout Canvas, _ glyphs: Glyphs) {
    canvas.horizontalLine(at: Point(x: rect.x, y: y), width: rect.width, glyphs: glyphs)
    guard hasBorder else { return }
    canvas.put(glyphs.leftTee, at: Point(x: rect.x, y: y), role: .border)
    canvas.put(glyphs.rightTee, at: Point(x: rect.maxX - 1, y: y), role: .border)
  }
}

extension Canvas {
  /// Draws a line of input, scrolled so that the insertion point is visible, and puts the terminal's cursor there.
  mutating func put(_ field: TextField, x: Int, y: Int, width: Int, role: Role = .input, isFocused: Bool = true) {
    guard width > 0 else { return }
    let text = field.text
    let before = SafeText.columns(of: field.beforeCursor)
    let scrolled = isFocused ? max(0, before - width + 1) : 0
    let clip = Rect(x: x, y: y, width: width, height: 1)
    if isFocused {
      fill(clip, role: role)
      put(text, at: Point(x: x - scrolled, y: y), role: role, clip: clip)
      cursor = Point(x: x + before - scrolled, y: y)
    } else {
      put(SafeText.truncated(text, to: width), at: Point(x: x, y: y), role: role, maxWidth: width)
    }
  }
}

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
