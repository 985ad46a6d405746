// SPDX-License-Identifier: Apache-2.0
import Dashboard
import DashboardModel
import FirestoreModel
import TerminalCanvas

/// A document in the tree of pane 1: its id, and its values in the columns of its collection.
struct DocumentRow {
  let document: Document
  let frame: FrameState
  let layout: Layout
  let glyphs: Glyphs

  private var key: DocumentKey { document.key }

  func add(to line: inout Line) {
    line.add(frame.state.browser.expanded.contains(key.path) ? glyphs.unfolded : glyphs.folded, .accent)
    line.skip(1)
    let columns = frame.state.browser.columns[key.collection] ?? TreeColumns()
    let fitting = frame.state.columnFitting(of: key.collection, layout)
    let tint = self.tint
    let shown = Set(fitting.columns.map(\.name))
    // A change that no column shows tints the id.
    let tintsID = tint.map { $0.isNew || $0.names.isDisjoint(with: shown) } ?? false
    line.cell(
      PathText.fitted(key.documentID, to: fitting.idWidth, glyphs.ellipsis),
      tintsID ? (tint?.isNew == true ? .diffAdded : .diffModified) : .textStrong, width: fitting.idWidth)
    guard document.data != nil else {
      line.add("  content unknown", .textMuted)
      return
    }
    for column in fitting.columns {
      line.skip(2)
      guard let value = document.data?[FieldPath(column.name)] else {
        line.skip(column.width)
        continue
      }
      let isChanged = tint?.names.contains { $0.equalsUTF8(column.name) } ?? false
      let role = isChanged ? Role.diffModified : columns.hue(of: value, in: column.name).map(Role.value) ?? .text
      line.cell(
        ColumnText.text(of: value, width: column.width), role, width: column.width, right: value.isNumber)
    }
  }

  /// The document's recent change, while its tint lasts.
  private var tint: Browser.Mark? { frame.state.browser.marks[key].flatMap { $0.until > frame.state.now ? $0 : nil } }
}
