// SPDX-License-Identifier: Apache-2.0
import Dashboard
import DashboardModel
import FirestoreClientState
import FirestoreModel
import FirestoreText
import TerminalCanvas

/// The panes that the open document covers, a line each: what must not be missed of them, and the number of the key that
/// unfolds them.
struct FoldedPanes {
  let frame: FrameState
  let layout: Layout
  let glyphs: Glyphs

  func draw(on canvas: inout Canvas) {
    for pane in Pane.allCases {
      guard let area = layout.folded[pane] else { continue }
      var line = Line(glyphs)
      line.skip(1)
      line.add("\(pane.rawValue) ", .paneTitle)
      switch pane {
      case .collections: addTree(to: &line, room: area.width - line.width - 1)
      case .writes: addQueue(to: &line)
      case .network: addConnection(to: &line, isRoomy: area.width >= 60)
      case .detail, .feed: break
      }
      canvas.put(line, x: area.x, y: area.y, width: area.width - 1)
    }
  }

  private var separator: String { " \(glyphs.bullet) " }

  /// `orders · 3/148`
  private func addTree(to line: inout Line, room: Int) {
    let count = separator + CollectionsPane.count(frame.state, .medium, glyphs)
    let path = frame.state.selectedCollection?.text ?? "collections"
    line.add(PathText.fitted(path, to: max(8, room - count.count), glyphs.ellipsis), .text)
    line.add(count, .paneCount)
  }

  /// `⇡2 held · #3 population · #4 delete`
  private func addQueue(to line: inout Line) {
    let waiting = frame.state.writes.waiting
    line.add("\(glyphs.pending)\(grouped(waiting))", waiting == 0 ? .textMuted : .flagPending)
    if waiting > 0, frame.state.network.isOffline { line.add(" held", .flagPending) }
    let (rejected, aside) = (frame.state.writes.refusedCount, frame.state.writes.setAsideCount)
    if rejected > 0 { line.add(" !\(grouped(rejected)) rejected", .writeRejected) }
    if aside > 0 { line.add(" \(grouped(aside)) aside", .textMuted) }
    if waiting == 0, rejected + aside == 0 { line.add(" nothing waits", .textMuted) }
    for row in frame.state.writes.rejected + frame.state.writes.live {
      line.add(separator + words(of: row), row.isRejected && !row.isSetAside ? .writeRejected : .text)
    }
  }

  /// A write in two words: its fields where it is the open document's, else its document.
  private func words(of row: QueueRow) -> String {
    guard let key = row.documents.first, key == frame.state.detail?.key, row.documents.count == 1 else {
      let id = row.documents.first.map { PathText.last($0.path.text, to: 12, glyphs.ellipsis) } ?? ""
      return "\(row.batch) \(row.operation.rawValue) \(id)"
    }
    guard let mutation = row.write.mutations.first, case .patch(_, let mask) = mutation.operation else {
      return "\(row.batch) \(row.operation.rawValue)"
    }
    let names = mask.paths.sorted().map(\.canonicalText) + mutation.transforms.map(\.path.canonicalText)
    let more = names.count > 2 ? " +\(names.count - 2)" : ""
    return "\(row.batch) \(names.prefix(2).joined(separator: ", "))\(more)"
  }

  /// `○ OFFLINE 0:12 by you`
  private func addConnection(to line: inout Line, isRoomy: Bool) {
    let vitals = VitalSigns(frame: frame, glyphs: glyphs)
    line.add("\(vitals.glyph) \(vitals.word)", vitals.role)
    if let outage = frame.state.outageText {
      line.add(" \(outage)", vitals.role)
      if !frame.state.network.isNetworkEnabled {
        line.add(" \(frame.state.returnText ?? "by \(frame.state.plugHolder)")", .textMuted)
      }
    } else if frame.state.network.onlineState == .online {
      line.add(
        " since \(TimeText.clock(frame.state.network.since, offset: frame.state.configuration.utcOffset))", .textMuted)
    }
    if !frame.state.faults.isCalm { line.add(separator + "faults \(frame.state.faults.summary)", .stateFault) }
    guard isRoomy else { return }
    if let reason = frame.state.connectionTrouble, frame.state.network.isNetworkEnabled {
      line.add(separator + reason, .warn)
    } else if let newest = frame.state.network.roundTrips.last, !frame.state.network.isOffline {
      line.add(separator + "rtt \(TimeText.wholeMilliseconds(newest)) ms", .textMuted)
    }
  }
}
