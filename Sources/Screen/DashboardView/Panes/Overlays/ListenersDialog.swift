// SPDX-License-Identifier: Apache-2.0
import Dashboard
import DashboardModel
import FirestoreClientState
import FirestoreModel
import TerminalCanvas

/// The open listeners, one in a row: its name, its state and its query.
struct ListenersDialog {
  let list: ListOverlay
  let geometry: ListGeometry
  let frame: FrameState
  let glyphs: Glyphs

  func draw(on canvas: inout Canvas) {
    let count = frame.state.listeners.count
    geometry.dialog.draw("Listeners", count == 0 ? "" : grouped(count), on: &canvas, glyphs)
    let area = geometry.rows
    guard area.height > 0 else { return }
    if count == 0 {
      canvas.put(
        "none is open: n makes one, o opens those of a file", at: area.origin, role: .textMuted, clip: area)
    }
    canvas.rows(of: list.cursor, count: count, in: area, frame.state) {
      line(of: frame.state.listeners[$0], width: area.width)
    }
  }

  private func line(of listener: ListenerRecord, width: Int) -> Line {
    var line = Line(glyphs)
    line.skip(2)
    let name = min(frame.state.listeners.map { SafeText.columns(of: $0.name) }.max() ?? 0, max(8, width / 3))
    line.cell(
      PathText.fitted(listener.name, to: name, glyphs.ellipsis), .listener(listener.tag.rawValue - 1), width: name)
    line.skip(2)
    if listener.failure != nil {
      line.cell("ended", .error, width: 10)
    } else if let count = listener.count {
      line.cell("\(grouped(count)) doc\(count == 1 ? "" : "s")", .paneCount, width: 10)
    } else {
      line.cell(glyphs.ellipsis, .textMuted, width: 10)
    }
    line.skip(1)
    let isFromCache = listener.failure == nil && (listener.isFromCache || frame.state.network.isOffline)
    line.cell(isFromCache ? "c" : "", .flagCache, width: 2)
    line.add(listener.failure?.description ?? QueryText.line(listener.query), listener.failure == nil ? .text : .error)
    if listener.options.source == .cache { line.add("  cache only", .textMuted) }
    return line
  }
}
