// SPDX-License-Identifier: Apache-2.0
import Dashboard
import DashboardModel
import TerminalCanvas

/// The dialog of a prompt: its sentences, the line, and the reason for a refusal.
struct PromptDialog {
  let prompt: Prompt
  let layout: Layout
  let glyphs: Glyphs

  func draw(on canvas: inout Canvas) {
    let width = min(76, layout.size.width - 4)
    let lead = prompt.lead.flatMap { WrappedText.lines($0, width: max(8, width - 4), glyphs.ellipsis) }
    let error = prompt.error.map { WrappedText.lines("! \($0)", width: max(8, width - 4), glyphs.ellipsis) } ?? []
    let dialog = Dialog(layout, width: width, rows: lead.count + 2 + max(1, error.count))
    dialog.draw(prompt.title, "", on: &canvas, glyphs)
    let area = dialog.content
    guard area.height > 0 else { return }
    // The line stays visible, then the error, then the sentences.
    let told = min(error.count, area.height - 1)
    var y = area.y
    for text in lead.prefix(max(0, area.height - 1 - told - 1)) {
      canvas.put(text, at: Point(x: area.x, y: y), role: .textMuted, maxWidth: area.width, clip: area)
      y += 1
    }
    if y > area.y, y < area.maxY - 1 - told { y += 1 }
    let label = SafeText.columns(of: prompt.label) + 2
    canvas.put(prompt.label, at: Point(x: area.x, y: y), role: .key, maxWidth: label, clip: area)
    canvas.put(
      prompt.field, x: area.x + label, y: y, width: max(1, area.width - label),
      role: prompt.error == nil ? .input : .inputInvalid, isFocused: true)
    if prompt.field.isEmpty {
      canvas.put(
        prompt.ghost, at: Point(x: area.x + label, y: y), role: .inputGhost, maxWidth: area.width - label, clip: area)
    }
    for (row, text) in error.prefix(told).enumerated() where y + 1 + row < area.maxY {
      canvas.put(text, at: Point(x: area.x, y: y + 1 + row), role: .error, maxWidth: area.width, clip: area)
    }
  }
}
