// SPDX-License-Identifier: Apache-2.0
import Dashboard
import DashboardModel
import FirestoreModel
import TerminalCanvas

/// Draws the session band, the row above the feed that shows the whole session: the activity in each time step,
/// outages, and the results of this client's writes. A click on a time step shows the screen at that time.
struct SessionBandLine {
  let frame: FrameState
  let layout: Layout
  let glyphs: Glyphs

  private var geometry: SessionBandGeometry { SessionBandGeometry(frame.state, layout) }

  private var legend: Line {
    var line = Line(glyphs)
    guard geometry.hasLegend else { return line }
    let signs: [(String, Role)] = [
      (glyphs.pending, .flagPending), (glyphs.vertical, .writeAcked), ("!", .writeRejected), (glyphs.conflict, .warn),
      (glyphs.barOutage, .chartOutage),
    ]
    for ((sign, role), word) in zip(signs, SessionBandGeometry.legend) {
      line.skip(2)
      line.add(sign, role)
      line.add(" \(word)", .textMuted)
    }
    return line
  }

  func draw(on canvas: inout Canvas) {
    guard let area = layout.band else { return }
    guard let shown = geometry.shown else {
      let text = "  the session in steps: events, own writes, outages; a click goes to a moment"
      canvas.put(text, at: area.origin, role: .textMuted, maxWidth: area.width)
      return
    }
    var line = Line(glyphs)
    line.skip(2)
    line.add(TimeText.clock(shown.start, offset: frame.state.configuration.utcOffset), .textMuted)
    line.skip(to: SessionBandGeometry.start)
    let present = frame.state.past.map { shown.index(of: $0.time) }
    for (index, step) in shown.steps.enumerated() {
      let (sign, role) = look(of: step)
      line.add(sign, index == present ? .headerPaused : role)
    }
    let unit = " " + TimeText.span(seconds: shown.length) + (geometry.hasWordyUnit ? " a cell" : "")
    line.skip(to: area.width - legend.width - unit.count - 1)
    line.add(unit, .textMuted)
    line.add(legend)
    canvas.put(line, x: area.x, y: area.y, width: area.width)
  }

  private func look(of step: SessionBand.Step) -> (String, Role) {
    if step.marks.contains(.conflict) { return (glyphs.conflict, .warn) }
    if step.marks.contains(.rejected) { return ("!", .writeRejected) }
    if step.marks.contains(.write) { return (glyphs.pending, .flagPending) }
    if step.marks.contains(.outage) { return (glyphs.barOutage, .chartOutage) }
    if step.marks.contains(.acknowledged) { return (glyphs.vertical, .writeAcked) }
    guard step.events > 0 else { return (glyphs.sparkline[0], .border) }
    // Each height means twice as many events as the previous height, so that a new step does not change how other steps
    // are drawn.
    let level = Int.bitWidth - step.events.leadingZeroBitCount
    return (glyphs.sparkline[min(level, glyphs.sparkline.count - 1)], .chartLow)
  }
}
