// SPDX-License-Identifier: Apache-2.0
import Dashboard
import DashboardModel
import FirestoreClientState
import FirestoreModel
import TerminalCanvas

/// Draws the second list of pane 4: requests with the decisions of the security rules, newest at the bottom.
struct RequestsPane {
  let frame: FrameState
  let layout: Layout
  let glyphs: Glyphs

  private struct Columns {
    var time: Int
    var precision: TimeText.Precision
    var user: Int
    var path: Int
    /// The columns of the rules' line number and of the evaluation time.
    var line: Int
    var duration: Int
  }

  func draw(on canvas: inout Canvas) {
    let area = frame.state.geometry(of: .feed, layout).rows
    guard !area.isEmpty else { return }
    if let note = frame.state.requestsNote {
      var line = Line(glyphs)
      line.skip(2)
      line.add(note, frame.state.requests.failure == nil ? .textMuted : .error)
      canvas.put(line, x: area.x, y: area.y, width: area.width)
      return
    }
    let shown = frame.state.requests.shown
    let range = frame.state.requests.cursor.rows(count: shown.count, height: area.height)
    let columns = columns(for: shown[range], width: area.width)
    for (offset, index) in range.enumerated() {
      let row = Rect(x: area.x, y: area.y + offset, width: area.width, height: 1)
      canvas.put(line(of: shown[index], columns), x: row.x, y: row.y, width: row.width)
      if shown[index].number == frame.state.requests.selected?.number {
        let isFocused = frame.state.focus == .feed
        if frame.state.requests.isFollowing {
          canvas.gutter(x: row.x, y: row.y, glyphs: glyphs, isFocused: isFocused)
        } else {
          canvas.select(row, frame.state, isFocused: isFocused)
        }
      }
      canvas.mark(
        hitsOf: frame.state.requests.filter, in: Rect(x: row.x + 1, y: row.y, width: row.width - 1, height: 1))
    }
  }

  private func columns(for rows: ArraySlice<RuleDecision>, width: Int) -> Columns {
    let most = max(6, width / 4)
    func widest(_ text: (RuleDecision) -> String) -> Int { rows.map { SafeText.columns(of: text($0)) }.max() ?? 0 }
    return Columns(
      time: width >= 100 ? 12 : width >= 56 ? 9 : 0, precision: width >= 100 ? .hours : .minutes,
      user: min(most, widest(\.userText)), path: min(most, widest(\.pathText)),
      line: min(6, widest { $0.line.map { "L\($0)" } ?? "" }),
      duration: width >= 72 ? min(10, widest { $0.timeText ?? "" }) : 0)
  }

  private func line(of decision: RuleDecision, _ columns: Columns) -> Line {
    var line = Line(glyphs)
    line.skip(2)
    if columns.time > 0 {
      let time = TimeText.milliseconds(
        decision.time, offset: frame.state.configuration.utcOffset, from: columns.precision)
      line.cell(time, .textMuted, width: columns.time)
      line.skip(2)
    }
    line.cell(decision.verdictText, decision.isAllowed ? .text : .error, width: 5)
    line.skip(1)
    line.cell(decision.userText, width: columns.user)
    line.skip(2)
    line.cell(decision.method, width: 7)
    line.cell(PathText.fitted(decision.pathText, to: columns.path, glyphs.ellipsis), .textStrong, width: columns.path)
    line.skip(2)
    line.cell(decision.line.map { "L\($0)" } ?? "", width: columns.line)
    if columns.duration > 0 {
      line.skip(1)
      line.cell(decision.timeText ?? "", .textMuted, width: columns.duration, right: true)
    }
    if !decision.reason.isEmpty { line.add("  \(decision.reason)", .textMuted) }
    return line
  }

  // MARK: Title

  static let title = " \(Pane.feed.rawValue) Requests "

  /// The status of the list and its filters: `▶ follow` or `❙❙ held +3 new`.
  static func status(_ state: DashboardState, _ glyphs: Glyphs) -> Line {
    var line = Line(glyphs)
    guard state.requestsNote == nil || state.requests.isFiltered else { return line }
    let requests = state.requests
    if requests.isFollowing {
      line.add("\(glyphs.follow) follow", .paneCount)
    } else {
      line.add(
        "\(glyphs.paused) paused" + (requests.newCount > 0 ? " +\(grouped(requests.newCount))" : ""), .headerPaused)
    }
    if requests.isDeniedOnly { line.add(" \(glyphs.bullet) only denied", .paneCount) }
    if let user = requests.onlyUser { line.add(" \(glyphs.bullet) only \(user ?? "nobody")", .paneCount) }
    if !requests.filter.isEmpty {
      let text = SafeText.truncated(requests.filter.text, to: 24, ellipsis: glyphs.ellipsis)
      line.add(" \(glyphs.bullet) /\(text)", .match)
    }
    return line
  }

  /// The counts of known requests and of denied ones.
  static func count(_ state: DashboardState) -> String {
    guard state.reasonAgainstRequests == nil, let all = state.requests.all, !all.isEmpty else { return "" }
    return "\(grouped(all.count)), \(grouped(state.requests.denied)) denied"
  }
}

/// Draws all details of one request: the decision, and each evaluated statement of the rules with its values.
struct RequestDialog {
  let list: ListOverlay
  let decision: RuleDecision
  let geometry: ListGeometry
  let frame: FrameState
  let glyphs: Glyphs

  func draw(on canvas: inout Canvas) {
    let clock = TimeText.milliseconds(decision.time, offset: frame.state.configuration.utcOffset, from: .hours)
    let note = [clock, decision.timeText].compactMap(\.self).joined(separator: " \(glyphs.bullet) ")
    geometry.dialog.draw("Request", note, on: &canvas, glyphs)
    let rows = decision.lines(width: geometry.rows.width, glyphs)
    canvas.rows(of: list.cursor, count: rows.count, in: geometry.rows, frame.state) { index in
      var line = Line(glyphs)
      line.skip(1 + rows[index].indent)
      line.add(rows[index].text, role(of: rows[index]))
      return line
    }
  }

  private func role(of line: RuleDecision.SummaryRow) -> Role {
    switch line.kind {
    case .text: .text
    case .rule: .textStrong
    case .note: .textMuted
    case .failure: .error
    }
  }
}
