// SPDX-License-Identifier: Apache-2.0
import DashboardModel
import FirestoreClientState
import FirestoreModel
import TerminalCanvas

/// The open listeners, in the rows that the tree leaves on a wide screen.
extension CollectionsPane {
  private static let fewestRows = 3

  func drawListeners(in area: Rect, on canvas: inout Canvas) {
    let all = state.listeners
    guard layout.isWide, area.height >= Self.fewestRows, !all.isEmpty else { return }
    var head = Line(glyphs)
    head.skip(1)
    head.add("\(grouped(all.count)) listener\(all.count == 1 ? "" : "s") ", .textMuted)
    head.add(String(repeating: glyphs.horizontal, count: max(0, area.width - head.width - 1)), .border)
    canvas.put(head, x: area.x, y: area.y, width: area.width)
    let room = area.height - 1
    let shown = all.count > room ? all.prefix(room - 1) : all[...]
    let name = min(24, shown.map { SafeText.columns(of: $0.name) }.max() ?? 0)
    for (row, listener) in shown.enumerated() {
      canvas.put(line(of: listener, name: name), x: area.x, y: area.y + 1 + row, width: area.width)
    }
    guard shown.count < all.count else { return }
    let rest = " \(glyphs.ellipsis) \(grouped(all.count - shown.count)) more"
    canvas.put(rest, at: Point(x: area.x, y: area.maxY - 1), role: .textMuted, clip: area)
  }

  private func line(of listener: ListenerRecord, name: Int) -> Line {
    var line = Line(glyphs)
    line.skip(1)
    let isFromCache = listener.isFromCache || state.network.isOffline
    let sign = listener.failure != nil ? "!" : isFromCache ? glyphs.listeningFromCache : glyphs.listening
    line.add(sign, listener.failure != nil ? .error : isFromCache ? .flagCache : .stateOnline)
    line.skip(1)
    line.cell(
      PathText.fitted(listener.name, to: name, glyphs.ellipsis), .listener(listener.tag.rawValue - 1), width: name)
    line.skip(1)
    let count = listener.count.map { "\(grouped($0)) doc\($0 == 1 ? "" : "s")" } ?? glyphs.ellipsis
    line.cell(listener.failure == nil ? count : "ended", .paneCount, width: 12, right: true)
    line.skip(2)
    line.add(listener.failure?.code.name ?? QueryText.line(listener.query), .textMuted)
    return line
  }
}
