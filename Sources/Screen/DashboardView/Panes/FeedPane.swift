// SPDX-License-Identifier: Apache-2.0
import ClientPort
import Dashboard
import DashboardModel
import FirestoreModel
import FirestoreQuery
import TerminalCanvas

extension FeedRow.Source {
  fileprivate var role: Role {
    switch self {
    case .local: .sourceLocal
    case .server: .sourceServer
    case .cache: .flagCache
    }
  }
}

/// Draws pane 4: the events, newest at the bottom.
struct FeedPane {
  let frame: FrameState
  let layout: Layout
  let glyphs: Glyphs

  func draw(on canvas: inout Canvas) {
    let geometry = frame.state.geometry(of: .feed, layout)
    guard !geometry.content.isEmpty else { return }
    if let card = frame.state.outages.card, geometry.heads > 0 {
      let place = Rect(
        x: geometry.content.x, y: geometry.content.y, width: geometry.content.width, height: geometry.heads)
      ReconnectionCard(card: card, frame: frame, glyphs: glyphs).draw(in: place, on: &canvas)
    }
    let area = geometry.rows
    let shown = frame.state.feed.shown
    if shown.isEmpty {
      canvas.put(emptyLine, x: area.x, y: area.y, width: area.width)
      if !Self.isFiltered(frame.state) {
        let page = EmptyPage(frame: frame, glyphs: glyphs)
        var rest = Rect(x: area.x, y: area.y + 2, width: area.width, height: area.height - 2)
        let end = page.drawLegend(in: rest, on: &canvas) + 1
        rest = Rect(x: rest.x, y: end, width: rest.width, height: rest.maxY - end)
        if EmptyPage.isShown(frame.state) { page.drawCommands(in: rest, on: &canvas) }
      }
      return
    }
    let thread = frame.state.threadBatch
    let columns = FeedColumns(frame.state, layout.layoutClass, width: area.width)
    let context =
      layout.isWide ? FeedContext(frame.state, shown.suffix(area.height).compactMap { frame.state.feed[$0] }) : nil
    let range =
      frame.state.feed.isPaused
      ? frame.state.feed.cursor.rows(count: shown.count, height: area.height)
      : max(0, shown.count - area.height)..<shown.count
    let ring = FeedRing(frame.state, height: area.height)
    let selected =
      frame.state.feed.isPaused ? frame.state.feed.cursor.id : frame.state.focus == .feed ? shown.last : nil
    var previous = range.lowerBound > 0 ? frame.state.feed[shown[shown.startIndex + range.lowerBound - 1]] : nil
    for (offset, index) in range.enumerated() {
      let id = shown[shown.startIndex + index]
      guard let row = frame.state.feed[id] else { continue }
      let y = area.y + (ring?.place(of: index) ?? offset)
      if row.kind == .divider {
        canvas.put(divider(row, width: area.width), x: area.x, y: y, width: area.width)
      } else {
        // The first row of a step has its number, also at the top of the pane.
        let step = offset > 0 && previous?.step == row.step ? nil : row.step
        canvas.put(line(row, columns, context, step, after: previous?.time), x: area.x, y: y, width: area.width)
      }
      if ring != nil, id == shown.last {
        canvas.put(
          glyphs.follow, at: Point(x: area.x, y: y), role: frame.state.focus == .feed ? .cursorGutter : .textMuted,
          maxWidth: 1)
      } else if id == selected {
        let isFocused = frame.state.focus == .feed
        if frame.state.feed.isPaused {
          canvas.select(
            Rect(x: area.x, y: y, width: area.width, height: 1), frame.state, isFocused: isFocused)
        } else {
          // The newest row is selected while the feed follows. It gets only a mark, to avoid repainting it with every
          // event.
          canvas.gutter(x: area.x, y: y, glyphs: glyphs, isFocused: isFocused)
        }
      } else if let thread, row.thread == thread {
        canvas.put(glyphs.related, at: Point(x: area.x, y: y), role: .flagPending, maxWidth: 1)
      } else if let key = row.key, key == frame.state.detail?.key {
        canvas.put(glyphs.related, at: Point(x: area.x, y: y), role: .accent, maxWidth: 1)
      }
      if row.kind != .divider {
        canvas.mark(hitsOf: frame.state.feed.filter, in: Rect(x: area.x + 1, y: y, width: area.width - 1, height: 1))
      }
      previous = row
    }
    // While there are few events, a legend of their signs fills the free rows.
    let rest = area.height - range.count
    if rest >= Self.leastForLegend, !frame.state.feed.isPaused, !Self.isFiltered(frame.state) {
      EmptyPage(frame: frame, glyphs: glyphs).drawLegend(
        in: Rect(x: area.x, y: area.y + range.count + 1, width: area.width, height: rest - 1), on: &canvas)
    }
  }

