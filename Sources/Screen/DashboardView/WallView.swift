// SPDX-License-Identifier: Apache-2.0
import ClientPort
import Dashboard
import DashboardModel
import FirestoreModel
import TerminalCanvas

/// Draws the wall, the full-screen view of all listeners. It shows a line with the last minute of each listener, then
/// this client's writes, round trips and outages on the same time axis, then the latest events.
struct WallView {
  let list: ListOverlay
  let panel: WallPanel
  let frame: FrameState
  let layout: Layout
  let glyphs: Glyphs

  func draw(on canvas: inout Canvas) {
    let listeners = frame.state.wallListeners(panel)
    let geometry = WallGeometry(list, listeners, frame.state, layout)
    let shown = listeners[geometry.shown]
    let (second, pace) = (frame.state.now.seconds, geometry.pace)
    let figures = WallFigures(frame, end: second / pace * pace)
    canvas.fill(geometry.area)
    if let y = geometry.axis {
      canvas.put(axis(geometry, listeners.count, pace), x: 0, y: y, width: geometry.area.width)
    }
    drawListeners(shown, figures, geometry, on: &canvas)
    let lines = WallLines(figures: figures, frame: frame, columns: geometry.columns, glyphs: glyphs)
    if let y = geometry.writes { canvas.put(lines.writes, x: 0, y: y, width: geometry.area.width) }
    if let y = geometry.roundTrips { canvas.put(lines.roundTrips, x: 0, y: y, width: geometry.area.width) }
    for (row, y) in zip(figures.lastRows(geometry.last.count).reversed(), geometry.last) {
      canvas.put(lines.last(row, isFirst: y == geometry.last.lowerBound), x: 0, y: y, width: geometry.area.width)
    }
  }

  /// The heading of the time axis: `Wall    60 s ──── 1-9 of 76, every 2 s, by rate ──── now      docs   ev/s`.
  private func axis(_ geometry: WallGeometry, _ count: Int, _ pace: Int64) -> Line {
    let columns = geometry.columns
    var line = Line(glyphs)
    line.skip(WallGeometry.Columns.sign)
    line.add("Wall", .paneTitleFocus)
    line.skip(to: columns.graph)
    let ends = ("\(Wall.span) s ", " now")
    let rule = columns.graphWidth - ends.0.count - ends.1.count
    if rule >= 1 {
      let (first, last) = (geometry.shown.lowerBound + 1, geometry.shown.upperBound)
      let notes = [
        geometry.shown.count == count ? nil : "\(first)-\(last) of \(grouped(count))",
        pace > 1 ? "every \(pace) s" : nil, panel.order == .opened ? nil : panel.order.words,
      ].compactMap(\.self)
      let texts = (0..<notes.count).reversed().map { " \(notes[...$0].joined(separator: ", ")) " }
      let word = texts.first { $0.count + 2 <= rule } ?? ""
      let left = (rule - word.count) / 2
      line.add(ends.0, .textMuted)
      line.add(String(repeating: glyphs.horizontal, count: left), .border)
      line.add(word, .textMuted)
      line.add(String(repeating: glyphs.horizontal, count: rule - word.count - left), .border)
      line.add(ends.1, .textMuted)
    }
    guard columns.hasFigures else { return line }
    line.skip(to: columns.documents)
    line.cell("docs", .textMuted, width: WallGeometry.Columns.documentsWidth, right: true)
    line.cell("ev/s", .textMuted, width: WallGeometry.Columns.rateWidth, right: true)
    return line
  }

