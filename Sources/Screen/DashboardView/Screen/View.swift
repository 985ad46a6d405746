// SPDX-License-Identifier: Apache-2.0
package import Dashboard
import DashboardModel
package import TerminalCanvas

/// Draws the whole screen. Pure and total: the same state gives the same canvas, at any size.
package func view(_ present: DashboardState) -> Canvas {
  var state = present.forItsLine
  state.configuration.glyphs = present.borderedGlyphs
  let frame = FrameState(state)
  var canvas = Canvas(size: state.size)
  let layout = state.layout(canvas.size)
  let glyphs = state.configuration.glyphs
  HeaderLine(frame: frame, layout: layout, glyphs: glyphs).draw(on: &canvas)
  guard layout.layoutClass != .line else { return canvas }
  TabLine(frame: frame, layout: layout, glyphs: glyphs).draw(on: &canvas)
  for pane in Pane.allCases where layout.panes[pane] != nil {
    PaneFrame(pane: pane, frame: frame, layout: layout, glyphs: glyphs).draw(on: &canvas)
    switch pane {
    case .collections: CollectionsPane(frame: frame, layout: layout, glyphs: glyphs).draw(on: &canvas)
    case .writes: WritesPane(frame: frame, layout: layout, glyphs: glyphs).draw(on: &canvas)
    case .network: NetworkPane(frame: frame, layout: layout, glyphs: glyphs).draw(on: &canvas)
    case .feed where state.showsRequests:
      RequestsPane(frame: frame, layout: layout, glyphs: glyphs).draw(on: &canvas)
    case .feed: FeedPane(frame: frame, layout: layout, glyphs: glyphs).draw(on: &canvas)
    case .detail: DetailPane(frame: frame, layout: layout, glyphs: glyphs).draw(on: &canvas)
    }
  }
  SessionBandLine(frame: frame, layout: layout, glyphs: glyphs).draw(on: &canvas)
  FoldedPanes(frame: frame, layout: layout, glyphs: glyphs).draw(on: &canvas)
  SelectionStrip(frame: frame, layout: layout, glyphs: glyphs).draw(on: &canvas)
  OverlayView(frame: frame, layout: layout, glyphs: glyphs).draw(on: &canvas)
  FooterPane(frame: frame, layout: layout, glyphs: glyphs).draw(on: &canvas)
  CoachLine(frame: frame, layout: layout, glyphs: glyphs).draw(on: &canvas)
  ToastLine(frame: frame, layout: layout, glyphs: glyphs).draw(on: &canvas)
  PressedKeysLine(frame: frame, layout: layout, glyphs: glyphs).draw(on: &canvas)
  return canvas
}