  /// The minimum count of free rows for showing the legend.
  private static let leastForLegend = 9

  private var emptyLine: Line {
    var line = Line(glyphs)
    line.skip(2)
    let text =
      Self.isFiltered(frame.state)
      ? "no event passes the filter; esc clears it"
      : frame.state.listeners.isEmpty
        ? "no listeners: space on a collection starts one" : "nothing has happened yet"
    line.add(text, .textMuted)
    return line
  }

  private func divider(_ row: FeedRow, width: Int) -> Line {
    var line = Line(glyphs)
    let room = max(0, width - 5)
    let text = SafeText.truncated(" \(row.summary) ", to: room, ellipsis: glyphs.ellipsis)
    let dashes = room - SafeText.columns(of: text)
    let side = String(repeating: glyphs.dashedHorizontal, count: min(dashes / 2, 32))
    line.skip(2 + dashes / 2 - min(dashes / 2, 32))
    line.add(side, .border)
    line.add(text, .warn)
    line.add(side, .border)
    return line
  }

  private func line(
    _ row: FeedRow, _ columns: FeedColumns, _ context: FeedContext?, _ step: Int?, after previous: Timestamp?
  ) -> Line {
    var line = Line(glyphs)
    line.skip(columns.lead)
    if columns.step > 0 {
      line.cell(step.map { "\($0)" } ?? "", .hint, width: columns.step - 1, right: true)
      line.skip(1)
    }
    line.cell(
      time(of: row, columns, after: previous), .textMuted, width: columns.time, right: frame.state.feed.showsDeltas)
    line.skip(columns.gap)
    if row.kind == .conflict {
      addConflict(row, columns, to: &line)
      return line
    }
    if columns.listener > 0 {
      let name =
        columns.showsListenerEnd
        ? PathText.last(row.listenerName, to: columns.listener, glyphs.ellipsis)
        : PathText.fitted(row.listenerName, to: columns.listener, glyphs.ellipsis)
      line.cell(name, role(of: row), width: columns.listener)
      line.skip(1)
    }
    line.add(row.kind.letter, row.kind.role)
    line.skip(1)
    line.cell(subject(of: row, columns), row.kind == .synced ? .changeSynced : .text, width: columns.document)
    line.skip(columns.documentGap)
    if columns.hasSources { addSource(of: row, columns, to: &line) }
    let room = columns.width - line.width - (columns.lead > 1 ? 1 : 0)
    guard room > 2 else { return line }
    let summaryRole: Role = row.kind == .failed ? .error : row.kind == .conflict ? .warn : .text
    guard let batch = row.batch, room >= 14 else {
      let summary = SafeText.truncated(row.summary, to: room, ellipsis: glyphs.ellipsis)
      line.add(summary, summaryRole)
      let left = room - SafeText.columns(of: summary) - 3
      let why = row.why.map { SafeText.columns(of: $0) + 3 } ?? 0
      let parts = [row.why, context?.text(of: row, room: left - why)].compactMap(\.self).filter { !$0.isEmpty }
      if !parts.isEmpty, left >= 8 {
        let separator = " \(glyphs.bullet) "
        let text = parts.joined(separator: separator)
        line.add(separator + SafeText.truncated(text, to: left, ellipsis: glyphs.ellipsis), .textMuted)
      }
      return line
    }
    let start = line.width
    let name = batch.description
    line.add(SafeText.truncated(row.summary, to: room - name.count - 2, ellipsis: glyphs.ellipsis), summaryRole)
    line.skip(to: start + min(columns.summary, room - name.count))
    if line.width > start + columns.summary { line.skip(2) }
    line.add(name, .flagPending)
    return line
  }

  /// The width of the document's path in a feed row about a conflict. The path follows the values.
  private static let conflictPath = 28

  /// Adds a conflict: its values, then the document's path. It uses the whole row, because it has neither a listener
  /// nor a source.
  private func addConflict(_ row: FeedRow, _ columns: FeedColumns, to line: inout Line) {
    line.add(row.kind.letter, row.kind.role)
    line.skip(1)
    let room = columns.width - line.width - 1
    let path = PathText.fitted(row.subject, to: min(Self.conflictPath, room / 3), glyphs.ellipsis)
    let left = room - SafeText.columns(of: path) - 2
    line.add(SafeText.truncated(row.summary, to: max(0, left), ellipsis: glyphs.ellipsis), .warn)
    line.skip(2)
    line.add(path)
  }

  /// Adds the source of a row and its flags.
  private func addSource(of row: FeedRow, _ columns: FeedColumns, to line: inout Line) {
    line.cell(
      columns.hasWords ? row.source.rawValue : String(row.source.rawValue.prefix(1)), row.source.role,
      width: columns.source)
    line.skip(columns.gap)
    let flags = (row.isFromCache ? "c" : "") + (row.hasPendingWrites ? "p" : "")
    let flagRole: Role = flags.isEmpty ? .text : row.hasPendingWrites ? .flagPending : .flagCache
    line.cell(flags.isEmpty ? glyphs.bullet : flags, flagRole, width: 2)
    line.skip(columns.gap)
  }

