// SPDX-License-Identifier: Apache-2.0
import Dashboard
import DashboardModel
import FirestoreModel
import TerminalCanvas

/// The parts of a document that other tabs have in full, in the rows that its fields leave: its versions and what is
/// known of it.
extension DetailPane {
  private static let fewestRows = 4

  func drawSections(of detail: Detail, _ columns: DetailColumns, in area: Rect, on canvas: inout Canvas) {
    var y = area.y
    for tab in [Detail.Tab.history, .meta] where tab != detail.tab {
      guard area.maxY - y >= Self.fewestRows else { return }
      var other = detail
      other.tab = tab
      let lines = DetailContent.lines(of: other, in: frame.state)
      if case .note? = lines.first?.content { continue }
      var head = Line(glyphs)
      head.skip(1)
      head.add(tab == .history ? "seen in this session, newest first " : "known of it ", .textMuted)
      head.add(String(repeating: glyphs.horizontal, count: max(0, area.width - head.width - 1)), .border)
      canvas.put(head, x: area.x, y: y, width: area.width)
      y += 1
      let all = DetailColumns(other, layout.layoutClass, width: area.width)
      // Half of the rest for the versions, so that the facts are seen too.
      let room = tab == .history ? (area.maxY - y) / 2 : area.maxY - y
      for line in lines.prefix(max(1, room)) {
        let drawing = DetailLine(line: line, columns: all, batch: "", frame: frame, glyphs: glyphs)
        canvas.put(drawing.drawn, x: area.x, y: y, width: area.width)
        y += 1
      }
    }
  }
}
