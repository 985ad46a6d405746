// SPDX-License-Identifier: Apache-2.0
package import TerminalCanvas

/// Draws the whole screen. Pure and total: the same state gives the same canvas, at any size.
package func view(_ state: DashboardState) -> Canvas {
  var canvas = Canvas(size: state.size)
  let layout = state.layout(canvas.size)
  let glyphs = state.configuration.glyphs
  HeaderLine(state: state, layout: layout, glyphs: glyphs).draw(on: &canvas)
  guard layout.layoutClass != .line else { return canvas }
  TabLine(state: state, layout: layout, glyphs: glyphs).draw(on: &canvas)
  for pane in Pane.allCases where layout.panes[pane] != nil {
    PaneFrame(pane: pane, state: state, layout: layout, glyphs: glyphs).draw(on: &canvas)
    switch pane {
    case .collections: CollectionsPane(state: state, layout: layout, glyphs: glyphs).draw(on: &canvas)
    case .writes: WritesPane(state: state, layout: layout, glyphs: glyphs).draw(on: &canvas)
    case .network: NetworkPane(state: state, layout: layout, glyphs: glyphs).draw(on: &canvas)
    case .feed: FeedPane(state: state, layout: layout, glyphs: glyphs).draw(on: &canvas)
    case .detail: DetailPane(state: state, layout: layout, glyphs: glyphs).draw(on: &canvas)
    }
  }
  SelectionStrip(state: state, layout: layout, glyphs: glyphs).draw(on: &canvas)
  OverlayView(state: state, layout: layout, glyphs: glyphs).draw(on: &canvas)
  Toasts(state: state, layout: layout, glyphs: glyphs).draw(on: &canvas)
  FooterPane(state: state, layout: layout, glyphs: glyphs).draw(on: &canvas)
  return canvas
}

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
