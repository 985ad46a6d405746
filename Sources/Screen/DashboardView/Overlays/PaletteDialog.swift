// SPDX-License-Identifier: Apache-2.0
import Dashboard
import DashboardModel
import FirestoreText
import TerminalCanvas

/// The command palette: a text field, with the best matches below.
struct PaletteDialog {
  let list: ListOverlay
  let palette: Palette
  let geometry: ListGeometry
  let frame: FrameState
  let glyphs: Glyphs

  func draw(on canvas: inout Canvas) {
    let items = frame.state.items(of: palette, list)
    let (dialog, rows) = (geometry.dialog, geometry.rows)
    let isPath = palette.asksForPath
    dialog.draw(
      isPath ? "New document" : "Commands", isPath ? "" : "\(items.count) of \(palette.all.count)", on: &canvas, glyphs)
    let area = dialog.content
    guard area.height > 0 else { return }
    canvas.put(isPath ? "/" : ":", at: area.origin, role: .key)
    if let field = list.field {
      canvas.put(field, x: area.x + 2, y: area.y, width: area.width - 2)
      drawGhost(behind: field, at: Point(x: area.x + 2, y: area.y), width: area.width - 2, on: &canvas)
    }
    if rows.y == area.y + 2 {
      dialog.rule(at: area.y + 1, on: &canvas, glyphs)
      drawCaret(items, at: Point(x: area.x + 2, y: area.y + 1), width: area.width - 2, on: &canvas)
    }
    if items.isEmpty, rows.height > 0 {
      let isTyped = list.field?.text.isEmpty == false
      let text = !isPath ? "nothing matches" : isTyped ? "not a path" : "orders makes an id, orders/o1 has one"
      canvas.put(text, at: Point(x: area.x + 2, y: rows.y), role: .textMuted, clip: area)
    }
    canvas.rows(of: list.cursor, count: items.count, in: rows, frame.state) { line(items[$0], width: area.width) }
  }

  /// Points from below to the place of an error, while the line shows its whole text.
  private func drawCaret(_ items: [Palette.Item], at point: Point, width: Int, on canvas: inout Canvas) {
    guard let typed = list.field?.text, SafeText.columns(of: typed) < width else { return }
    for case .problem(let problem) in items.lazy.map(\.target) {
      guard let column = problem.column, items.last?.title == problem.description else { return }
      let before = String(String.UnicodeScalarView(typed.unicodeScalars.prefix(column - 1)))
      canvas.put("^", at: Point(x: point.x + SafeText.columns(of: before), y: point.y), role: .error)
    }
  }

  /// The text that `tab` would add.
  private func drawGhost(behind field: TextField, at point: Point, width: Int, on canvas: inout Canvas) {
    let typed = field.text
    guard !typed.isEmpty, field.position == field.characters.count,
      let text = frame.state.completion(of: palette, list),
      text.hasPrefix(typed)
    else { return }
    let used = SafeText.columns(of: typed)
    let cursor = canvas.cursor
    canvas.put(
      String(text.dropFirst(typed.count)), at: Point(x: point.x + used, y: point.y), role: .inputGhost,
      maxWidth: width - used)
    canvas.cursor = cursor
  }

  private func line(_ item: Palette.Item, width: Int) -> Line {
    if case .problem(let problem) = item.target {
      var line = Line(glyphs)
      line.skip(2)
      line.add(item.title, item.title == problem.description ? .error : .textMuted)
      return line
    }
    var reason: String?
    if case .invocation(let command, _) = item.target { reason = command.reason(frame.state) }
    if case .command(let command) = item.target { reason = command.reason(frame.state) }
    var line = Line(glyphs)
    line.skip(2)
    let isNarrow = width < 52
    let title = isNarrow ? width - 3 : width - 28
    line.cell(item.title, reason == nil ? .text : .textMuted, width: title)
    guard !isNarrow else { return line }
    line.skip(1)
    line.cell(item.group, .textMuted, width: 14)
    line.skip(1)
    line.add(SafeText.truncated(reason.map { _ in "not now" } ?? item.detail, to: 10, ellipsis: glyphs.ellipsis), .hint)
    return line
  }
}
