// SPDX-License-Identifier: Apache-2.0
import TerminalCanvas

/// Short messages above the footer, right-aligned, newest at the bottom.
struct Toasts {
  private static let limit = 3

  let state: DashboardState
  let layout: Layout
  let glyphs: Glyphs

  func draw(on canvas: inout Canvas) {
    guard let footer = layout.footer else { return }
    let room = min(footer.width, max(24, footer.width * 3 / 4))
    for (row, toast) in state.toasts.suffix(Self.limit).reversed().enumerated() {
      let y = footer.y - 1 - row
      guard y >= 1 else { return }
      let word = toast.kind == .info ? "" : toast.kind == .warning ? "! " : "ERROR "
      let text = SafeText.truncated("\(glyphs.vertical) \(word)\(toast.text) ", to: room, ellipsis: glyphs.ellipsis)
      canvas.put(
        text, at: Point(x: footer.width - SafeText.columns(of: text), y: y),
        role: toast.kind == .error ? .toastError : toast.kind == .warning ? .warn : .toast)
    }
  }
}
