// SPDX-License-Identifier: Apache-2.0
import Dashboard
import DashboardModel
import FirestoreModel
import TerminalCanvas

/// Draws an overview of the selected collection in place of a document: its fields, and their values in the loaded
/// documents.
struct CollectionOverview {
  let path: ResourcePath
  let summary: CollectionSummary
  let frame: FrameState
  let glyphs: Glyphs

  private static let countWidth = 5
  private static let typeWidth = 10
  private static let longestName = 16

  /// - Returns: `nil` unless a collection with loaded documents is selected.
  init?(_ frame: FrameState, _ glyphs: Glyphs) {
    let state = frame.state
    guard state.browser.result == nil, let path = state.selectedCollection,
      let documents = state.browser.windows[path]?.loaded, !documents.isEmpty
    else { return nil }
    self.path = path
    self.frame = frame
    self.glyphs = glyphs
    summary = CollectionSummary(documents, state.interest(in: path))
  }

  /// - Returns: the row below the last drawn row.
  func draw(in area: Rect, on canvas: inout Canvas) -> Int {
    var head = Line(glyphs)
    head.skip(1)
    head.add(PathText.fitted(path.text, to: max(8, area.width / 2), glyphs.ellipsis), .textStrong)
    head.add("  the fields of ", .textMuted)
    head.add("\(grouped(summary.documents)) loaded document\(summary.documents == 1 ? "" : "s")", .textMuted)
    var lines = [head, Line(glyphs)]
    let name = min(Self.longestName, summary.fields.map { SafeText.columns(of: $0.name) }.max() ?? 0) + 1
    for field in summary.fields { lines += self.lines(of: field, name: name, width: area.width) }
    for (row, line) in lines.prefix(area.height).enumerated() {
      canvas.put(line, x: area.x, y: area.y + row, width: area.width)
    }
    return area.y + min(area.height, lines.count)
  }

  private func lines(of field: CollectionSummary.Field, name: Int, width: Int) -> [Line] {
    var line = Line(glyphs)
    line.skip(1)
    line.cell(field.name, .jsonKey, width: name)
    line.cell(field.type, .textMuted, width: Self.typeWidth)
    line.cell(grouped(field.documents), .paneCount, width: Self.countWidth, right: true)
    line.skip(2)
    guard case .frequent(let values, let others) = field.values else {
      line.add(text(of: field.values), .text)
      return [line]
    }
    let start = line.width
    let most = values.first?.documents ?? 1
    let label = min(12, values.map { SafeText.columns(of: ColumnText.text(of: $0.value)) }.max() ?? 0)
    let bar = max(0, width - start - label - 9)
    var lines = values.enumerated().map { index, value in
      var line = index == 0 ? line : Line(glyphs)
      line.skip(to: start)
      let hue = frame.state.browser.columns[path]?.hue(of: value.value, in: field.name)
      let role = hue.map(Role.value) ?? Role.text
      line.cell(ColumnText.text(of: value.value), role, width: label)
      line.skip(1)
      line.add(glyphs.bar(value.documents, of: most, width: bar), .chartLow)
      line.add(" \(grouped(value.documents))", .textMuted)
      return line
    }
    if others > 0 {
      var line = Line(glyphs)
      line.skip(to: start)
      line.add("\(grouped(others)) with other values", .textMuted)
      lines.append(line)
    }
    return lines
  }

  private func text(of values: CollectionSummary.Values) -> String {
    switch values {
    case .frequent: ""
    case .numbers(let least, let median, let most):
      least == most
        ? Self.number(least)
        : "\(Self.number(least)) to \(Self.number(most)), median \(Self.number(median))"
    case .times(let first, let last):
      first == last ? time(first) : "\(time(first)) to \(time(last))"
    case .lengths(let least, let most):
      (least == most ? "\(most)" : "\(least) to \(most)") + " element\(most == 1 ? "" : "s")"
    case .names(let names): names.joined(separator: ", ")
    case .examples(let values): values.map(ValueText.short).joined(separator: ", ")
    }
  }

  private static func number(_ number: Double) -> String {
    let whole = Int64(exactly: number).map { grouped(Int($0)) }
    return whole ?? ValueText.short(.double(number))
  }

  /// The time of day. If it is on another day, the date precedes it.
  private func time(_ time: Timestamp) -> String {
    let offset = frame.state.configuration.utcOffset
    let clock = TimeText.clock(time, offset: offset)
    return TimeText.isSameDay(time, frame.state.now, offset: offset)
      ? clock : "\(TimeText.date(time).prefix(10)) \(clock)"
  }
}
