// SPDX-License-Identifier: Apache-2.0
import DashboardModel
import FirestoreClientState
import FirestoreModel
import TerminalCanvas

/// The requests with the rules' decisions: time, request, verdict, line and user.
struct RequestsDialog {
  let list: ListOverlay
  let panel: RequestsPanel
  let geometry: ListGeometry
  let state: DashboardState
  let glyphs: Glyphs

  func draw(on canvas: inout Canvas) {
    let decisions = panel.decisions
    let count = (panel.all ?? []).isEmpty ? "" : "\(grouped(panel.all?.count ?? 0)), \(grouped(panel.denied)) denied"
    geometry.dialog.draw(panel.isDeniedOnly ? "Denied requests" : "Requests", count, on: &canvas, glyphs)
    let area = geometry.rows
    guard area.height > 0 else { return }
    if let note = panel.note {
      let parts = WrappedText.lines(note, width: area.width, glyphs.ellipsis)
      for (row, part) in parts.prefix(area.height).enumerated() {
        let place = Point(x: area.x, y: area.y + row)
        canvas.put(part, at: place, role: panel.failure == nil ? .textMuted : .error, clip: area)
      }
      return
    }
    let most = max(8, area.width / 3)
    let path = min(most, decisions.map { SafeText.columns(of: Self.path(of: $0)) }.max() ?? most)
    let user = min(most, decisions.map { SafeText.columns(of: Self.user(of: $0)) }.max() ?? most)
    canvas.rows(of: list.cursor, count: decisions.count, in: area, state) {
      line(of: decisions[$0], width: area.width, path: path, user: user)
    }
    if let decision = panel.decision(at: list.cursor.index) { drawOpened(decision, on: &canvas) }
  }

  /// All of the selected one, of which its row may have a part.
  private func drawOpened(_ decision: RuleDecision, on canvas: inout Canvas) {
    let (area, top) = (geometry.dialog.content, geometry.rows.maxY)
    guard top < area.maxY else { return }
    geometry.dialog.rule(at: top, on: &canvas, glyphs)
    let parts = WrappedText.lines(decision.sentence, width: max(8, area.width - 2), glyphs.ellipsis)
    for (row, part) in parts.prefix(area.maxY - top - 1).enumerated() {
      canvas.put(part, at: Point(x: area.x + 1, y: top + 1 + row), maxWidth: area.width - 1)
    }
  }

  private static func path(of decision: RuleDecision) -> String { decision.path.isRoot ? "/" : decision.path.text }
  private static func user(of decision: RuleDecision) -> String { decision.user ?? "nobody" }

  /// - Parameters:
  ///   - path: columns for the path.
  ///   - user: columns for the user.
  private func line(of decision: RuleDecision, width: Int, path: Int, user: Int) -> Line {
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
    line.cell(PathText.fitted(Self.path(of: decision), to: path, glyphs.ellipsis), .textStrong, width: path)
    line.skip(2)
    line.cell(Self.user(of: decision), .textMuted, width: user)
    if !decision.isAllowed { line.add("  \(decision.reason)", .textMuted) }
    return line
  }
}
