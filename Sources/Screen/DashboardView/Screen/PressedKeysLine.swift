// SPDX-License-Identifier: Apache-2.0
import Dashboard
import DashboardModel
import TerminalCanvas

/// The keys that were pressed last, above the footer at the right, while an audience is to see them.
struct PressedKeysLine {
  let frame: FrameState
  let layout: Layout
  let glyphs: Glyphs

  func draw(on canvas: inout Canvas) {
    guard let presses = frame.state.typing.pressed?.presses, !presses.isEmpty, let footer = layout.footer, footer.y > 0
    else {
      return
    }
    let times = glyphs.conflict
    let words = presses.map { press in
      Command.text(of: press.key, glyphs) + (press.count > 1 ? " \(times)\(press.count)" : "")
    }
    // The newest stay where there is no room for all.
    let texts = words.indices.map { " " + words[$0...].joined(separator: "  ") + " " }
    guard let text = texts.first(where: { SafeText.columns(of: $0) <= footer.width }) else { return }
    let x = footer.width - SafeText.columns(of: text)
    canvas.put(text, at: Point(x: x, y: footer.y - 1), role: .paneTitleFocus, maxWidth: footer.width - x)
  }
}
