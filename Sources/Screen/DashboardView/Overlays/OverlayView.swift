// SPDX-License-Identifier: Apache-2.0
import Dashboard
import DashboardModel
import FirestoreModel
import TerminalCanvas

/// Draws the overlay over the panes. A filter line is drawn in the footer instead.
struct OverlayView {
  let frame: FrameState
  let layout: Layout
  let glyphs: Glyphs

  func draw(on canvas: inout Canvas) {
    switch frame.state.overlay {
    case .list(let list): draw(list, on: &canvas)
    case .listener(let editor):
      ListenerDialog(editor: editor, frame: frame, layout: layout, glyphs: glyphs).draw(on: &canvas)
    case .confirm(let question):
      ConfirmDialog(question: question, layout: layout, glyphs: glyphs).draw(on: &canvas)
    case .fields(let editor):
      FieldEditorDialog(editor: editor, frame: frame, layout: layout, glyphs: glyphs).draw(on: &canvas)
    case .prompt(let prompt): PromptDialog(prompt: prompt, layout: layout, glyphs: glyphs).draw(on: &canvas)
    case .filter, nil: break
    }
  }

  private func draw(_ list: ListOverlay, on canvas: inout Canvas) {
    switch list.content {
    case .help(let contexts, _):
      HelpDialog(list: list, contexts: contexts, frame: frame, layout: layout, glyphs: glyphs).draw(on: &canvas)
    case .explanation(let panel):
      ExplanationDialog(list: list, panel: panel, frame: frame, layout: layout, glyphs: glyphs).draw(on: &canvas)
    case .decision(let decision):
      DecisionDialog(list: list, decision: decision, frame: frame, layout: layout, glyphs: glyphs).draw(on: &canvas)
    case .wall(let panel):
      WallView(list: list, panel: panel, frame: frame, layout: layout, glyphs: glyphs).draw(on: &canvas)
    default:
      guard let geometry = frame.state.geometry(of: list, layout) else { return }
      draw(list, geometry, on: &canvas)
    }
  }

  private func draw(_ list: ListOverlay, _ geometry: ListGeometry, on canvas: inout Canvas) {
    switch list.content {
    case .palette(let palette):
      PaletteDialog(list: list, palette: palette, geometry: geometry, frame: frame, glyphs: glyphs).draw(on: &canvas)
    case .themes(let original): drawThemes(list, original, geometry, on: &canvas)
    case .copyMenu(let items), .newMenu(let items): drawMenu(list, items, geometry, on: &canvas)
    case .faults: drawFaults(list, geometry, on: &canvas)
    case .messages: drawMessages(list, geometry, on: &canvas)
    case .columns(let picker): drawColumns(list, picker, geometry, on: &canvas)
    case .listeners:
      ListenersDialog(list: list, geometry: geometry, frame: frame, glyphs: glyphs).draw(on: &canvas)
    case .request(let decision):
      RequestDialog(list: list, decision: decision, geometry: geometry, frame: frame, glyphs: glyphs).draw(on: &canvas)
    case .inside(let panel):
      InsideDialog(list: list, panel: panel, geometry: geometry, frame: frame, glyphs: glyphs).draw(on: &canvas)
    case .help, .explanation, .decision, .wall: break
    }
  }

  private func drawMenu(_ list: ListOverlay, _ items: [MenuItem], _ geometry: ListGeometry, on canvas: inout Canvas) {
    let dialog = geometry.dialog
    dialog.draw(list.kind.title, "", on: &canvas, glyphs)
    draw(list, geometry, on: &canvas) { index in
      let item = items[index]
      var line = Line(glyphs)
      line.skip(2)
      line.cell(String(item.letter), .key, width: 3)
      line.cell(item.title, width: min(max(10, SafeText.columns(of: item.title)), 36))
      line.skip(2)
      line.add(String(item.detail.prefix(200)), .textMuted)
      return line
    }
  }

  private func drawFaults(_ list: ListOverlay, _ geometry: ListGeometry, on canvas: inout Canvas) {
    let items = FaultItem.allCases
    let dialog = geometry.dialog
    dialog.draw("Faults", "enter or the letter switches", on: &canvas, glyphs)
    draw(list, geometry, on: &canvas) { index in
      let item = items[index]
      let isOn = item.isOn(frame.state)
      var line = Line(glyphs)
      line.skip(2)
      line.cell(String(item.letter), .key, width: 3)
      line.cell(item.title, isOn ? .textStrong : .text, width: dialog.content.width < 60 ? 26 : 30)
      line.skip(1)
      line.add(item.detail(frame.state), isOn ? .stateFault : .textMuted)
      return line
    }
  }

