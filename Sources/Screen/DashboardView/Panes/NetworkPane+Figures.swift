// SPDX-License-Identifier: Apache-2.0
import ClientPort
import Dashboard
import DashboardModel
import FirestoreClientState
import FirestoreModel
import FirestoreQuery
import TerminalCanvas

/// Latencies, snapshot sizes, outage lengths and listener reads. Each has one line, or several if there is space.
extension NetworkPane {
  private struct Figure {
    let name: String
    let title: String
    let values: Histogram
    /// Formats a number with its unit.
    let text: (Int) -> String
    /// Formats a number without its unit, for the first number of a pair.
    let bare: (Int) -> String
    /// The numbers in the order of their occurrence; empty if their history is not shown.
    var series: [Int] = []
    var rest = ""
  }

  private var figures: [Figure] {
    let series = frame.state.network.roundTrips.map { Int(TimeText.wholeMilliseconds($0)) }
    let trips = Histogram(series)
    let sizes = Histogram(frame.state.listening.sizes)
    let outages = Histogram(frame.state.outages.lengths.map { Int(clamping: $0) })
    let length = { (seconds: Int) in TimeText.elapsed(seconds: Int64(seconds)) }
    return [
      Figure(
        name: "rtt", title: "round trips of writes", values: trips, text: { "\(grouped($0)) ms" },
        bare: { grouped($0) }, series: series),
      Figure(
        name: "docs", title: "documents of a snapshot", values: sizes,
        text: { grouped($0) }, bare: { grouped($0) }, rest: " a snapshot"),
      Figure(
        name: "off", title: "outages", values: outages, text: length, bare: length,
        rest: " of \(outages.count) outage\(outages.count == 1 ? "" : "s")"),
    ].filter { $0.values.count > 0 }
  }

  private func percentiles(_ figure: Figure) -> String {
    "p50 \(figure.bare(figure.values.percentile(50))) p95 \(figure.text(figure.values.percentile(95)))" + figure.rest
  }

  /// - Parameter room: the count of lines for all figures. If there are enough lines, figures are drawn large.
  func figureLines(width: Int, room: Int) -> [Line] {
    let figures = figures.prefix(max(1, room))
    var spare = room - figures.count - (figures.contains { $0.name == "rtt" } ? 0 : 1)
    var lines: [Line] =
      figures.contains { $0.name == "rtt" } ? [] : [fact("rtt", "no write acknowledged yet", .textMuted)]
    for figure in figures {
      let classes = figure.values.classes.count
      if layout.isWide, classes > 1, classes <= spare {
        lines += large(figure, width: width)
        spare -= classes
      } else {
        lines.append(small(figure, width: width))
      }
    }
    return lines
  }

  private func small(_ figure: Figure, width: Int) -> Line {
    var line = row(figure.name, width: width < 44 ? 5 : 7)
    let text = percentiles(figure)
    let room = min(30, width - line.width - SafeText.columns(of: text) - 3)
    let bars = figure.series.isEmpty ? figure.values.classes.map(\.count) : figure.series.suffix(max(0, room))
    if bars.count > 1, bars.count <= room, room > 3 {
      line.add(glyphs.sparkline(bars.map { Double($0) }), .chartLow)
      line.skip(2)
    }
    line.add(text)
    return line
  }

  private func large(_ figure: Figure, width: Int) -> [Line] {
    var head = row(figure.name)
    head.add(figure.title, .textMuted)
    let text = percentiles(figure)
    head.skip(to: width - SafeText.columns(of: text) - 1)
    head.add(text)
    let most = figure.values.classes.map(\.count).max() ?? 1
    let room = width - 26
    return [head]
      + figure.values.classes.map { part in
        var line = Line(glyphs)
        line.skip(8)
        line.cell("\(glyphs.atMost)\(figure.text(part.limit))", .textMuted, width: 10, right: true)
        line.skip(1)
        line.add(glyphs.bar(part.count, of: most, width: room), .chartLow)
        let share = "\(part.count * 100 / max(1, figure.values.count)) %"
        line.skip(to: width - share.count - 1)
        line.add(share, .textMuted)
        return line
      }
  }

  // MARK: Reads

  /// The documents that each listener read from the server, and the reads that the cache saved.
  /// - Parameter limit: the count of lines. If listeners are omitted, one line shows their count.
  func readLines(width: Int, limit: Int) -> [Line] {
    let meters = Dictionary(frame.state.network.reads.map { ($0.target, $0) }, uniquingKeysWith: { first, _ in first })
    let listeners = frame.state.listeners.compactMap { listener in
      meters[listener.query.target].map { (name: listener.name, tag: listener.tag, meter: $0) }
    }
    guard limit > 0, !listeners.isEmpty else { return [] }
    let shown = listeners.count > limit ? listeners.prefix(limit - 1) : listeners[...]
    let nameWidth = min(max(10, width / 3), (listeners.map { SafeText.columns(of: $0.name) }.max() ?? 0) + 2)
    let most = listeners.map { $0.meter.sent + $0.meter.kept }.max() ?? 1
    let keeps = listeners.contains { $0.meter.kept > 0 }
    var lines = shown.enumerated().map { index, listener in
      var line = row(index == 0 ? "reads" : "", width: width < 44 ? 6 : 7)
      line.cell(
        PathText.fitted(listener.name, to: nameWidth - 1, glyphs.ellipsis), .listener(listener.tag.rawValue - 1),
        width: nameWidth)
      line.add("\(grouped(listener.meter.sent)) sent")
      if listener.meter.kept > 0 { line.add(", \(grouped(listener.meter.kept)) from the cache", .textMuted) }
      let start = 8 + nameWidth + (keeps ? 34 : 14)
      if layout.isWide, line.width < start, start + 10 <= width {
        line.skip(to: start)
        line.add(glyphs.bar(listener.meter.sent, of: most, width: width - start - 1), .chartLow)
      }
      return line
    }
    if shown.count < listeners.count {
      let rest = listeners[shown.count...]
      lines.append(
        fact(
          shown.isEmpty ? "reads" : "",
          "\(grouped(rest.reduce(0) { $0 + $1.meter.sent })) sent to \(rest.count) \(shown.isEmpty ? "" : "more ")listeners",
          .textMuted))
    }
    return lines
  }
}

/// The events of all listeners in the last minute, shown in free rows of pane 3 on a wide screen.
extension NetworkPane {
  private static let fewestRows = 4
  private static let mostRows = 5

  /// A graph of the events by second; empty if there is no space or if there are no events.
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
    head.add("events in the last minute ", .textMuted)
    let text = " at most \(grouped(most)) a second"
    head.add(String(repeating: glyphs.horizontal, count: max(0, width - head.width - text.count - 1)), .border)
    head.add(text, .textMuted)
    let rows = min(room - 1, Self.mostRows)
    let top = rows * glyphs.sparkline.count - 1
    // The scale doubles, so that one more second rarely moves the others.
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
