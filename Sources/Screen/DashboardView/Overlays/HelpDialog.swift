// SPDX-License-Identifier: Apache-2.0
import Dashboard
import DashboardModel
import TerminalCanvas

/// Draws the help: every available key, in groups, and the meanings of the signs and words on the screen.
struct HelpDialog {
  let list: ListOverlay
  let contexts: [KeyContext]
  let frame: FrameState
  let layout: Layout
  let glyphs: Glyphs

  /// A line of the list: a heading, or a command by its index.
  private enum Row {
    case heading(String)
    case command(Int)
  }

  func draw(on canvas: inout Canvas) {
    if list.showsFirstKeys { return drawFirstPage(on: &canvas) }
    let commands = list.commands(of: contexts, in: frame.state.configuration.keymap)
    let columns = layout.size.width >= 110 ? 2 : 1
    let rows = rows(of: commands)
    let words = layout.size.height >= 30 ? StateWords(columns: columns).lines : []
    let lines = layout.size.height >= 20 ? [explanation(commands)] + words : []
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
    // The words are dropped before the explanation.
    let shown = [lines, Array(lines.prefix(1))].first { !$0.isEmpty && area.maxY - top >= $0.count + 6 } ?? []
    let bottom = area.maxY - (shown.isEmpty ? 0 : shown.count + 1)
    let rest = Rect(x: area.x, y: top, width: area.width, height: bottom - top)
    draw(rows, commands, columns, in: rest, on: &canvas)
    guard !shown.isEmpty else { return }
    dialog.rule(at: bottom, on: &canvas, glyphs)
    for (row, text) in shown.enumerated() {
      canvas.put(text, at: Point(x: area.x, y: bottom + 1 + row), role: .textMuted, maxWidth: area.width)
    }
  }

  // MARK: The first page

  /// Draws the first page: twelve keys in three groups, and the signs of the screen.
  private func drawFirstPage(on canvas: inout Canvas) {
    let legend = SignLegend(glyphs)
    let columns = layout.size.width >= 56 ? 3 : 1
    let keys = FirstKeys(frame.state, glyphs)
    let keyRows = keys.rows(columns: columns)
    let signColumns = layout.size.width >= 110 ? 3 : layout.size.width >= 72 ? 2 : 1
    let dialog = Dialog(
      layout, width: signColumns == 3 ? 114 : 78, rows: 1 + keyRows + 1 + legend.rows(columns: signColumns))
    dialog.draw("Help", "? again: every key \(glyphs.bullet) type to search", on: &canvas, glyphs)
    let area = dialog.content
    guard area.height > 0 else { return }
    if let field = list.field { canvas.put(field, x: area.x, y: area.y, width: area.width) }
    let selectedSign = list.cursor.index >= keys.count ? list.cursor.index - keys.count : nil
    // The signs replace the keys while the cursor is in them, unless there is room for both.
    let hasBoth = area.height >= 1 + keyRows + 1 + Self.fewestSignRows
    var top = area.y + 1
    if hasBoth || selectedSign == nil {
      let shown = min(keyRows, max(0, area.height - 1))
      keys.draw(
        in: Rect(x: area.x, y: top, width: area.width, height: shown), columns: columns,
        selected: list.cursor.index, on: &canvas)
      top += shown
    }
    guard hasBoth || selectedSign != nil, area.maxY - top > 1 else {
      canvas.put(
        "page down: the signs of the screen", at: Point(x: area.x + 2, y: top + 1), role: .textMuted, clip: area)
      return
    }
    dialog.rule(at: top, on: &canvas, glyphs)
    let rows = area.maxY - top - 1
    let pages = (legend.rows(columns: signColumns) + rows - 1) / rows
    if pages > 1 {
      let page = (selectedSign ?? 0) / (rows * signColumns) + 1
      canvas.put(
        " signs, page \(page) of \(pages) ", at: Point(x: area.x + 2, y: top), role: .textMuted, clip: area)
    }
    legend.draw(
      in: Rect(x: area.x + 1, y: top + 1, width: area.width - 1, height: rows),
      columnWidth: (area.width - 1) / signColumns, selected: selectedSign, on: &canvas, glyphs)
  }