  private func drawColumns(
    _ list: ListOverlay, _ picker: ColumnPicker, _ geometry: ListGeometry, on canvas: inout Canvas
  ) {
    let dialog = geometry.dialog
    let chosen = frame.state.browser.columns[picker.path]?.picked
    dialog.draw("Columns of \(picker.path.text)", chosen == nil ? "automatic" : "picked", on: &canvas, glyphs)
    let shown = frame.state.columnFitting(of: picker.path, layout).columns.map(\.name)
    let statistics = frame.state.browser.statistics[picker.path] ?? FieldStatistics()
    draw(list, geometry, on: &canvas) { index in
      let name = picker.names[index]
      let isShown = (chosen ?? shown).contains(name)
      var line = Line(glyphs)
      line.skip(2)
      line.cell(isShown ? "[x]" : "[ ]", .key, width: 4)
      line.cell(name, isShown ? .textStrong : .text, width: max(8, min(24, dialog.content.width / 3)))
      line.skip(1)
      line.add(statistics.facts(of: name, glyphs), .textMuted)
      if isShown, !shown.contains(name) { line.add(" \(glyphs.bullet) no room", .warn) }
      return line
    }
  }

  private func drawThemes(_ list: ListOverlay, _ original: String, _ geometry: ListGeometry, on canvas: inout Canvas) {
    let themes = frame.state.configuration.themes
    let dialog = geometry.dialog
    dialog.draw("Themes", "previewed as you move", on: &canvas, glyphs)
    draw(list, geometry, on: &canvas) { index in
      var line = Line(glyphs)
      line.skip(2)
      line.cell(themes[index].name, width: 24)
      if let isLight = themes[index].isLight { line.cell(isLight ? "light" : "dark", .textMuted, width: 7) }
      line.add(themes[index].slug, .textMuted)
      if themes[index].slug == original { line.add("  in use", .hint) }
      return line
    }
  }

  private func drawMessages(_ list: ListOverlay, _ geometry: ListGeometry, on canvas: inout Canvas) {
    let dialog = geometry.dialog
    dialog.draw("Messages", "\(frame.state.messages.count)", on: &canvas, glyphs)
    let area = dialog.content
    if geometry.rows.maxY < area.maxY, frame.state.messages.indices.contains(list.cursor.index) {
      let top = geometry.rows.maxY
      dialog.rule(at: top, on: &canvas, glyphs)
      let text = frame.state.messages[list.cursor.index].text
      let parts = WrappedText.lines(text, width: max(8, area.width - 2), glyphs.ellipsis)
      for (row, part) in parts.prefix(area.maxY - top - 1).enumerated() {
        canvas.put(part, at: Point(x: area.x + 1, y: top + 1 + row), maxWidth: area.width - 1)
      }
    }
    draw(list, geometry, on: &canvas) { index in
      let message = frame.state.messages[index]
      var line = Line(glyphs)
      line.skip(2)
      line.add(TimeText.clock(message.shownAt, offset: frame.state.configuration.utcOffset), .textMuted)
      let (word, role): (String, Role) =
        switch message.kind {
        case .info: ("  ", .text)
        case .warning: ("! ", .warn)
        case .error: ("E ", .error)
        }
      line.skip(2)
      line.add(word + message.text, role)
      return line
    }
  }

  private func draw(
    _ list: ListOverlay, _ geometry: ListGeometry, on canvas: inout Canvas, line: (Int) -> Line
  ) {
    let area = geometry.rows
    let count = frame.state.count(of: list)
    canvas.rows(of: list.cursor, count: count, in: area, frame.state, line: line)
    if count == 0, area.height > 0 { canvas.put("nothing here", at: area.origin, role: .textMuted, clip: area) }
  }
}

extension FieldStatistics {
  /// The statistics of a field: `in 34 of 40 · 5 values · changes`.
  func facts(of name: String, _ glyphs: Glyphs) -> String {
    guard let field = fields[name] else { return "not seen" }
    let values = "\(field.values.count)\(field.hasMoreValues ? "+" : "") value\(field.values.count == 1 ? "" : "s")"
    let parts = ["in \(field.documents) of \(documentCount)", values] + (field.changes > 0 ? ["changes"] : [])
    return parts.joined(separator: " \(glyphs.bullet) ")
  }
}
