// SPDX-License-Identifier: Apache-2.0
import Dashboard
import DashboardModel
import TerminalCanvas

/// The help: every available key, in groups, and the meanings of the signs and words on screen.
struct HelpDialog {
  let list: ListOverlay
  let contexts: [KeyContext]
  let frame: FrameState
  let layout: Layout
  let glyphs: Glyphs

  /// A line of the list: a heading, or the command of an index.
  private enum Row {
    case heading(String)
    case command(Int)
  }

  func draw(on canvas: inout Canvas) {
    let commands = list.commands(of: contexts, in: frame.state.configuration.keymap)
    let columns = layout.size.width >= 110 ? 2 : 1
    let rows = rows(of: commands)
    let legend = HelpLegend(glyphs)
    let signs = layout.size.height >= 20 ? [explanation(commands)] + legend.signs : []
    let lines = signs.isEmpty || layout.size.height < 30 ? signs : signs + legend.words(columns: columns)
    let listRows = max(1, (rows.count + columns - 1) / columns)
    let dialog = Dialog(
      layout, width: columns == 2 ? 114 : 78, rows: 2 + listRows + (lines.isEmpty ? 0 : lines.count + 1))
    let place = contexts.first?.title ?? ""
    dialog.draw("Help \(glyphs.bullet) \(place)", "type to search: keys or words", on: &canvas, glyphs)
    let area = dialog.content
    guard area.height > 0 else { return }
    if let field = list.field { canvas.put(field, x: area.x, y: area.y, width: max(1, area.width - 14)) }
    let count = "\(commands.count) key\(commands.count == 1 ? "" : "s")"
    canvas.put(count, at: Point(x: area.maxX - count.count, y: area.y), role: .textMuted, clip: area)
    if area.height > 3 { dialog.rule(at: area.y + 1, on: &canvas, glyphs) }
    let top = area.y + (area.height > 3 ? 2 : 1)
    // The words are dropped before the signs.
    let shown = [lines, signs].first { !$0.isEmpty && area.maxY - top >= $0.count + 6 } ?? []
    let bottom = area.maxY - (shown.isEmpty ? 0 : shown.count + 1)
    let rest = Rect(x: area.x, y: top, width: area.width, height: bottom - top)
    draw(rows, commands, columns, in: rest, on: &canvas)
    guard !shown.isEmpty else { return }
    dialog.rule(at: bottom, on: &canvas, glyphs)
    for (row, text) in shown.enumerated() {
      canvas.put(text, at: Point(x: area.x, y: bottom + 1 + row), role: .textMuted, maxWidth: area.width)
    }
  }

  /// The commands under their headings; a search has no headings.
  private func rows(of commands: [Command]) -> [Row] {
    guard list.field?.isEmpty != false else { return commands.indices.map { .command($0) } }
    var rows: [Row] = []
    var heading: String?
    for (index, command) in commands.enumerated() {
      let group = command.context == .screen ? Keymap.group(of: command.name) : command.context.title
      if group != heading { rows.append(.heading(group)) }
      heading = group
      rows.append(.command(index))
    }
    return rows
  }

  private func draw(_ rows: [Row], _ commands: [Command], _ columns: Int, in area: Rect, on canvas: inout Canvas) {
    guard !area.isEmpty else { return }
    if commands.isEmpty {
      canvas.put("no key does that", at: area.origin, role: .textMuted, clip: area)
      return
    }
    let width = area.width / columns
    let page = area.height * columns
    let selected = rows.firstIndex { if case .command(list.cursor.index) = $0 { true } else { false } } ?? 0
    let start = max(0, min(selected - page / 2, rows.count - page))
    for (offset, row) in rows[start..<min(rows.count, start + page)].enumerated() {
      let point = Point(x: area.x + offset / area.height * width, y: area.y + offset % area.height)
      switch row {
      case .heading(let title): canvas.put(title, at: point, role: .paneTitle, maxWidth: width - 1)
      case .command(let index):
        canvas.put(line(commands[index], width: width - 1), x: point.x, y: point.y, width: width - 1)
        canvas.mark(hitsOf: list.search, in: Rect(x: point.x + 2, y: point.y, width: width - 3, height: 1))
        if index == list.cursor.index { canvas.gutter(x: point.x, y: point.y, glyphs: glyphs, isFocused: true) }
      }
    }
  }

  private func line(_ command: Command, width: Int) -> Line {
    let reason = command.reason(frame.state)
    var line = Line(glyphs)
    line.skip(2)
    line.cell(command.keyText(glyphs, limit: 2), reason == nil ? .key : .textMuted, width: width < 40 ? 9 : 14)
    line.skip(1)
    line.add(command.help, reason == nil ? .text : .textMuted)
    if let reason { line.add(" \(glyphs.dash) \(reason)", .hint) }
    return line
  }

  /// The selected row in full, because columns can truncate it.
  private func explanation(_ commands: [Command]) -> String {
    guard commands.indices.contains(list.cursor.index) else { return "" }
    let command = commands[list.cursor.index]
    let reason = command.reason(frame.state).map { " (not now: \($0))" } ?? ""
    return SafeText.truncated(
      "\(command.keyText(glyphs, limit: 9))  \(command.help)\(reason)", to: 74, ellipsis: glyphs.ellipsis)
  }
}

/// The meanings of the signs and words on screen.
struct HelpLegend {
  private let glyphs: Glyphs

  init(_ glyphs: Glyphs) { self.glyphs = glyphs }

  var signs: [String] {
    let gap = "  "
    return [
      ["+ added", "~ modified", "- removed", "= in sync", "! failed", "#42 by batch 42"].joined(separator: gap),
      ["LOCAL L you, at once", "SERVER S confirmed", "c from cache", "p pending writes"].joined(separator: gap),
      [
        "\(glyphs.listening) live", "\(glyphs.listeningInPart) in part", "\(glyphs.listeningFromCache) from the cache",
        "\(glyphs.pending)3 pending", "!1 rejected",
      ].joined(separator: gap),
    ]
  }

  /// The words for the state of the connection and of the data.
  func words(columns: Int) -> [String] {
    let all = StateWord.allCases.map { "\($0.text): \($0.meaning)" }
    let count = (all.count + columns - 1) / columns
    return (0..<count).map { row in
      stride(from: row, to: all.count, by: count).map { index in
        index + count < all.count ? all[index].padding(to: 56) : all[index]
      }.joined()
    }
  }
}

extension String {
  fileprivate func padding(to width: Int) -> String { self + String(repeating: " ", count: max(1, width - count)) }
}
