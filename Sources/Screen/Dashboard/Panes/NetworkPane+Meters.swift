// SPDX-License-Identifier: Apache-2.0
import DashboardModel
import FirestoreClientState
import FirestoreModel
import FirestoreQuery
import TerminalCanvas

/// The lines that count the reads of listeners and the bytes sent to the terminal.
extension NetworkPane {
  /// The bytes and frames sent to the terminal.
  func line(of traffic: TerminalTraffic) -> Line {
    let mean = traffic.frames > 0 ? ", \(ByteText.short(traffic.bytes / traffic.frames)) each" : ""
    let frames = "\(grouped(traffic.frames)) frame\(traffic.frames == 1 ? "" : "s")"
    return fact("tty", "\(ByteText.short(traffic.bytes)) in \(frames)\(mean)", .text)
  }

  /// The reads of each listener from the server, and the reads that the cache saved.
  func readLines(width: Int, limit: Int) -> [Line] {
    let meters = Dictionary(state.network.reads.map { ($0.target, $0) }, uniquingKeysWith: { first, _ in first })
    let listeners = state.listeners.compactMap { listener in
      meters[listener.query.target].map { (name: listener.name, tag: listener.tag, meter: $0) }
    }
    let nameWidth = min(max(10, width / 3), (listeners.map { SafeText.columns(of: $0.name) }.max() ?? 0) + 2)
    return listeners.prefix(limit).enumerated().map { index, listener in
      var line = row(index == 0 ? "reads" : "", width: width < 44 ? 6 : 7)
      line.cell(
        PathText.fitted(listener.name, to: nameWidth - 1, glyphs.ellipsis), .listener(listener.tag.rawValue - 1),
        width: nameWidth)
      line.add("\(grouped(listener.meter.sent)) sent")
      if listener.meter.kept > 0 { line.add(", \(grouped(listener.meter.kept)) kept from the cache", .textMuted) }
      return line
    }
  }
}
