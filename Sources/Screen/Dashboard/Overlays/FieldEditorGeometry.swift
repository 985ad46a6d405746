// SPDX-License-Identifier: Apache-2.0
package import DashboardModel
import FirestoreClientState
package import TerminalCanvas

/// The geometry of the field editor, used for drawing and for mouse events.
package struct FieldEditorGeometry {
  package let dialog: Dialog
  /// The row of the column headings; `nil` if there is no space for them.
  package let heads: Int?
  package let rows: Rect
  /// The area for messages below the rows.
  package let status: Rect
  /// The list of types. It covers the editor.
  package let typeDialog: Dialog
  package let name: Int
  package let type: Int

  package init(_ editor: FieldEditor, _ layout: Layout) {
    dialog = Self.place(isNew: editor.isNew, layout)
    let area = dialog.content
    let below = area.height >= 8 ? 3 : min(1, area.height - 1)
    heads = area.height >= 10 ? area.y : nil
    let top = heads == nil ? area.y : area.y + 1
    rows = Rect(x: area.x, y: top, width: area.width, height: max(0, area.maxY - max(0, below) - top))
    status = Rect(x: area.x, y: rows.maxY, width: area.width, height: max(0, below))
    name = max(9, min(28, area.width * 32 / 100))
    type = area.width >= 50 ? 13 : area.width >= 30 ? 5 : 0
    typeDialog = Dialog(layout, width: 62, rows: FieldKind.allCases.count)
  }

  /// The area of the open document's pane if that is large enough, otherwise most of the screen.
  static func place(isNew: Bool, _ layout: Layout) -> Dialog {
    if !isNew, layout.layoutClass.isTiled, let pane = layout.panes[.detail], pane.width >= 60, pane.height >= 16 {
      return Dialog(in: pane, layout)
    }
    return Dialog(layout, width: min(104, layout.size.width - 2), rows: layout.size.height)
  }

  /// The rows of the list of types.
  package var types: Rect { typeDialog.content }

  /// The width of a sign and a blank before the names.
  package static let lead = 3

  package func indent(of row: EditedRow) -> Int { min(row.depth * 2, name / 2) }

  func foldColumns(of row: EditedRow) -> Range<Int> {
    let start = rows.x + Self.lead + indent(of: row)
    return start..<start + 2
  }

  var typeColumns: Range<Int> { rows.x + Self.lead + name..<rows.x + Self.lead + name + type }
  package var valueColumn: Int { Self.lead + name + type }
}

/// The geometry of the review before edits are sent.
package struct FieldReviewGeometry {
  package let dialog: Dialog
  /// The sentences above the fields, wrapped to the width.
  package let lead: [String]
  /// The row of the separator line; `nil` if there is no space for it.
  package let rule: Int?
  package let rows: Rect
  package let buttons: Int

  package static let send = "[ Send ]"
  package static let back = "[ Back ]"

  package init(_ review: FieldReview, _ layout: Layout, _ state: DashboardState) {
    // A dialog without a border has no title.
    var sentences = layout.layoutClass.isTiled || layout.layoutClass == .small ? [] : [review.title]
    sentences += review.facts
    if state.network.isOffline { sentences.append("You are offline: the write stays pending.") }
    if state.configuration.backend.isProduction {
      sentences.append("This is \(state.configuration.backend.project), not an emulator.")
    }
    dialog = FieldEditorGeometry.place(isNew: review.isNew, layout)
    let area = dialog.content
    let glyphs = state.configuration.glyphs
    let lines = sentences.flatMap { WrappedText.lines($0, width: max(8, area.width - 2), glyphs.ellipsis).prefix(3) }
    let problem = review.problem == nil ? 0 : 1
    // The sentences leave room for at least two fields.
    let room = max(0, area.height - 2 - problem - min(2, review.rows.count))
    lead = Array(lines.prefix(room))
    rule = area.height >= 8 && !review.rows.isEmpty ? area.y + lead.count : nil
    let top = area.y + lead.count + (rule == nil ? 0 : 1)
    let height = min(review.rows.count, max(0, area.maxY - 1 - problem - top))
    rows = Rect(x: area.x, y: top, width: area.width, height: height)
    buttons = min(area.maxY - 1, rows.maxY + problem + (review.rows.isEmpty && problem == 0 ? 0 : 1))
  }

  /// Whether the button at a point sends the edits; `nil` if there is no button at the point.
  func isSending(at point: Point) -> Bool? {
    guard point.y == buttons else { return nil }
    let column = point.x - dialog.content.x - 1
    if 0..<Self.send.count ~= column { return true }
    return Self.send.count + 2..<Self.send.count + 2 + Self.back.count ~= column ? false : nil
  }
}

extension FieldEditor {
  var kind: Overlay.Kind {
    switch mode {
    case .browsing: .fields
    case .naming: .fieldName
    case .typing: .fieldValue
    case .choosing: .fieldType
    case .reviewing: .review
    }
  }
}
