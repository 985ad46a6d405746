// SPDX-License-Identifier: Apache-2.0
import ClientPort
import Dashboard
import DashboardModel
import FirestoreClientState
import FirestoreModel
import FirestoreQuery
import TerminalCanvas

/// Draws the listener editor: a form, whether the listener is valid, and the equivalent Swift code.
struct ListenerDialog {
  let editor: ListenerEditor
  let frame: FrameState
  let layout: Layout
  let glyphs: Glyphs

  private static let labels = 12

  private struct Row {
    var label = ""
    var slots: [ListenerEditor.Slot]
  }

  func draw(on canvas: inout Canvas) {
    let result: Result<Query, ListenerEditorError>
    do throws(ListenerEditorError) {
      result = .success(try editor.query(in: frame.state.configuration.database))
    } catch { result = .failure(error) }
    let isTiny = layout.layoutClass == .tiny
    var code: [Line] = []
    if case .success(let query) = result, !isTiny {
      code = SwiftCode.lines(for: query).map { text($0, .textMuted) } + indexLines(of: query)
    }
    let rows = self.rows
    let dialog = Dialog(
      layout, width: min(96, layout.size.width - 4), rows: rows.count + 1 + (isTiny ? 0 : max(3, code.count + 1)))
    var (note, role) = ("valid \(glyphs.bullet) \(editor.countText ?? "counting\(glyphs.ellipsis)")", Role.ok)
    if case .failure = result { (note, role) = ("not a listener yet", .warn) }
    dialog.draw("Listener \(glyphs.bullet) \(subject)", note, noteRole: role, on: &canvas, glyphs)
    let area = dialog.content
    guard area.height > 0 else { return }
    // The reason is the last line that a small screen drops.
    let below = min(area.height - 1, isTiny || layout.layoutClass == .small ? 1 : max(2, code.count + 1))
    let formHeight = max(1, min(rows.count, area.height - max(0, below)))
    let focused = rows.firstIndex { $0.slots.contains(editor.slot) } ?? 0
    let first = max(0, min(focused - formHeight / 2, rows.count - formHeight))
    for (offset, row) in rows[first..<min(rows.count, first + formHeight)].enumerated() {
      draw(row, at: area.y + offset, in: area, on: &canvas)
    }
    drawResult(result, code, from: area.y + formHeight, in: area, on: &canvas)
  }

  /// The title: editing an existing listener, or a new one.
  private var subject: String {
    let replaced = frame.state.listeners.first { $0.tag == editor.replaced }
    return replaced.map { "edit \($0.name)" } ?? "new"
  }

  private func text(_ text: String, _ role: Role) -> Line {
    var line = Line(glyphs)
    line.add(text, role)
    return line
  }

  /// The maximum count of documents for which a scan without an index is fast.
  private static let fewDocuments = 100

  /// The indexes that are missing for the query: the server's index, and the cache's index if the query is noticeably
  /// slow without it.
  private func indexLines(of query: Query) -> [Line] {
    var lines: [Line] = []
    if let index = CompositeIndex.needed(for: query) {
      let isCloud = frame.state.configuration.backend.kind == .cloud
      let mark = isCloud ? "! Cloud Firestore needs an index" : "Cloud Firestore would need an index"
      lines.append(text("\(mark): \(index)", isCloud ? .warn : .textMuted))
    }
    guard case .success(let preview)? = editor.preview, preview.documentsToScan >= Self.fewDocuments,
      let index = preview.suggestedIndexes.first
    else { return lines }
    var line = text("! ", .warn)
    line.add("ctrl-g", .key)
    line.add(" makes the local index \(index): the cache looks at ", .warn)
    line.add("\(grouped(preview.documentsToScan)) documents", .warn)
    return lines + [line]
  }

  private var rows: [Row] {
    var rows = [Row(label: "name", slots: [.name]), Row(label: "from", slots: [.from, .group])]
    for index in editor.clauses.indices {
      rows.append(Row(label: index == 0 ? "where" : "", slots: [.path(index), .op(index), .value(index)]))
    }
    rows.append(Row(label: "order by", slots: [.order]))
    rows.append(Row(label: "limit", slots: [.limit]))
    rows.append(Row(label: "source", slots: [.source]))
    rows.append(Row(label: "metadata", slots: [.metadata]))
    return rows
  }

  // MARK: Rows

  private func draw(_ row: Row, at y: Int, in area: Rect, on canvas: inout Canvas) {
    let isFocused = row.slots.contains(editor.slot)
    if isFocused { canvas.gutter(x: area.x, y: y, glyphs: glyphs, isFocused: true) }
    let labels = min(Self.labels, area.width / 3)
    canvas.put(row.label, at: Point(x: area.x + 2, y: y), role: .textMuted, maxWidth: labels - 3, clip: area)
    let x = area.x + labels
    let width = area.maxX - x
    switch row.slots[0] {
    case .from:
      let option = width >= 44 ? 24 : min(9, width / 2)
      field(editor.from, .from, "a collection or document", x: x, y: y, width: width - option - 1, on: &canvas)
      let text = check(editor.isGroup) + (width >= 44 ? " collection group" : " group")
      canvas.put(text, at: Point(x: area.maxX - option, y: y), role: role(of: .group), maxWidth: option)
    case .path(let index):
      drawClause(index, x: x, y: y, width: width, on: &canvas)
    case .name: field(editor.name, .name, "made from the query", x: x, y: y, width: width, on: &canvas)
    case .order:
      field(
        editor.order, .order, "fields in order of priority: name, or name desc", x: x, y: y, width: width, on: &canvas)
    case .limit: field(editor.limit, .limit, "none", x: x, y: y, width: min(width, 12), on: &canvas)
    case .source:
      let isCache = editor.source == .cache
      let text = radio(!isCache) + " default   " + radio(isCache) + " cache only"
      canvas.put(text, at: Point(x: x, y: y), role: role(of: .source), maxWidth: width)
    case .metadata:
      let text = check(editor.includesMetadata) + " include metadata changes"
      canvas.put(text, at: Point(x: x, y: y), role: role(of: .metadata), maxWidth: width)
    case .group, .op, .value: break
    }
  }