  private func drawListeners(
    _ listeners: ArraySlice<ListenerRecord>, _ figures: WallFigures, _ geometry: WallGeometry, on canvas: inout Canvas
  ) {
    if listeners.isEmpty {
      let text = "no listener is open: space on a collection starts one, n creates one"
      let place = Point(x: WallGeometry.Columns.name, y: geometry.rows.y)
      canvas.put(text, at: place, role: .textMuted, clip: geometry.rows)
      return
    }
    let lines = WallLines(figures: figures, frame: frame, columns: geometry.columns, glyphs: glyphs)
    var y = geometry.rows.y
    for (index, listener) in zip(geometry.shown, listeners) {
      let row = figures.row(of: listener)
      let isSelected = index == list.cursor.index
      for part in (1..<geometry.graphHeight).reversed() {
        canvas.put(lines.above(row, part, of: geometry.graphHeight), x: 0, y: y, width: geometry.area.width)
        y += 1
      }
      canvas.put(
        lines.listener(row, graphHeight: geometry.graphHeight, showsMix: geometry.showsMix(isSelected: isSelected)),
        x: 0, y: y, width: geometry.area.width)
      if isSelected { canvas.gutter(x: 0, y: y, glyphs: glyphs, isFocused: true) }
      y += 1
      guard geometry.opensMixes, let mix = row.mix else { continue }
      canvas.put(lines.mixBelow(mix), x: 0, y: y, width: geometry.area.width)
      y += 1
    }
  }
}

/// The lines of the wall. Each line is drawn from left to right without gaps, because a line that moves each second
/// then needs the fewest bytes.
struct WallLines {
  let figures: WallFigures
  let frame: FrameState
  let columns: WallGeometry.Columns
  let glyphs: Glyphs

  // MARK: Listeners

  /// - Parameter graphHeight: the count of rows of the listener's graph. The returned line contains the lowest of these
  ///   rows.
  func listener(_ row: WallFigures.Row, graphHeight: Int, showsMix: Bool) -> Line {
    let record = row.listener
    let role = Role.listener(record.tag.rawValue - 1)
    var line = head(
      row.isFromCache ? glyphs.listeningFromCache : record.failure == nil ? glyphs.listening : glyphs.cross,
      record.failure == nil ? row.isFromCache ? .flagCache : role : .error,
      PathText.fitted(record.name, to: columns.nameWidth, glyphs.ellipsis), role)
    if let failure = record.failure {
      line.add("ended: \(failure.lineText)", .error)
      return line
    }
    line.add(graph(row.events, part: 0, of: graphHeight), role)
    guard columns.hasFigures else { return line }
    line.skip(to: columns.documents)
    line.cell(
      record.count.map { grouped($0) } ?? glyphs.ellipsis, .paneCount, width: WallGeometry.Columns.documentsWidth,
      right: true)
    line.cell(
      Self.rate(row.perSecond), row.perSecond > 0 ? .text : .textMuted, width: WallGeometry.Columns.rateWidth,
      right: true)
    if showsMix, let mix = row.mix {
      line.skip(to: columns.mix)
      line.add(MixBars(mix: mix, glyphs: glyphs).line(width: columns.mixWidth, names: true))
    }
    return line
  }

  /// A row of the listener's graph above its lowest row.
  func above(_ row: WallFigures.Row, _ part: Int, of graphHeight: Int) -> Line {
    var line = Line(glyphs)
    guard row.listener.failure == nil else { return line }
    line.skip(to: columns.graph)
    line.add(graph(row.events, part: part, of: graphHeight), .listener(row.listener.tag.rawValue - 1))
    return line
  }

  func mixBelow(_ mix: ValueMix.Shown) -> Line {
    var line = Line(glyphs)
    line.skip(WallGeometry.Columns.name + 1)
    line.cell(mix.field, .textMuted, width: max(0, columns.nameWidth - 1))
    line.skip(to: columns.graph)
    let end = columns.hasFigures ? columns.rate + WallGeometry.Columns.rateWidth : columns.graph + columns.graphWidth
    line.add(MixBars(mix: mix, glyphs: glyphs).line(width: end - columns.graph, names: false))
    return line
  }

  // MARK: Writes

