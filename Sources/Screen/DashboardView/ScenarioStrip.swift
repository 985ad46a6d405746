// SPDX-License-Identifier: Apache-2.0
package import Dashboard
package import DashboardModel
package import TerminalCanvas

/// Draws the rows above the clients of a scenario: its summary and progress, and the steps before and after the current
/// step.
package struct ScenarioStrip {
  private let play: ScenarioPlay
  private let glyphs: Glyphs
  /// The key for the next step, if steps wait for a key.
  private let nextKey: String
  private let leaveKey: String

  package init(_ play: ScenarioPlay, _ keymap: Keymap, _ glyphs: Glyphs) {
    (self.play, self.glyphs) = (play, glyphs)
    func key(_ name: String, _ context: KeyContext) -> String {
      let command = keymap.command(named: name, in: [context])
      return command?.keys.first.map { Command.text(of: $0, glyphs) } ?? ":\(name)"
    }
    nextKey = key(play.isStepped ? "scenario-play" : "scenario-next", .scenario)
    leaveKey = key("quit", .screen)
  }

  package func draw(on canvas: inout Canvas, _ area: Rect) {
    guard !area.isEmpty else { return }
    canvas.fill(Rect(x: area.x, y: area.y, width: area.width, height: 1), role: .header)
    if area.height == 1 {
      canvas.put(single(area.width), x: area.x, y: area.y, width: area.width)
      return
    }
    if area.height == 2, let lines = opening(area.width) {
      for (row, line) in lines.enumerated() { canvas.put(line, x: area.x, y: area.y + row, width: area.width) }
      return
    }
    let (title, more) = title(area.width, rows: area.height - 1)
    canvas.put(title, x: area.x, y: area.y, width: area.width)
    for (row, text) in more.enumerated() {
      canvas.put(" " + text, at: Point(x: area.x, y: area.y + 1 + row), role: .text, maxWidth: area.width)
    }
    let rest = area.height - 1 - more.count
    let last = closing(area.width, rows: rest)
    let count = rest - last.count
    for (row, index) in shownSteps(count).enumerated() {
      canvas.put(line(of: index), x: area.x, y: area.y + 1 + more.count + row, width: area.width)
    }
    for (row, line) in last.enumerated() {
      canvas.put(line, x: area.x, y: area.maxY - last.count + row, width: area.width)
    }
  }

  // MARK: The first row

  /// The scenario's name, its summary and the figures. The summary is never truncated: it replaces figures, and it
  /// continues in the rows below.
  /// - Parameter rows: the count of rows below. One of them remains for a step.
  private func title(_ width: Int, rows: Int) -> (Line, more: [String]) {
    var line = Line(glyphs)
    line.add(" \(play.name)  ", .header, .bold)
    let start = line.width
    let needed = SafeText.columns(of: play.summary) + 1
    let all = (0...2).reversed().map { figures(width, most: $0) }
    let shown = all.first { width - start - $0.width >= needed } ?? all[all.count - 1]
    let room = width - shown.width - start - 1
    var parts = room < 12 ? [] : WrappedText.lines(play.summary, width: room, glyphs.ellipsis)
    var more: [String] = []
    if parts.count > 1 {
      let rest = parts.dropFirst().joined(separator: " ")
      more = Array(WrappedText.lines(rest, width: width - 2, glyphs.ellipsis).prefix(max(0, rows - 1)))
      if more.isEmpty { parts = [SafeText.truncated(play.summary, to: room, ellipsis: glyphs.ellipsis)] }
    }
    line.add(parts.first ?? "", .header)
    line.skip(to: width - shown.width)
    line.add(shown)
    return (line, more)
  }

  /// The whole sentence in the two rows of a small screen, which later show the steps. The clients keep their
  /// rows.
  /// - Returns: `nil` after the first step, and for a sentence that fits into the first row or needs a third one.
  private func opening(_ width: Int) -> [Line]? {
    guard play.doneCount == 0, play.ending == nil, play.notice.isEmpty else { return nil }
    var first = Line(glyphs)
    first.add(" \(play.name)  ", .header, .bold)
    let room = width - first.width - 1
    guard room >= 12, SafeText.columns(of: play.summary) > room - figures(width, most: 0).width else { return nil }
    let parts = WrappedText.lines(play.summary, width: room, glyphs.ellipsis)
    guard let start = parts.first else { return nil }
    first.add(start, .header)
    let rest = parts.dropFirst().joined(separator: " ")
    guard SafeText.columns(of: rest) <= width - 2 else { return nil }
    var second = Line(glyphs)
    second.add(" " + rest)
    let figures = [figures(width, most: 0), countOfSteps].first { second.width + $0.width < width }
    if let figures {
      second.skip(to: width - figures.width)
      second.add(figures)
    }
    return [first, second]
  }

  private var countOfSteps: Line {
    var line = Line(glyphs)
    line.add("\(play.doneCount)/\(play.steps.count) ", .textMuted)
    return line
  }

  /// The count of finished steps, the simulated time, and the pace, if they fit.
  /// - Parameter most: 2 for all figures, 1 without the bar and the pace, 0 for only the count and the state.
  private func figures(_ width: Int, most: Int) -> Line {
    var line = Line(glyphs)
    let count = "\(play.doneCount)/\(play.steps.count)"
    if width >= 72, most == 2, !play.steps.isEmpty {
      let columns = width >= 150 ? 16 : 8
      let full = play.doneCount * columns / play.steps.count
      line.add(String(repeating: glyphs.barFull, count: full), .header)
      line.add(String(repeating: glyphs.bullet, count: columns - full) + " ", .header)
    }
    line.add("\(width >= 72 && most > 0 ? "step " : "")\(count) ", .header)
    if width >= 50, most > 0 { line.add(" \(play.timeText) ", .header) }
    switch play.ending {
    case .passed?: line.add(" \(glyphs.check) passed ", .stateOnline)
    case .failed?: line.add(" \(glyphs.cross) failed ", .headerOffline)
    case nil where play.isStepped: line.add(" \(nextKey) runs a step ", .headerPaused)
    case nil where !play.isPlaying: line.add(" stopped ", .headerPaused)
    case nil: if width >= 72, most == 2 { line.add(" a step every \(play.paceText) ", .header) }
    }
    return line
  }

  /// The current step or the end of the scenario, in a single row.
  private func single(_ width: Int) -> Line {
    var line = Line(glyphs)
    line.add(" \(play.doneCount)/\(play.steps.count) ", .header, .bold)
    switch play.ending {
    case .passed?: line.add("\(glyphs.check) passed: \(play.name)", .header)
    case .failed(let reason)?: line.add("\(glyphs.cross) failed: \(reason)", .headerOffline)
    case nil:
      guard play.steps.indices.contains(play.doneCount) else { break }
      line.add("\(glyphs.folded) \(play.steps[play.doneCount].text)", .header)
    }
    return line
  }

  // MARK: Steps

  /// The indices of the steps that are shown: the last finished steps, the current step, and the next steps.
  private func shownSteps(_ count: Int) -> Range<Int> {
    guard count > 0 else { return 0..<0 }
    let before = count == 1 ? 0 : (count - 1) / 2
    let isOver = play.ending == .passed
    let present = isOver ? play.steps.count - 1 : min(play.doneCount, play.steps.count - 1)
    let start = max(0, min(isOver ? present - count + 1 : present - before, play.steps.count - count))
    return start..<min(play.steps.count, start + count)
  }

  private func line(of index: Int) -> Line {
    let step = play.steps[index]
    let mark = play.mark(of: index)
    let (sign, signRole, role): (String, Role, Role) =
      switch mark {
      case .done: (glyphs.check, .writeAcked, .textMuted)
      case .now: (glyphs.folded, .key, .text)
      case .failed: (glyphs.cross, .writeRejected, .text)
      case .toCome: (glyphs.bullet, .textMuted, .textMuted)
      }
    var line = Line(glyphs)
    line.add(" \(sign) ", signRole)
    let number = "\(step.line)"
    line.skip(4 - number.count)
    line.add(number + "  ", .textMuted)
    line.add(step.text, role, mark == .now ? .bold : [])
    return line
  }

  /// The last rows of the strip: the failure, the result, a message about the file, or the caption.
  private func closing(_ width: Int, rows: Int) -> [Line] {
    var lines: [Line] = []
    func add(_ text: String, _ role: Role) {
      var line = Line(glyphs)
      line.add(" " + text, role)
      lines.append(line)
    }
    switch play.ending {
    case .failed(let reason)?:
      let end = "\(leaveKey) leaves"
      let room = max(1, width - 2)
      let text = "\(glyphs.cross) \(reason)"
      if rows >= 3, SafeText.columns(of: text) > room {
        for part in WrappedText.lines(text, width: room, glyphs.ellipsis).prefix(min(3, rows - 1)) { add(part, .warn) }
      } else {
        add(text, .warn)
      }
      if rows >= 4 { add("\(end); the clients keep their state", .textMuted) }
    case .passed?:
      if rows >= 2 {
        add(
          "\(glyphs.check) all \(play.steps.count) steps passed; \(leaveKey) leaves, the clients stay open",
          .writeAcked)
      }
    case nil:
      if !play.notice.isEmpty { break }
      if !play.caption.isEmpty, rows >= 2 {
        add("\u{201C}\(play.caption)\u{201D}", .hint)
      } else if rows >= 7 {
        add(play.place, .textMuted)
      }
    }
    if !play.notice.isEmpty, rows >= 1, lines.count < rows { add(play.notice, .warn) }
    return Array(lines.prefix(rows))
  }
}
