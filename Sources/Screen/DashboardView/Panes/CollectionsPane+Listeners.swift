// SPDX-License-Identifier: Apache-2.0
import ClientPort
import Dashboard
import DashboardModel
import FirestoreClientState
import FirestoreModel
import TerminalCanvas

/// The running listeners, shown in free rows of the tree on a wide screen.
extension CollectionsPane {
  private static let fewestRows = 3

  func drawListeners(in area: Rect, on canvas: inout Canvas) {
    let all = frame.state.listeners
    guard layout.isWide, area.height >= Self.fewestRows, !all.isEmpty else { return }
    var head = Line(glyphs)
    head.skip(1)
    head.add("\(grouped(all.count)) listener\(all.count == 1 ? "" : "s") ", .textMuted)
    let graph = frame.state.listenerGraph(layout)
    let title = graph == nil ? "" : " last minute"
    head.add(String(repeating: glyphs.horizontal, count: max(0, area.width - head.width - title.count - 1)), .border)
    head.add(title, .textMuted)
    canvas.put(head, x: area.x, y: area.y, width: area.width)
    let room = area.height - 1
    let shown = all.count > room ? all.prefix(room - 1) : all[...]
    let name = min(24, shown.map { SafeText.columns(of: $0.name) }.max() ?? 0)
    var y = area.y + 1
    let mixes = shown.map { frame.state.listening.result(of: $0.tag)?.mix }
    let opensMixes = graph != nil && shown.count + mixes.count { $0 != nil } <= room
    for (listener, mix) in zip(shown, mixes) {
      canvas.put(line(of: listener, name: name, width: area.width, graph), x: area.x, y: y, width: area.width)
      y += 1
      guard opensMixes, let mix else { continue }
      var line = Line(glyphs)
      line.skip(3)
      line.add(MixBars(mix: mix, glyphs: glyphs).line(width: area.width - 4, names: true))
      canvas.put(line, x: area.x, y: y, width: area.width)
      y += 1
    }
    guard shown.count < all.count else { return }
    let rest = " \(glyphs.ellipsis) \(grouped(all.count - shown.count)) more"
    canvas.put(rest, at: Point(x: area.x, y: area.maxY - 1), role: .textMuted, clip: area)
  }

  private func line(of listener: ListenerRecord, name: Int, width: Int, _ graph: ListenerGraph?) -> Line {
    var line = Line(glyphs)
    line.skip(1)
    let isFromCache = listener.isFromCache || frame.state.network.isOffline
    let sign = listener.failure != nil ? "!" : isFromCache ? glyphs.listeningFromCache : glyphs.listening
    line.add(sign, listener.failure != nil ? .error : isFromCache ? .flagCache : .stateOnline)
    line.skip(1)
    line.cell(
      PathText.fitted(listener.name, to: name, glyphs.ellipsis), .listener(listener.tag.rawValue - 1), width: name)
    line.skip(1)
    let count = listener.count.map { "\(grouped($0)) doc\($0 == 1 ? "" : "s")" } ?? glyphs.ellipsis
    line.cell(listener.failure == nil ? count : "ended", .paneCount, width: 12, right: true)
    line.skip(2)
    guard listener.failure == nil, let graph else {
      line.add(listener.failure?.code.name ?? QueryText.line(listener.query), .textMuted)
      return line
    }
    let query = QueryText.line(listener.query)
    let start = width - ListenerGraph.columns - 1
    if query != listener.name {
      line.add(SafeText.truncated(query, to: max(0, start - line.width - 2), ellipsis: glyphs.ellipsis), .textMuted)
    }
    line.skip(to: start)
    line.add(glyphs.sparkline(graph.events(of: listener.tag, frame.state.wall).map(Double.init)), .chartLow)
    return line
  }
}
