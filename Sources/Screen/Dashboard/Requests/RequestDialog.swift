// SPDX-License-Identifier: Apache-2.0
import DashboardModel
import FirestoreClientState
import TerminalCanvas

/// All about one request: the decision, and each statement of the rules that was tried with the values that it saw.
struct RequestDialog {
  let list: ListOverlay
  let decision: RuleDecision
  let geometry: ListGeometry
  let state: DashboardState
  let glyphs: Glyphs

  func draw(on canvas: inout Canvas) {
    let clock = TimeText.milliseconds(decision.time, offset: state.configuration.utcOffset, from: .hours)
    let note = [clock, decision.timeText].compactMap(\.self).joined(separator: " \(glyphs.bullet) ")
    geometry.dialog.draw("Request", note, on: &canvas, glyphs)
    let rows = Self.lines(of: decision, width: geometry.rows.width, glyphs)
    canvas.rows(of: list.cursor, count: rows.count, in: geometry.rows, state) { index in
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

  /// The account in lines that fit.
  static func lines(of decision: RuleDecision, width: Int, _ glyphs: Glyphs) -> [RuleDecision.AccountLine] {
    decision.account.flatMap { line -> [RuleDecision.AccountLine] in
      if line.text.isEmpty { return [line] }
      let parts = WrappedText.lines(line.text, width: max(8, width - line.indent - 4), glyphs.ellipsis)
      return parts.enumerated().map { number, text in
        var part = line
        part.text = text
        if number > 0 { part.indent += 2 }
        return part
      }
    }
  }
}

extension DashboardState {
  func requestGeometry(of decision: RuleDecision, _ layout: Layout) -> ListGeometry {
    let width = min(110, layout.size.width - 2)
    let dialog = Dialog(layout, width: width, rows: requestLines(of: decision, layout).count)
    return ListGeometry(dialog: dialog, rows: dialog.content)
  }

  func requestLines(of decision: RuleDecision, _ layout: Layout) -> [RuleDecision.AccountLine] {
    let width = Dialog(layout, width: min(110, layout.size.width - 2), rows: 1).content.width
    return RequestDialog.lines(of: decision, width: width, configuration.glyphs)
  }
}
