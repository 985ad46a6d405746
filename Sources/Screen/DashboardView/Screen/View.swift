// SPDX-License-Identifier: Apache-2.0
package import Dashboard
import DashboardModel
package import TerminalCanvas

/// Draws the whole screen. Pure and total: the same state gives the same canvas, at any size.
package func view(_ present: DashboardState) -> Canvas {
  var state = present.forItsLine
  state.configuration.glyphs = present.borderedGlyphs
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
    case .feed where state.showsRequests:
      RequestsPane(state: state, layout: layout, glyphs: glyphs).draw(on: &canvas)
    case .feed: FeedPane(state: state, layout: layout, glyphs: glyphs).draw(on: &canvas)
    case .detail: DetailPane(state: state, layout: layout, glyphs: glyphs).draw(on: &canvas)
    }
  }
  SessionBandLine(state: state, layout: layout, glyphs: glyphs).draw(on: &canvas)
  FoldedPanes(state: state, layout: layout, glyphs: glyphs).draw(on: &canvas)
  SelectionStrip(state: state, layout: layout, glyphs: glyphs).draw(on: &canvas)
  OverlayView(state: state, layout: layout, glyphs: glyphs).draw(on: &canvas)
  FooterPane(state: state, layout: layout, glyphs: glyphs).draw(on: &canvas)
  CoachLine(state: state, layout: layout, glyphs: glyphs).draw(on: &canvas)
  ToastLine(state: state, layout: layout, glyphs: glyphs).draw(on: &canvas)
  PressedKeysLine(state: state, layout: layout, glyphs: glyphs).draw(on: &canvas)
  return canvas
}
