// SPDX-License-Identifier: Apache-2.0
import Dashboard
import DashboardModel
import TerminalCanvas

/// The last message, in place of the footer's keys for a while: never over the rows that it is about. A message that is
/// cut tells where the full text is.
struct ToastLine {
  let frame: FrameState
  let layout: Layout
  let glyphs: Glyphs

  func draw(on canvas: inout Canvas) {
    guard let area = frame.state.toastArea(layout), let toast = frame.state.toasts.last else { return }
    let (word, role): (String, Role) =
      switch toast.kind {
      case .info: ("", .toast)
      case .warning: ("! ", .warn)
      case .error: ("ERROR ", .toastError)
      }
    let others = frame.state.toasts.count > 1 ? " (+\(frame.state.toasts.count - 1))" : ""
    var text = " \(word)\(toast.text)\(others) "
    if SafeText.columns(of: text) > area.width {
      let rest = "\(others) :messages "
      let room = max(0, area.width - SafeText.columns(of: rest))
      text = SafeText.truncated(" \(word)\(toast.text)", to: room, ellipsis: glyphs.ellipsis) + rest
    }
    canvas.fill(area)
    canvas.put(text, at: area.origin, role: role, maxWidth: area.width)
  }
}
