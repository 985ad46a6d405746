// SPDX-License-Identifier: Apache-2.0
import TerminalCanvas

/// The command palette: one line to type into, the best matches below.
struct PaletteDialog {
  let list: ListOverlay
  let palette: Palette
  let state: DashboardState
  let layout: Layout
  let glyphs: Glyphs

  func draw(on canvas: inout Canvas) {
    let items = list.items(of: palette)
    // As high as ever, whatever matches: a box that shrinks while typing would repaint the panes behind it.
    let dialog = Dialog(layout, width: layout.layoutClass == .large ? 84 : 66, rows: 2 + Palette.shownItems)
    dialog.draw("Commands", "\(items.count) of \(palette.all.count)", on: &canvas, glyphs)
    let area = dialog.content
    guard area.height > 0 else { return }
    canvas.put(":", at: area.origin, role: .key)
    if let field = list.field { canvas.put(field, x: area.x + 2, y: area.y, width: area.width - 2) }
    let hasRule = area.height > 3
    if hasRule { dialog.rule(at: area.y + 1, on: &canvas, glyphs) }
    let top = area.y + (hasRule ? 2 : 1)
    let height = min(area.maxY - top, Palette.shownItems)
    if items.isEmpty, height > 0 {
      canvas.put("nothing matches", at: Point(x: area.x + 2, y: top), role: .textMuted, clip: area)
    }
    let rows = Rect(x: area.x, y: top, width: area.width, height: height)
    canvas.rows(of: list.cursor, count: items.count, in: rows, glyphs: glyphs) { line(items[$0], width: area.width) }
  }

  private func line(_ item: Palette.Item, width: Int) -> Line {
    var reason: String?
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
