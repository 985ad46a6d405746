// SPDX-License-Identifier: Apache-2.0
import Dashboard
import DashboardModel
import FirestoreText
import TerminalCanvas

/// Draws the command palette: a text field, and the best matches below it.
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
      isPath ? "New document" : "Commands", isPath ? "" : "\(items.count) of \(palette.listedCount)", on: &canvas,
      glyphs)
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
    if rows.maxY + 2 <= area.maxY, items.indices.contains(list.cursor.index) {
      dialog.rule(at: rows.maxY, on: &canvas, glyphs)
      canvas.put(
        foot(of: items[list.cursor.index]), at: Point(x: area.x + 2, y: rows.maxY + 1), role: .textMuted, clip: area)
    }
  }

  /// The full text of the selected row, or the reason why its command is unavailable.
  private func foot(of item: Palette.Item) -> String {
    if let reason = reason(against: item) { return "not now: \(reason)" }
    let isTyped = list.field?.text.trimmed.lowercased() == item.name
    if item.needsFullName, !isTyped { return "\(item.title): runs by its full name, \(glyphs.enter) types it" }
    return item.title
  }

  private func reason(against item: Palette.Item) -> String? {
    switch item.target {
    case .invocation(let command, _), .command(let command): command.reason(frame.state)
    default: nil
    }
  }

  /// Marks the column of an error below the typed line, if the whole line is visible.
  private func drawCaret(_ items: [Palette.Item], at point: Point, width: Int, on canvas: inout Canvas) {
    guard let typed = list.field?.text, SafeText.columns(of: typed) < width else { return }
    for case .problem(let problem) in items.lazy.map(\.target) {
      guard let column = problem.column, items.last?.title == problem.description else { return }
      let before = String(String.UnicodeScalarView(typed.unicodeScalars.prefix(column - 1)))
      canvas.put("^", at: Point(x: point.x + SafeText.columns(of: before), y: point.y), role: .error)
    }
  }

  /// Draws the text that `tab` would add.
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
    let isAvailable = reason(against: item) == nil
    let key = isAvailable ? item.detail : "not now"
    let keyWidth = SafeText.columns(of: key)
    let room = width - 3 - (keyWidth > 0 ? keyWidth + 1 : 0)
    var line = Line(glyphs)
    line.skip(2)
    let name = SafeText.truncated(item.name, to: room, ellipsis: glyphs.ellipsis)
    line.add(name, isAvailable ? .text : .textMuted)
    let used = max(Self.nameWidth, SafeText.columns(of: name) + 2)
    if room > used + 8 {
      line.skip(used - SafeText.columns(of: name))
      line.cell(item.title, .textMuted, width: room - used)
    } else {
      line.skip(room - SafeText.columns(of: name))
    }
    line.skip(1)
    line.add(key, .hint)
    return line
  }

  /// The width of the names in columns. After a longer name, the description starts further right.
  private static let nameWidth = 18
}
