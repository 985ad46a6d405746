// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreModel
import TerminalCanvas

/// Requests with what rules decided: when, what, whether, by which line and for whom.
struct RequestsDialog {
  let list: ListOverlay
  let panel: RequestsPanel
  let geometry: ListGeometry
  let state: DashboardState
  let glyphs: Glyphs

  func draw(on canvas: inout Canvas) {
    let decisions = panel.decisions ?? []
    let denied = decisions.count { !$0.isAllowed }
    let count = decisions.isEmpty ? "" : "\(grouped(decisions.count)), \(grouped(denied)) denied"
    geometry.dialog.draw("Requests", count, on: &canvas, glyphs)
    let area = geometry.rows
    guard area.height > 0 else { return }
    if let note = panel.note {
      canvas.put(note, at: area.origin, role: panel.failure == nil ? .textMuted : .error, clip: area)
      return
    }
    canvas.rows(of: list.cursor, count: decisions.count, in: area, state) { line(of: decisions[$0], width: area.width) }
  }

  private func line(of decision: RuleDecision, width: Int) -> Line {
    var line = Line(glyphs)
    line.skip(1)
    if width >= 56 {
      line.cell(TimeText.clock(decision.time, offset: state.configuration.utcOffset), .textMuted, width: 12)
      line.skip(1)
    }
    line.cell(decision.isAllowed ? "allow" : "DENY", decision.isAllowed ? .text : .error, width: 5)
    line.skip(1)
    line.cell(decision.line.map { "L\($0)" } ?? "", .textMuted, width: 5)
    line.cell(decision.method, width: 7)
    let path = decision.path.isRoot ? "/" : decision.path.text
    line.add(PathText.fitted(path, to: max(8, width / 3), glyphs.ellipsis), .textStrong)
    line.add("  \(decision.user ?? "nobody")", .textMuted)
    if !decision.isAllowed { line.add("  \(decision.reason)", .textMuted) }
    return line
  }
}