  /// The signs are shown next to the keys only if this many rows of signs fit.
  private static let fewestSignRows = 8

  /// The commands under their headings. The result of a search has no headings.
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

  /// The full text of the selected row, because the columns can truncate it.
  private func explanation(_ commands: [Command]) -> String {
    guard commands.indices.contains(list.cursor.index) else { return "" }
    let command = commands[list.cursor.index]
    let reason = command.reason(frame.state).map { " (not now: \($0))" } ?? ""
    return SafeText.truncated(
      "\(command.keyText(glyphs, limit: 9))  \(command.help)\(reason)", to: 74, ellipsis: glyphs.ellipsis)
  }
}

/// Draws the words for the states of the connection and of the data, with their meanings.
struct StateWords {
  let lines: [String]

  init(columns: Int) {
    let all = StateWord.allCases.map { "\($0.text): \($0.meaning)" }
    let count = (all.count + columns - 1) / columns
    lines = (0..<count).map { row in
      stride(from: row, to: all.count, by: count).map { index in
        index + count < all.count ? all[index].padding(to: 56) : all[index]
      }.joined()
    }
  }
}

/// Draws the most important keys in their groups, either in columns or below each other.
struct FirstKeys {
  private struct Row {
    var key: String?
    /// The texts for the key, longest first.
    var texts: [String]
  }

  private let groups: [[Row]]
  /// The count of keys.
  var count: Int { groups.reduce(0) { $0 + $1.count - 1 } }
  private let glyphs: Glyphs

  init(_ state: DashboardState, _ glyphs: Glyphs) {
    self.glyphs = glyphs
    let contexts: [KeyContext] = [.screen, .pane(.collections)]
    groups = Keymap.firstKeys.map { group, keys in
      [Row(texts: [group])]
        + keys.map { key in
          let command = state.configuration.keymap.command(named: key.name, in: contexts)
          return Row(
            key: command?.keyText(glyphs, limit: 1) ?? key.name,
            texts: [command?.help, key.words, key.word].compactMap(\.self))
        }
    }
  }

  func rows(columns: Int) -> Int {
    columns == 1 ? groups.reduce(0) { $0 + $1.count } : groups.map(\.count).max() ?? 0
  }

  /// The row of a key if all keys are in a single column.
  private func place(of key: Int) -> Int {
    var (row, left) = (0, key)
    for group in groups {
      if left < group.count - 1 { return row + 1 + left }
      (row, left) = (row + group.count, left - group.count + 1)
    }
    return row
  }

  /// - Parameter selected: the number of the selected key, counted over all groups; `nil` for none.
  func draw(in area: Rect, columns: Int, selected: Int?, on canvas: inout Canvas) {
    let width = area.width / columns
    var index = 0
    // A single column scrolls to the selected key.
    let hidden = columns > 1 ? 0 : max(0, place(of: selected ?? 0) - area.height + 1)
    var y = area.y - hidden
    for (column, group) in groups.enumerated() {
      if columns > 1 { y = area.y }
      let x = area.x + (columns > 1 ? column * width : 0)
      for row in group {
        defer { y += 1 }
        guard let key = row.key else {
          if area.y..<area.maxY ~= y {
            canvas.put(row.texts[0], at: Point(x: x, y: y), role: .paneTitle, maxWidth: width)
          }
          continue
        }
        defer { index += 1 }
        guard area.y..<area.maxY ~= y else { continue }
        var line = Line(glyphs)
        line.skip(2)
        line.cell(key, .key, width: max(6, SafeText.columns(of: key) + 1))
        let room = width - line.width - 1
        line.add(row.texts.first { SafeText.columns(of: $0) <= room } ?? row.texts.last ?? "")
        canvas.put(line, x: x, y: y, width: width - 1)
        if index == selected { canvas.gutter(x: x, y: y, glyphs: glyphs, isFocused: true) }
      }
    }
  }
}

extension String {
  fileprivate func padding(to width: Int) -> String { self + String(repeating: " ", count: max(1, width - count)) }
}