  var writes: Line {
    var line = head(glyphs.pending, .flagPending, "writes", .textStrong)
    let rejected = merged(figures.rejected)
    for (column, made) in merged(figures.made).enumerated() {
      if column < unseen {
        line.skip(1)
      } else if rejected[column] > 0 {
        line.add("!", .writeRejected)
      } else {
        line.add(height(Int.bitWidth - made.leadingZeroBitCount), .flagPending)
      }
    }
    let waiting = frame.state.writes.waiting
    let totals = frame.state.wall.totals
    let refused = totals.rejected > 0 ? "\(grouped(totals.rejected)) rejected" : nil
    let acked = "\(grouped(totals.acknowledged)) acknowledged"
    let waits = waiting > 0 ? "\(grouped(waiting)) pending" : nil
    let parts = [waits, refused, acked].compactMap(\.self)
    add([parts, Array(parts.prefix(2)), Array(parts.prefix(1))], to: &line, waiting > 0 ? .flagPending : .text)
    return line
  }

  var roundTrips: Line {
    var line = head(" ", .text, "rtt ms", .textStrong)
    let (trips, outages) = (columnMaxima(figures.roundTrips), figures.outages)
    for column in trips.indices {
      let isOut = (column * columns.step..<(column + 1) * columns.step).contains { outages[$0] }
      if trips[column] == 0 {
        // A second without an answered write has no round trip, rather than one of zero.
        line.add(isOut ? glyphs.barOutage : " ", .chartOutage)
      } else {
        // Each height means four times the milliseconds of the previous one.
        line.add(height((Int.bitWidth - trips[column].leadingZeroBitCount + 1) / 2), .chartLow)
      }
    }
    if let outage = frame.state.outageText {
      add([["offline \(outage)"], [outage]], to: &line, .headerOffline)
      return line
    }
    let times = figures.roundTripTimes
    guard times.count > 0 else {
      add([["no write answered yet"], ["none yet"]], to: &line, .textMuted)
      return line
    }
    let (half, most) = (grouped(times.percentile(50)), grouped(times.percentile(95)))
    add([["p50 \(half)", "p95 \(most)"], ["p50 \(half)"]], to: &line, .text)
    return line
  }

  /// Adds the longest text that fits to the right of the graph. If the text is no wider than the listeners' figures, it
  /// is aligned with them.
  private func add(_ forms: [[String]], to line: inout Line, _ role: Role) {
    let start = columns.documents + 1
    let end = columns.rate + WallGeometry.Columns.rateWidth
    for text in forms.map({ $0.joined(separator: " ") }) {
      let length = SafeText.columns(of: text)
      guard start + length <= columns.width else { continue }
      line.skip(to: max(start, end - length))
      return line.add(text, role)
    }
  }

  // MARK: Last events

  func last(_ row: FeedRow, isFirst: Bool) -> Line {
    var line = Line(glyphs)
    line.skip(WallGeometry.Columns.name)
    line.cell(isFirst ? "last" : "", .textMuted, width: columns.nameWidth)
    line.skip(to: columns.graph)
    line.add(TimeText.clock(row.time, offset: frame.state.configuration.utcOffset), .textMuted)
    line.skip(1)
    line.add(row.kind == .divider ? glyphs.horizontal : row.kind.letter, row.kind.role)
    line.skip(1)
    if row.key != nil {
      line.add(PathText.fitted(row.subject, to: 28, glyphs.ellipsis))
    } else if !row.listenerName.isEmpty {
      line.add(row.listenerName, row.listener.map { .listener($0.rawValue - 1) } ?? .text)
    }
    line.skip(row.key == nil && row.listenerName.isEmpty ? 0 : 2)
    let text = SafeText.truncated(row.summary, to: Self.longestSummary, ellipsis: glyphs.ellipsis)
    line.add(text, row.kind == .failed ? .error : row.kind == .conflict || row.kind == .divider ? .warn : .text)
    return line
  }

