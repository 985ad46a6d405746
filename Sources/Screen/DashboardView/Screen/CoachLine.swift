// SPDX-License-Identifier: Apache-2.0
import Dashboard
import DashboardModel
import TerminalCanvas

/// The coach's step, in place of the footer's keys. A caption goes first: it is for those who watch.
struct CoachLine {
  let frame: FrameState
  let layout: Layout
  let glyphs: Glyphs

  func draw(on canvas: inout Canvas) {
    guard let coach = frame.state.coach, frame.state.overlay == nil, frame.state.toasts.isEmpty,
      frame.state.screen.caption.isEmpty,
      let footer = layout.footer
    else { return }
    let badges = Footer(frame.state, width: footer.width).badges.width
    let room = footer.width - (badges == 0 ? 0 : badges + 1)
    let (short, rest) = coach.text { name in
      let contexts: [KeyContext] = [.screen, .pane(.collections)]
      return frame.state.configuration.keymap.command(named: name, in: contexts)?.keyText(glyphs, limit: 1) ?? name
    }
    let help = frame.state.configuration.keymap.command(named: "help", in: [.screen])?.keyText(glyphs, limit: 1) ?? "?"
    let leave = coach.isAsked ? "esc again: no coach" : "esc: no coach"
    let ends = ["   \(leave)   \(help) help ", "   \(help) help "]
    let texts = ends.map { " " + short + rest + $0 } + ends.map { " " + short + $0 }
    let text = texts.first { SafeText.columns(of: $0) <= room } ?? " " + short
    canvas.fill(Rect(x: 0, y: footer.y, width: room, height: 1))
    canvas.put(text, at: Point(x: 0, y: footer.y), role: .toast, maxWidth: room)
  }
}
