// SPDX-License-Identifier: Apache-2.0
import Dashboard
import DashboardModel
import FirestoreClientState
import TerminalCanvas

/// All about one request: the decision, and each statement of the rules that was tried with the values that it saw.
struct RequestDialog {
  let list: ListOverlay
  let decision: RuleDecision
  let geometry: ListGeometry
  let frame: FrameState
  let glyphs: Glyphs

  func draw(on canvas: inout Canvas) {
    let clock = TimeText.milliseconds(decision.time, offset: frame.state.configuration.utcOffset, from: .hours)
    let note = [clock, decision.timeText].compactMap(\.self).joined(separator: " \(glyphs.bullet) ")
    geometry.dialog.draw("Request", note, on: &canvas, glyphs)
    let rows = decision.lines(width: geometry.rows.width, glyphs)
    canvas.rows(of: list.cursor, count: rows.count, in: geometry.rows, frame.state) { index in
      var line = Line(glyphs)
      line.skip(1 + rows[index].indent)
      line.add(rows[index].text, role(of: rows[index]))
      return line
    }
  }

  private func role(of line: RuleDecision.AccountLine) -> Role {
    switch line.kind {
    case .text: .text
    case .rule: .textStrong
    case .note: .textMuted
    case .failure: .error
    }
  }
}