  /// The maximum width of an event's text. The feed shows the full text. Each additional column would be sent with
  /// every event.
  private static let longestSummary = 64

  // MARK: Parts

  private func head(_ sign: String, _ signRole: Role, _ name: String, _ role: Role) -> Line {
    var line = Line(glyphs)
    line.skip(WallGeometry.Columns.sign)
    line.cell(sign, signRole, width: WallGeometry.Columns.name - WallGeometry.Columns.sign)
    line.cell(name, role, width: columns.nameWidth)
    line.skip(to: columns.graph)
    return line
  }

  /// The count of columns at the start for which no data exists, because the dashboard started later.
  private var unseen: Int { min(columns.graphWidth, figures.unseen / columns.step) }

  /// The sum for each column: the values of all seconds that the column represents.
  private func merged(_ seconds: [Int]) -> [Int] {
    (0..<columns.graphWidth).map { column in
      seconds[column * columns.step..<(column + 1) * columns.step].reduce(0, +)
    }
  }

  private func columnMaxima(_ seconds: [Int]) -> [Int] {
    (0..<columns.graphWidth).map { column in
      seconds[column * columns.step..<(column + 1) * columns.step].max() ?? 0
    }
  }

  /// One row of a graph that has several rows. The full height always represents a factor of 2⁷ in the count of events,
  /// so that a new second does not change how earlier seconds are drawn.
  private func graph(_ seconds: [Int], part: Int, of rows: Int) -> String {
    let steps = glyphs.sparkline.count
    let levels = merged(seconds).map { events in
      let more = Double(events + 1)
      // The logarithm, linearly interpolated between powers of two.
      let doublings =
        rows == 1 ? Double(Int.bitWidth - events.leadingZeroBitCount) : Double(more.exponent) + more.significand - 1
      return Int((doublings * Double(rows * steps - 1) / Double(steps - 1)).rounded())
    }
    return String(repeating: " ", count: unseen) + glyphs.graph(levels.dropFirst(unseen), part: part)
  }

  private func height(_ level: Int) -> String { glyphs.sparkline[min(max(0, level), glyphs.sparkline.count - 1)] }

  /// The rate as text, such as `1.4`. Rates of 100 or more have no decimals.
  private static func rate(_ perSecond: Double) -> String {
    let tenths = Int((perSecond * 10).rounded())
    return tenths >= 1000 ? grouped(tenths / 10) : "\(tenths / 10).\(tenths % 10)"
  }
}

/// A listener's document counts by the value of a field, as bars.
struct MixBars {
  let mix: ValueMix.Shown
  let glyphs: Glyphs

  /// A section for each value, all of equal width. It contains the value, a bar for its share, and its document count.
  /// All bars have the same scale. If one value's count changes, the other sections do not move.
  /// - Parameter names: whether the name of the document field precedes the values.
  func line(width: Int, names: Bool) -> Line {
    var line = Line(glyphs)
    var room = width
    if names {
      let name = SafeText.truncated(mix.field, to: 12, ellipsis: glyphs.ellipsis)
      line.cell(name, .textMuted, width: min(13, width / 4))
      room -= line.width
    }
    let total = mix.values.reduce(0) { $0 + $1.documents }
    let slot = room / max(1, mix.values.count)
    let start = line.width
    let longest = mix.values.map { SafeText.columns(of: $0.value) + grouped($0.documents).count }.max() ?? 0
    let bar = min(24, slot - longest - 3)
    for (index, value) in mix.values.enumerated() {
      line.skip(to: start + slot * index)
      let number = grouped(value.documents)
      let role = Role.value(index)
      guard bar >= 2 else {
        let label = SafeText.truncated(value.value, to: max(1, slot - number.count - 2), ellipsis: glyphs.ellipsis)
        line.add("\(label) \(number)", role)
        continue
      }
      line.add("\(value.value) \(glyphs.bar(value.documents, of: total, width: bar)) \(number)", role)
    }
    return line
  }
}
