// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import TerminalCanvas

/// Three rows below a narrow feed that say what the columns of the selected row had to leave out.
struct SelectionStrip {
  let state: DashboardState
  let layout: Layout
  let glyphs: Glyphs

  func draw(on canvas: inout Canvas) {
    guard let area = layout.strip, area.height == 3 else { return }
    canvas.horizontalLine(at: area.origin, width: area.width, glyphs: glyphs)
    let title = state.feed.isPaused ? " selected " : " newest "
    canvas.put(title, at: Point(x: 2, y: area.y), role: .paneTitle, maxWidth: area.width - 2)
    guard let row = state.feed.selected else { return }
    var first = Line(glyphs)
    first.skip(2)
    let subject = row.subject.isEmpty ? row.listenerName : row.subject
    first.add(PathText.fitted(subject, to: max(8, area.width / 2 - 2), glyphs.ellipsis), .textStrong)
    first.add("  " + row.summary)
    canvas.put(first, x: 0, y: area.y + 1, width: area.width)
    var second = Line(glyphs)
    second.skip(2)
    let flags = [row.isFromCache ? "cache" : nil, row.hasPendingWrites ? "pending" : nil].compactMap(\.self)
    let parts =
      [
        TimeText.milliseconds(row.time, offset: state.configuration.utcOffset, from: .hours),
        row.subject.isEmpty || row.listenerName.isEmpty ? nil : row.listenerName,
        row.batch?.description, row.why,
      ].compactMap(\.self) + flags
    second.add(parts.joined(separator: " \(glyphs.bullet) "), .textMuted)
    canvas.put(second, x: 0, y: area.y + 2, width: area.width)
  }
}
