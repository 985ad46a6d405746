// SPDX-License-Identifier: Apache-2.0
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
    case .themes(let original): drawThemes(list, original, on: &canvas)
    case .copyMenu(let items), .newMenu(let items): drawMenu(list, items, on: &canvas)
    case .faults: drawFaults(list, on: &canvas)
    case .messages: drawMessages(list, on: &canvas)
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
    let dialog = Dialog(layout, width: layout.size.width - 4, rows: max(1, state.messages.count))
    dialog.draw("Messages", "\(state.messages.count)", on: &canvas, glyphs)
    draw(list, in: dialog, on: &canvas) { index in
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
    _ list: ListOverlay, in dialog: Dialog, on canvas: inout Canvas, line: (Int) -> Line
  ) {
    let area = dialog.content
    let count = state.count(of: list)
    canvas.rows(of: list.cursor, count: count, in: area, glyphs: glyphs, line: line)
    if count == 0, area.height > 0 { canvas.put("nothing here", at: area.origin, role: .textMuted, clip: area) }
  }
}
