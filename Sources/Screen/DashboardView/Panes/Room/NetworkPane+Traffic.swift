// SPDX-License-Identifier: Apache-2.0
import Dashboard
import DashboardModel
import FirestoreClientState
import TerminalCanvas

/// The events that all listeners heard in the last minute, in the rows that pane 3 leaves on a wide screen.
extension NetworkPane {
  private static let fewestRows = 4
  private static let mostRows = 5

  /// A graph of events by seconds; nothing where there is no room, or nothing was heard.
  func trafficLines(width: Int, room: Int) -> [Line] {
    let columns = min(Wall.span, width - 2)
    guard room >= Self.fewestRows, columns > 20, let graph = frame.state.listenerGraph(layout) else { return [] }
    var seconds = Array(repeating: 0, count: columns)
    for listener in frame.state.listeners {
      let events = graph.seconds(of: listener.tag, frame.state.wall, columns)
      for (index, count) in events.enumerated() { seconds[index] += count }
    }
    guard let most = seconds.max(), most > 0 else { return [] }
    var head = Line(glyphs)
    head.skip(1)
    head.add("heard in the last minute ", .textMuted)
    let text = " at most \(grouped(most)) a second"
    head.add(String(repeating: glyphs.horizontal, count: max(0, width - head.width - text.count - 1)), .border)
    head.add(text, .textMuted)
    let rows = min(room - 1, Self.mostRows)
    let top = rows * glyphs.sparkline.count - 1
    // The scale doubles, so that one second more or less seldom moves the others.
    var scale = 4
    while scale < most { scale *= 2 }
    let levels = seconds.map { $0 == 0 ? 0 : max(1, $0 * top / scale) }
    return [head]
      + (0..<rows).reversed().map { part in
        var line = Line(glyphs)
        line.skip(1)
        line.add(glyphs.graph(levels, part: part), .chartLow)
        return line
      }
  }
}
