// SPDX-License-Identifier: Apache-2.0
package import DashboardModel
package import TerminalCanvas

/// The places of the parts of a question, used by drawing and by the mouse.
package struct ConfirmGeometry {
  package let dialog: Dialog
  /// The question's text, broken to the width.
  package let lines: [String]
  /// The number of rows that are not text.
  package let fixedRows: Int
  package let cancel: String
  package let action: String
  package let answerRow: Int

  package init(_ question: Confirmation, _ layout: Layout, _ glyphs: Glyphs) {
    let widest = question.body.map { SafeText.columns(of: $0) }.max() ?? 0
    let width = max(40, min(widest + 4, layout.size.width * 3 / 4))
    lines = question.body.flatMap {
      WrappedText.lines($0, width: max(8, min(width, layout.size.width - 2) - 4), glyphs.ellipsis)
    }
    let typedRows = question.typed == nil ? 0 : 1
    dialog = Dialog(layout, width: width, rows: lines.count + typedRows + 2)
    fixedRows = typedRows + 1
    let area = dialog.content
    let shown = min(lines.count, max(0, area.height - fixedRows)) + typedRows
    answerRow = min(area.y + shown + 1, area.maxY - 1)
    cancel = question.isActionSelected ? "  Cancel  " : "[ Cancel ]"
    action = question.isActionSelected ? "[ \(question.action) ]" : "  \(question.action)  "
  }

  /// Whether the answer at a point is the action; `nil` if there is no answer.
  func isAction(at point: Point) -> Bool? {
    guard point.y == answerRow else { return nil }
    let column = point.x - dialog.content.x
    let first = SafeText.columns(of: cancel)
    if 0..<first ~= column { return false }
    return first + 2..<first + 2 + SafeText.columns(of: action) ~= column ? true : nil
  }
}