  private func drawClause(_ index: Int, x: Int, y: Int, width: Int, on canvas: inout Canvas) {
    let clause = editor.clauses[index]
    if clause.isWhole, editor.slot != .op(index), editor.slot != .value(index) {
      return field(clause.path, .path(index), "", x: x, y: y, width: width, on: &canvas)
    }
    let isLast = index == editor.clauses.count - 1
    let path = max(6, width * 35 / 100)
    let op = max(3, min(19, width * 20 / 100))
    field(
      clause.path, .path(index), isLast ? "field" : "", x: x, y: y, width: path - 1, on: &canvas)
    if !(isLast && clause.isEmpty) || editor.slot == .op(index) {
      canvas.put(
        SafeText.truncated(clause.op.rawValue, to: op - 1, ellipsis: glyphs.ellipsis), at: Point(x: x + path, y: y),
        role: role(of: .op(index)), maxWidth: op - 1)
    }
    field(
      clause.value, .value(index), isLast ? "value, or paid or total > 5" : "", x: x + path + op, y: y,
      width: width - path - op, on: &canvas)
  }

  private func field(
    _ field: TextField, _ slot: ListenerEditor.Slot, _ ghost: String, x: Int, y: Int, width: Int,
    on canvas: inout Canvas
  ) {
    guard width > 0 else { return }
    let isFocused = slot == editor.slot
    canvas.put(field, x: x, y: y, width: width, role: isFocused ? .input : .text, isFocused: isFocused)
    guard field.isEmpty else { return }
    canvas.put(ghost, at: Point(x: x, y: y), role: .inputGhost, maxWidth: width)
  }

  private func role(of slot: ListenerEditor.Slot) -> Role { slot == editor.slot ? .selection : .text }
  private func check(_ isOn: Bool) -> String { isOn ? "[x]" : "[ ]" }
  private func radio(_ isOn: Bool) -> String { isOn ? "(x)" : "( )" }

  private func drawResult(
    _ result: Result<Query, ListenerEditorError>, _ code: [Line], from y: Int, in area: Rect, on canvas: inout Canvas
  ) {
    guard y < area.maxY else { return }
    switch result {
    case .failure(let error):
      let first = area.maxY - y > 1 ? y + 1 : y
      let text = "! \(error.reason)"
      let lines =
        area.maxY - first > 1
        ? WrappedText.lines(text, width: area.width, glyphs.ellipsis)
        : [SafeText.truncated(text, to: area.width, ellipsis: glyphs.ellipsis)]
      for (row, line) in lines.prefix(area.maxY - first).enumerated() {
        canvas.put(line, at: Point(x: area.x, y: first + row), role: .error, clip: area)
      }
    case .success:
      guard !code.isEmpty, area.maxY - y > 1 else { return }
      let title = "\(glyphs.dashedHorizontal)\(glyphs.dashedHorizontal) Swift "
      let rest = area.width - SafeText.columns(of: title)
      canvas.put(
        title + String(repeating: glyphs.dashedHorizontal, count: max(0, rest)), at: Point(x: area.x, y: y),
        role: .border,
        clip: area)
      for (row, line) in code.enumerated() where y + 1 + row < area.maxY {
        canvas.put(line, x: area.x, y: y + 1 + row, width: area.width)
      }
    }
  }
}

/// The open listeners, one per row: name, state and query.
struct ListenersDialog {
  let list: ListOverlay
  let geometry: ListGeometry
  let frame: FrameState
  let glyphs: Glyphs

  func draw(on canvas: inout Canvas) {
    let count = frame.state.listeners.count
    geometry.dialog.draw("Listeners", count == 0 ? "" : grouped(count), on: &canvas, glyphs)
    let area = geometry.rows
    guard area.height > 0 else { return }
    if count == 0 {
      canvas.put(
        "no listener is open: n creates one, o opens a file", at: area.origin, role: .textMuted, clip: area)
    }
    canvas.rows(of: list.cursor, count: count, in: area, frame.state) {
      line(of: frame.state.listeners[$0], width: area.width)
    }
  }

  private func line(of listener: ListenerRecord, width: Int) -> Line {
    var line = Line(glyphs)
    line.skip(2)
    let name = min(frame.state.listeners.map { SafeText.columns(of: $0.name) }.max() ?? 0, max(8, width / 3))
    line.cell(
      PathText.fitted(listener.name, to: name, glyphs.ellipsis), .listener(listener.tag.rawValue - 1), width: name)
    line.skip(2)
    if listener.failure != nil {
      line.cell("ended", .error, width: 10)
    } else if let count = listener.count {
      line.cell("\(grouped(count)) doc\(count == 1 ? "" : "s")", .paneCount, width: 10)
    } else {
      line.cell(glyphs.ellipsis, .textMuted, width: 10)
    }
    line.skip(1)
    let isFromCache = listener.failure == nil && (listener.isFromCache || frame.state.network.isOffline)
    line.cell(isFromCache ? "c" : "", .flagCache, width: 2)
    line.add(listener.failure?.description ?? QueryText.line(listener.query), listener.failure == nil ? .text : .error)
    if listener.options.source == .cache { line.add("  cache only", .textMuted) }
    return line
  }
}
