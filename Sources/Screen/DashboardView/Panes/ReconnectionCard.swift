// SPDX-License-Identifier: Apache-2.0
import Dashboard
import DashboardModel
import FirestoreModel
import TerminalCanvas

/// The card above the feed that tells what came of an outage: three lines with a border, or one line.
struct ReconnectionCard {
  let card: Reconnection
  let frame: FrameState
  let glyphs: Glyphs

  private var separator: String { " \(glyphs.bullet) " }

  func draw(in area: Rect, on canvas: inout Canvas) {
    let title = card.title(clock: frame.state.clock(of: card))
    let facts = card.facts.joined(separator: separator)
    guard area.height >= 3, area.width >= 20 else {
      var line = Line(glyphs)
      line.skip(2)
      line.add(
        SafeText.truncated(title + separator + facts, to: area.width - 2, ellipsis: glyphs.ellipsis), .warn)
      return canvas.put(line, x: area.x, y: area.y, width: area.width)
    }
    let box = Rect(x: area.x + 2, y: area.y, width: area.width - 4, height: 3)
    put(edge(glyphs.topLeft, "back " + title, glyphs.topRight, .warn, width: box.width), 0, box, on: &canvas)
    var middle = Line(glyphs)
    middle.add(glyphs.vertical, .border)
    middle.skip(1)
    middle.add(SafeText.truncated(facts, to: box.width - 4, ellipsis: glyphs.ellipsis))
    middle.skip(to: box.width - 1)
    middle.add(glyphs.vertical, .border)
    put(middle, 1, box, on: &canvas)
    let key = frame.state.focus == .feed ? "\(glyphs.enter) only these rows" : "any key closes this"
    let below = (card.byListener(frame.state.listeners) + [key]).joined(separator: separator)
    put(edge(glyphs.bottomLeft, below, glyphs.bottomRight, .textMuted, width: box.width), 2, box, on: &canvas)
  }

  private func put(_ line: Line, _ row: Int, _ box: Rect, on canvas: inout Canvas) {
    canvas.put(line, x: box.x, y: box.y + row, width: box.width)
  }

  /// A horizontal border with a text in it.
  private func edge(_ left: String, _ text: String, _ right: String, _ role: Role, width: Int) -> Line {
    var line = Line(glyphs)
    line.add(left + glyphs.horizontal, .border)
    line.add(" \(SafeText.truncated(text, to: width - 6, ellipsis: glyphs.ellipsis)) ", role)
    line.add(String(repeating: glyphs.horizontal, count: max(0, width - 1 - line.width)), .border)
    line.add(right, .border)
    return line
  }
}
