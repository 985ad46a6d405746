// SPDX-License-Identifier: Apache-2.0
import DashboardModel
import TerminalCanvas

/// The field editor on the screen: its lists, and the effects of clicks in it.
extension DashboardState {
  /// Brings the editor's lists back onto the screen.
  mutating func settleEditor(_ layout: Layout) {
    guard var editor = overlay?.fieldEditor else { return }
    let geometry = FieldEditorGeometry(editor, layout)
    switch editor.mode {
    case .choosing(var cursor, let entry):
      cursor.settle(in: FieldKind.allCases.indices, height: geometry.types.height)
      editor.mode = .choosing(cursor, entry)
    case .reviewing(var review):
      let place = FieldReviewGeometry(review, layout, self)
      review.cursor.settle(in: review.rows.indices, height: place.rows.height)
      editor.mode = .reviewing(review)
    case .browsing, .naming, .typing:
      editor.cursor.settle(in: editor.rows.indices, height: geometry.rows.height)
    }
    overlay = .fields(editor)
  }

  /// A click into the editor: on a field, its fold or its type, a type of the list, or a button.
  mutating func press(_ editor: FieldEditor, at point: Point, _ layout: Layout, isDouble: Bool) -> [Effect] {
    let geometry = FieldEditorGeometry(editor, layout)
    func row(_ cursor: Cursor<Int>, _ count: Int, _ area: Rect) -> Int? {
      let shown = cursor.rows(count: count, height: area.height)
      guard area.contains(point) else { return nil }
      let index = shown.lowerBound + point.y - area.y
      return shown.contains(index) ? index : nil
    }
    switch editor.mode {
    case .choosing(let cursor, _):
      guard let index = row(cursor, FieldKind.allCases.count, geometry.types) else { return [] }
      let now = now
      overlay?.fieldEditor?.take(FieldKind.allCases[index], now: now)
    case .reviewing(let review):
      let place = FieldReviewGeometry(review, layout, self)
      if let isSending = place.isSending(at: point) { return run(isSending ? "accept" : "cancel") }
      if let index = row(review.cursor, review.rows.count, place.rows) {
        return moveInEditor(by: index - review.cursor.index)
      }
    case .naming, .typing: break
    case .browsing:
      guard let index = row(editor.cursor, editor.rows.count, geometry.rows) else { return [] }
      overlay?.fieldEditor?.select(index)
      let row = editor.rows[index]
      if row.isAddition {
        nameField()
      } else if row.isOpen != nil, geometry.foldColumns(of: row).contains(point.x) {
        overlay?.fieldEditor?.toggle(row.path)
      } else if geometry.typeColumns.contains(point.x) {
        chooseType()
      } else if isDouble {
        return run(Key(.enter))
      }
    }
    return []
  }
}
