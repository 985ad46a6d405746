// SPDX-License-Identifier: Apache-2.0
package import DashboardModel
package import TerminalCanvas

/// The places of a list's box and of its rows, used by drawing and by the mouse.
package struct ListGeometry {
  /// The lines above the rows of the client's inside: the sections, and the titles of the columns.
  static let insideHead = 2
  /// The largest number of lines below them: a rule, notes, and the selected row in full.
  static let insideFoot = 6

  package let dialog: Dialog
  package let rows: Rect
}

extension DashboardState {
  /// The geometry of a list; `nil` for lists whose rows are not one below the other.
  package func geometry(of list: ListOverlay, _ layout: Layout) -> ListGeometry? {
    let glyphs = configuration.glyphs
    switch list.content {
    case .help, .explanation, .decision, .wall: return nil
    case .palette:
      // The height stays the same whatever matches: a box that shrinks while typing would repaint the panes behind it.
      let dialog = Dialog(layout, width: layout.layoutClass == .large ? 84 : 66, rows: 2 + Palette.shownItems)
      let area = dialog.content
      let top = area.y + (area.height > 3 ? 2 : 1)
      let height = max(0, min(area.maxY - top, Palette.shownItems))
      return ListGeometry(dialog: dialog, rows: Rect(x: area.x, y: top, width: area.width, height: height))
    case .messages:
      let kept = openedMessageRows(layout, glyphs)
      let dialog = Dialog(layout, width: layout.size.width - 4, rows: max(1, messages.count) + kept)
      var rows = dialog.content
      rows.height = max(0, rows.height - kept)
      return ListGeometry(dialog: dialog, rows: rows)
    case .themes: return plain(layout, width: 44, count: configuration.themes.count)
    case .copyMenu(let items), .newMenu(let items): return plain(layout, width: 64, count: items.count)
    case .faults: return plain(layout, width: 74, count: FaultItem.allCases.count)
    case .listeners: return plain(layout, width: 100, count: listeners.count)
    case .request(let decision): return requestGeometry(of: decision, layout)
    case .inside: return insideGeometry(layout)
    case .columns(let picker): return plain(layout, width: 64, count: picker.names.count)
    }
  }

  /// The same box whatever is in it, so that a turn to the next section repaints its contents alone.
  private func insideGeometry(_ layout: Layout) -> ListGeometry {
    let dialog = Dialog(layout, width: min(140, layout.size.width - 2), rows: layout.size.height - 4)
    var rows = dialog.content
    let head = min(ListGeometry.insideHead, max(0, rows.height - 1))
    let foot = rows.height >= 12 ? ListGeometry.insideFoot : rows.height >= 7 ? 2 : 0
    rows = Rect(x: rows.x, y: rows.y + head, width: rows.width, height: max(0, rows.height - head - foot))
    return ListGeometry(dialog: dialog, rows: rows)
  }

  private func plain(_ layout: Layout, width: Int, count: Int) -> ListGeometry {
    let dialog = Dialog(layout, width: width, rows: max(1, count))
    return ListGeometry(dialog: dialog, rows: dialog.content)
  }

  /// The rows below the messages for the full text of the selected one and a rule, if any message needs them: as many
  /// as the longest message takes, so that the box stays while the selection moves.
  private func openedMessageRows(_ layout: Layout, _ glyphs: Glyphs) -> Int {
    let width = layout.size.width - 4
    guard messages.contains(where: { SafeText.columns(of: $0.text) > width - 18 }) else { return 0 }
    return openedRows(messages.map(\.text), width: width, layout, glyphs)
  }

  /// The rows for the full text of one of some texts, and a rule above it.
  private func openedRows(_ texts: [String], width: Int, _ layout: Layout, _ glyphs: Glyphs) -> Int {
    let longest = texts.map { WrappedText.lines($0, width: max(8, width - 6), glyphs.ellipsis).count }.max()
    let room = layout.size.height / 2 - 4
    return longest.map { room > 1 ? min($0, room) + 1 : 0 } ?? 0
  }
}
