// SPDX-License-Identifier: Apache-2.0
import DashboardModel
import FirestoreText
import TerminalCanvas

/// The help: every key that has a meaning here, and the meanings of the signs on the screen.
struct HelpDialog {
  let list: ListOverlay
  let contexts: [KeyContext]
  let state: DashboardState
  let layout: Layout
  let glyphs: Glyphs

  func draw(on canvas: inout Canvas) {
    let commands = list.commands(of: contexts, in: state.configuration.keymap)
    let columns = layout.size.width >= 110 ? 2 : 1
    let legend = layout.size.height >= 20 ? [explanation(commands)] + Self.legend(glyphs) : []
    let listRows = max(1, (commands.count + columns - 1) / columns)
    let dialog = Dialog(
      layout, width: columns == 2 ? 114 : 78, rows: 2 + listRows + (legend.isEmpty ? 0 : legend.count + 1))
    let place = contexts.first?.title ?? ""
    dialog.draw("Help \(glyphs.bullet) \(place)", "type to search: keys or words", on: &canvas, glyphs)
    let area = dialog.content
    guard area.height > 0 else { return }
    if let field = list.field { canvas.put(field, x: area.x, y: area.y, width: max(1, area.width - 14)) }
    let count = "\(commands.count) key\(commands.count == 1 ? "" : "s")"
    canvas.put(count, at: Point(x: area.maxX - count.count, y: area.y), role: .textMuted, clip: area)
    if area.height > 3 { dialog.rule(at: area.y + 1, on: &canvas, glyphs) }
    let top = area.y + (area.height > 3 ? 2 : 1)
    let isLegendShown = !legend.isEmpty && area.maxY - top >= legend.count + 6
    let bottom = area.maxY - (isLegendShown ? legend.count + 1 : 0)
    draw(commands, columns, in: Rect(x: area.x, y: top, width: area.width, height: bottom - top), on: &canvas)
    guard isLegendShown else { return }
    dialog.rule(at: bottom, on: &canvas, glyphs)
    for (row, text) in legend.enumerated() {
      canvas.put(text, at: Point(x: area.x, y: bottom + 1 + row), role: .textMuted, maxWidth: area.width)
    }
  }

  private func draw(_ commands: [Command], _ columns: Int, in area: Rect, on canvas: inout Canvas) {
    guard !area.isEmpty else { return }
    if commands.isEmpty {
      canvas.put("no key does that", at: area.origin, role: .textMuted, clip: area)
      return
    }
    let width = area.width / columns
    let range = list.cursor.rows(count: commands.count, height: area.height * columns)
    for (offset, index) in range.enumerated() {
      let point = Point(x: area.x + offset / area.height * width, y: area.y + offset % area.height)
      canvas.put(line(commands[index], width: width - 1), x: point.x, y: point.y, width: width - 1)
      canvas.mark(hitsOf: list.search, in: Rect(x: point.x + 2, y: point.y, width: width - 3, height: 1))
      if index == list.cursor.index { canvas.gutter(x: point.x, y: point.y, glyphs: glyphs, isFocused: true) }
    }
  }

  private func line(_ command: Command, width: Int) -> Line {
    let reason = command.reason(state)
    var line = Line(glyphs)
    line.skip(2)
    line.cell(command.keyText(glyphs, limit: 2), reason == nil ? .key : .textMuted, width: width < 40 ? 9 : 14)
    line.skip(1)
    line.add(command.help, reason == nil ? .text : .textMuted)
    if let reason { line.add(" \(glyphs.dash) \(reason)", .hint) }
    return line
  }

  /// The selected row in full: columns may cut it.
  private func explanation(_ commands: [Command]) -> String {
    guard commands.indices.contains(list.cursor.index) else { return "" }
    let command = commands[list.cursor.index]
    let reason = command.reason(state).map { " (not now: \($0))" } ?? ""
    return SafeText.truncated(
      "\(command.keyText(glyphs, limit: 9))  \(command.help)\(reason)", to: 74, ellipsis: glyphs.ellipsis)
  }

  private static func legend(_ glyphs: Glyphs) -> [String] {
    let gap = "  "
    return [
      ["+ added", "~ modified", "- removed", "= in sync", "! failed", "#42 by batch 42"].joined(separator: gap),
      ["LOCAL L you, at once", "SERVER S confirmed", "c from cache", "p pending writes"].joined(separator: gap),
    ]
  }
}

/// The command palette: one line to type into, the best matches below.
struct PaletteDialog {
  let list: ListOverlay
  let palette: Palette
  let geometry: ListGeometry
  let state: DashboardState
  let glyphs: Glyphs

  func draw(on canvas: inout Canvas) {
    let items = state.items(of: palette, list)
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
    canvas.rows(of: list.cursor, count: items.count, in: rows, state) { line(items[$0], width: area.width) }
  }

  /// Points from below to the place that is wrong, as long as the line shows all of its text.
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
    guard !typed.isEmpty, field.position == field.characters.count, let text = state.completion(of: palette, list),
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
    if case .invocation(let command, _) = item.target { reason = command.reason(state) }
    if case .command(let command) = item.target { reason = command.reason(state) }
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