  private func time(of row: FeedRow, _ columns: FeedColumns, after previous: Timestamp?) -> String {
    guard frame.state.feed.showsDeltas else {
      return TimeText.milliseconds(row.time, offset: frame.state.configuration.utcOffset, from: columns.precision)
    }
    guard let previous else { return "" }
    let milliseconds = row.time.milliseconds(since: previous)
    let rest = "\(milliseconds % 1000)"
    return "+\(milliseconds / 1000)." + String(repeating: "0", count: max(0, 3 - rest.count)) + rest
  }

  private func subject(of row: FeedRow, _ columns: FeedColumns) -> String {
    guard row.key != nil else { return row.subject }
    return columns.showsLastSegment
      ? PathText.last(row.subject, to: columns.document, glyphs.ellipsis)
      : PathText.fitted(row.subject, to: columns.document, glyphs.ellipsis)
  }

  private func role(of row: FeedRow) -> Role {
    row.listener.map { .listener($0.rawValue - 1) } ?? .textMuted
  }

  // MARK: Title

  private static func isFiltered(_ state: DashboardState) -> Bool {
    state.feed.isFiltered
  }

  /// The status of the feed: `▶ follow` or `❙❙ paused +3 new`.
  static func status(_ state: DashboardState, _ glyphs: Glyphs) -> Line {
    if state.showsRequests { return RequestsPane.status(state, glyphs) }
    var line = Line(glyphs)
    if state.feed.isPaused {
      let new = state.feed.newCount
      line.add("\(glyphs.paused) paused" + (new > 0 ? " +\(grouped(new)) new" : ""), .headerPaused)
    } else {
      line.add("\(glyphs.follow) follow", .paneCount)
      if state.screen.isLinkSlow, state.feed.overwritten > 0 {
        line.add(" +\(grouped(state.feed.overwritten)) not shown", .warn)
      }
    }
    return line
  }

  static func titleStatus(_ state: DashboardState, _ layoutClass: LayoutClass, _ glyphs: Glyphs) -> Line {
    var line = Line(glyphs)
    line.add(" ")
    line.add(status(state, glyphs))
    if state.showsRequests {
      if line.width > 1 { line.add(" ") }
      return line
    }
    let count = state.listeners.count { $0.failure == nil }
    if layoutClass == .large {
      line.add(" \(glyphs.bullet) \(count) listener\(count == 1 ? "" : "s")", .paneCount)
    }
    if let tag = state.feed.onlyListener, let name = state.listeners.first(where: { $0.tag == tag })?.name {
      line.add(" \(glyphs.bullet) only \(name)", .paneCount)
    }
    if let key = state.feed.onlyDocument {
      line.add(" \(glyphs.bullet) only \(PathText.fitted(key.path.text, to: 30, glyphs.ellipsis))", .paneCount)
    }
    if let span = state.feed.onlySpan { line.add(" \(glyphs.bullet) only \(span.name)", .paneCount) }
    if !state.feed.filter.isEmpty {
      let text = SafeText.truncated(state.feed.filter.text, to: 24, ellipsis: glyphs.ellipsis)
      line.add(" \(glyphs.bullet) /\(text)", .match)
    } else if layoutClass == .large, !state.feed.isFiltered {
      line.add(" \(glyphs.bullet) all", .paneCount)
    }
    if layoutClass == .large, let key = state.detail?.key, state.feed.onlyDocument == nil {
      let id = PathText.last(key.path.text, to: 20, glyphs.ellipsis)
      line.add(" \(glyphs.bullet) \(glyphs.related) marks \(id)", .paneCount)
    }
    line.add(" ")
    return line
  }
}

extension FeedRow.Kind {
  var role: Role {
    switch self {
    case .added: .changeAdded
    case .modified: .changeModified
    case .removed: .changeRemoved
    case .synced, .divider, .call: .changeSynced
    case .failed: .error
    case .conflict: .warn
    }
  }
}

/// Draws the summary of a reconnection above the feed: three lines with a border, or one line.
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

  /// A horizontal border that contains text.
  private func edge(_ left: String, _ text: String, _ right: String, _ role: Role, width: Int) -> Line {
    var line = Line(glyphs)
    line.add(left + glyphs.horizontal, .border)
    line.add(" \(SafeText.truncated(text, to: width - 6, ellipsis: glyphs.ellipsis)) ", role)
    line.add(String(repeating: glyphs.horizontal, count: max(0, width - 1 - line.width)), .border)
    line.add(right, .border)
    return line
  }
}
