// SPDX-License-Identifier: Apache-2.0
package import DashboardModel
package import FirestoreClientState
package import TerminalCanvas

extension DashboardState {
  func requestGeometry(of decision: RuleDecision, _ layout: Layout) -> ListGeometry {
    let width = min(110, layout.size.width - 2)
    let dialog = Dialog(layout, width: width, rows: requestLines(of: decision, layout).count)
    return ListGeometry(dialog: dialog, rows: dialog.content)
  }

  func requestLines(of decision: RuleDecision, _ layout: Layout) -> [RuleDecision.AccountLine] {
    let width = Dialog(layout, width: min(110, layout.size.width - 2), rows: 1).content.width
    return decision.lines(width: width, configuration.glyphs)
  }
}

extension RuleDecision {
  /// The account in lines that fit.
  package func lines(width: Int, _ glyphs: Glyphs) -> [AccountLine] {
    account.flatMap { line -> [AccountLine] in
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
