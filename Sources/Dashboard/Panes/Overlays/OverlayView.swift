// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import TerminalCanvas

/// Draws what lies over the panes; the filter line takes the footer's place instead.
struct OverlayView {
  let state: DashboardState
  let layout: Layout
  let glyphs: Glyphs

  func draw(on canvas: inout Canvas) {
    switch state.overlay {
    case .list(let list): draw(list, on: &canvas)
    case .listener(let editor):
      ListenerDialog(editor: editor, state: state, layout: layout, glyphs: glyphs).draw(on: &canvas)
    case .confirm(let question):
      ConfirmDialog(question: question, layout: layout, glyphs: glyphs).draw(on: &canvas)
    case .filter, nil: break
    }
  }

  private func draw(_ list: ListOverlay, on canvas: inout Canvas) {
    switch list.content {
    case .help(let contexts):
      HelpDialog(list: list, contexts: contexts, state: state, layout: layout, glyphs: glyphs).draw(on: &canvas)
    case .palette(let palette):
      PaletteDialog(list: list, palette: palette, state: state, layout: layout, glyphs: glyphs).draw(on: &canvas)
    case .explanation(let panel):
      ExplanationDialog(list: list, panel: panel, state: state, layout: layout, glyphs: glyphs).draw(on: &canvas)
    case .decision(let decision):
      DecisionDialog(list: list, decision: decision, state: state, layout: layout, glyphs: glyphs).draw(on: &canvas)
    case .themes(let original): drawThemes(list, original, on: &canvas)
    case .copyMenu(let items), .newMenu(let items): drawMenu(list, items, on: &canvas)
    case .faults: drawFaults(list, on: &canvas)
    case .messages: drawMessages(list, on: &canvas)
    case .columns(let picker): drawColumns(list, picker, on: &canvas)
    }
  }

  private func drawMenu(_ list: ListOverlay, _ items: [MenuItem], on canvas: inout Canvas) {
    let dialog = Dialog(layout, width: 64, rows: max(1, items.count))
    dialog.draw(list.kind.title, "", on: &canvas, glyphs)
    draw(list, in: dialog, on: &canvas) { index in
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

  private func drawFaults(_ list: ListOverlay, on canvas: inout Canvas) {
    let items = FaultItem.allCases
    let dialog = Dialog(layout, width: 74, rows: items.count)
    dialog.draw("Faults", "enter or the letter switches", on: &canvas, glyphs)
    draw(list, in: dialog, on: &canvas) { index in
      let item = items[index]
      let isOn = item.isOn(state.faults)
      var line = Line(glyphs)
      line.skip(2)
      line.cell(String(item.letter), .key, width: 3)
      line.cell(item.title, isOn ? .textStrong : .text, width: dialog.content.width < 60 ? 26 : 36)
      line.skip(1)
      line.add(item.detail(state.faults), isOn ? .stateFault : .textMuted)
      return line
    }
  }

  private func drawColumns(_ list: ListOverlay, _ picker: ColumnPicker, on canvas: inout Canvas) {
    let dialog = Dialog(layout, width: 64, rows: max(1, picker.names.count))
    let chosen = state.browser.columns[picker.path]?.picked
    dialog.draw("Columns of \(picker.path.text)", chosen == nil ? "automatic" : "picked", on: &canvas, glyphs)
    let shown = state.columnFitting(of: picker.path, layout).columns.map(\.name)
    let statistics = state.browser.statistics[picker.path] ?? FieldStatistics()
    draw(list, in: dialog, on: &canvas) { index in
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

  private func drawThemes(_ list: ListOverlay, _ original: String, on canvas: inout Canvas) {
    let themes = state.configuration.themes
    let dialog = Dialog(layout, width: 44, rows: max(1, themes.count))
    dialog.draw("Themes", "previewed as you move", on: &canvas, glyphs)
    draw(list, in: dialog, on: &canvas) { index in
      var line = Line(glyphs)
      line.skip(2)
      line.cell(themes[index].name, width: 24)
      line.add(themes[index].slug, .textMuted)
      if themes[index].slug == original { line.add("  in use", .hint) }
      return line
    }
  }

  private func drawMessages(_ list: ListOverlay, on canvas: inout Canvas) {
    let width = layout.size.width - 4
    // The selected message stands below the list in full, in as many lines as the longest takes.
    let texts = state.messages.map(\.text)
    let lines = texts.map { WrappedText.lines($0, width: max(8, width - 6), glyphs.ellipsis).count }.max() ?? 1
    let isLong = texts.contains { SafeText.columns(of: $0) > width - 18 }
    let room = max(0, layout.size.height / 2 - 4)
    let kept = isLong && room > 1 ? min(lines, room) + 1 : 0
    let dialog = Dialog(layout, width: width, rows: max(1, state.messages.count) + kept)
    dialog.draw("Messages", "\(state.messages.count)", on: &canvas, glyphs)
    if kept > 0, state.messages.indices.contains(list.cursor.index) {
      let area = dialog.content
      let top = area.maxY - kept
      dialog.rule(at: top, on: &canvas, glyphs)
      let text = state.messages[list.cursor.index].text
      for (row, part) in WrappedText.lines(text, width: max(8, area.width - 2), glyphs.ellipsis).enumerated()
      where row < kept - 1 {
        canvas.put(part, at: Point(x: area.x + 1, y: top + 1 + row), maxWidth: area.width - 1)
      }
    }
    draw(list, in: dialog, below: kept, on: &canvas) { index in
      let message = state.messages[index]
      var line = Line(glyphs)
      line.skip(2)
      line.add(TimeText.clock(message.shownAt, offset: state.configuration.utcOffset), .textMuted)
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
    _ list: ListOverlay, in dialog: Dialog, below kept: Int = 0, on canvas: inout Canvas, line: (Int) -> Line
  ) {
    var area = dialog.content
    area.height = max(0, area.height - kept)
    let count = state.count(of: list)
    canvas.rows(of: list.cursor, count: count, in: area, state, line: line)
    if count == 0, area.height > 0 { canvas.put("nothing here", at: area.origin, role: .textMuted, clip: area) }
  }
}
