// SPDX-License-Identifier: Apache-2.0
import TerminalCanvas

/// The last row.
struct FooterPane {
  let state: DashboardState
  let layout: Layout
  let glyphs: Glyphs

  func draw(on canvas: inout Canvas) {
    guard let area = layout.footer else { return }
    if case .filter(let line)? = state.overlay {
      FilterPrompt(line: line, state: state, glyphs: glyphs).draw(on: &canvas, area)
      return
    }
    let footer = Footer(state, width: area.width)
    for hint in footer.hints {
      let isDisabled = state.overlay == nil && hint.command.reason(state) != nil
      let used = canvas.put(
        hint.key, at: Point(x: hint.x, y: area.y), role: isDisabled ? .textMuted : .key, maxWidth: area.width - hint.x)
      canvas.put(
        hint.word, at: Point(x: hint.x + used + 1, y: area.y), role: isDisabled ? .textMuted : .hint,
        maxWidth: area.width - hint.x - used - 1)
    }
    canvas.put(footer.badges, x: area.width - footer.badges.width, y: area.y, width: footer.badges.width)
  }
}
