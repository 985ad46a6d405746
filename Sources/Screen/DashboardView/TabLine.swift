// SPDX-License-Identifier: Apache-2.0
import Dashboard
import DashboardModel
import FirestoreClientState
import FirestoreModel
import FirestoreText
import TerminalCanvas

/// Draws the second row of screens that show one pane at a time: the names and numbers of the other panes.
struct TabLine {
  let frame: FrameState
  let layout: Layout
  let glyphs: Glyphs

  func draw(on canvas: inout Canvas) {
    guard let area = layout.tabs else { return }
    let tabs = PaneTabs(frame.state, width: area.width)
    for tab in tabs.tabs {
      let role: Role = tab.pane == frame.state.focus ? .paneTitleFocus : .paneTitle
      canvas.put(tab.text, at: Point(x: tab.x, y: area.y), role: role, maxWidth: area.width - tab.x)
    }
    let status = self.status
    guard !status.isEmpty, tabs.width + 2 + status.width <= area.width else { return }
    canvas.put(status, x: area.width - status.width, y: area.y, width: status.width)
  }

  private var status: Line {
    var line = Line(glyphs)
    switch frame.state.focus {
    case .feed: line = FeedPane.status(frame.state, glyphs)
    case .collections, .writes, .network, .detail:
      line.add(PaneFrame.count(of: frame.state.focus, frame.state, layout.layoutClass, glyphs), .paneCount)
    }
    if layout.layoutClass == .small, !line.isEmpty { line.add(" ") }
    return line
  }
}

/// Draws the parts of the selected feed row that the columns omit, in rows below the feed. Narrow panes always have
/// these rows. Other panes have them on request.
struct SelectionStrip {
  let frame: FrameState
  let layout: Layout
  let glyphs: Glyphs

  func draw(on canvas: inout Canvas) {
    guard let area = layout.strip, area.height >= 3 else { return }
    canvas.horizontalLine(at: area.origin, width: area.width, glyphs: glyphs)
    let isHeld = frame.state.showsRequests ? !frame.state.requests.isFollowing : frame.state.feed.isPaused
    let title = isHeld ? " selected " : " newest "
    canvas.put(title, at: Point(x: 2, y: area.y), role: .paneTitle, maxWidth: area.width - 2)
    if frame.state.showsRequests { return drawRequest(in: area, on: &canvas) }
    guard let row = frame.state.feed.selected else { return }
    var first = Line(glyphs)
    first.skip(2)
    let subject = row.subject.isEmpty ? row.listenerName : row.subject
    if frame.state.feed.isOpened {
      first.add(subject, .textStrong)
      canvas.put(first, x: 0, y: area.y + 1, width: area.width)
      let interest = row.key.map { frame.state.interest(in: $0.collection) }
      let opened = OpenedRow(row: row, interest: interest, glyphs: glyphs)
      let lines = opened.lines(width: max(8, area.width - 3), limit: area.height - 2)
      for (index, text) in lines.enumerated() {
        canvas.put(text, at: Point(x: 2, y: area.y + 2 + index), maxWidth: area.width - 3)
      }
      return
    }
    first.add(PathText.fitted(subject, to: max(8, area.width / 2 - 2), glyphs.ellipsis), .textStrong)
    first.add("  " + row.summary)
    canvas.put(first, x: 0, y: area.y + 1, width: area.width)
    var second = Line(glyphs)
    second.skip(2)
    let flags = [row.isFromCache ? "cache" : nil, row.hasPendingWrites ? "pending" : nil].compactMap(\.self)
    let parts =
      [
        TimeText.milliseconds(row.time, offset: frame.state.configuration.utcOffset, from: .hours),
        row.subject.isEmpty || row.listenerName.isEmpty ? nil : row.listenerName,
        row.batch?.description, row.why,
      ].compactMap(\.self) + flags
    second.add(parts.joined(separator: " \(glyphs.bullet) "), .textMuted)
    canvas.put(second, x: 0, y: area.y + 2, width: area.width)
  }
  private func drawRequest(in area: Rect, on canvas: inout Canvas) {
    guard frame.state.requestsNote == nil, let decision = frame.state.requests.selected else { return }
    let parts = WrappedText.lines(decision.sentence, width: max(8, area.width - 3), glyphs.ellipsis)
    for (row, part) in parts.prefix(area.height - 1).enumerated() {
      canvas.put(part, at: Point(x: area.x + 2, y: area.y + 1 + row), maxWidth: area.width - 3)
    }
  }
}

/// Draws one line for each pane that the open document covers. The line shows the most important information, and the
/// number of the key that unfolds the pane.
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

  /// Adds the position in the tree: `orders · 3/148`.
  private func addTree(to line: inout Line, room: Int) {
    let count = separator + CollectionsPane.count(frame.state, .medium, glyphs)
    let path = frame.state.selectedCollection?.text ?? "collections"
    line.add(PathText.fitted(path, to: max(8, room - count.count), glyphs.ellipsis), .text)
    line.add(count, .paneCount)
  }

  /// Adds the state of the queue: `⇡2 pending · #3 population · #4 delete`.
  private func addQueue(to line: inout Line) {
    let waiting = frame.state.writes.waiting
    line.add("\(glyphs.pending)\(grouped(waiting))", waiting == 0 ? .textMuted : .flagPending)
    if waiting > 0 { line.add(" pending", .flagPending) }
    let (rejected, aside) = (frame.state.writes.refusedCount, frame.state.writes.setAsideCount)
    if rejected > 0 { line.add(" !\(grouped(rejected)) rejected", .writeRejected) }
    if aside > 0 { line.add(" \(grouped(aside)) aside", .textMuted) }
    if waiting == 0, rejected + aside == 0 { line.add(" pending", .textMuted) }
    for row in frame.state.writes.rejected + frame.state.writes.live {
      line.add(separator + words(of: row), row.isRejected && !row.isSetAside ? .writeRejected : .text)
    }
  }

  /// A short text about a write. For a write to the open document, the text names the fields. For any other write, it
  /// names the document.
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

  /// Adds the state of the connection: `○ OFFLINE 0:12 by you`.
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
    if let faults = frame.state.faultText { line.add(separator + "faults \(faults)", .stateFault) }
    guard isRoomy else { return }
    if let reason = frame.state.connectionTrouble, frame.state.network.isNetworkEnabled {
      line.add(separator + reason, .warn)
    } else if let newest = frame.state.network.roundTrips.last, !frame.state.network.isOffline {
      line.add(separator + "rtt \(TimeText.wholeMilliseconds(newest)) ms", .textMuted)
    }
  }
}
