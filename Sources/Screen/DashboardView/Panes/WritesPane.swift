// SPDX-License-Identifier: Apache-2.0
import Dashboard
import DashboardModel
import FirestoreClientState
import FirestoreModel
import TerminalCanvas

/// Draws pane 2: the unacknowledged batches in sending order, and the rejected batches below them.
struct WritesPane {
  let frame: FrameState
  let layout: Layout
  let glyphs: Glyphs

  /// Whether there is space for full words and all columns.
  private var isRoomy: Bool { frame.state.isRoomy(.writes, layout) }

  private struct Columns {
    var batch: Int
    var operation = 7
    var document: Int
    var age = 5
    var size = 0
    var tries: Int
  }

  func draw(on canvas: inout Canvas) {
    let geometry = frame.state.geometry(of: .writes, layout)
    let area = geometry.content
    guard !area.isEmpty else { return }
    let rows = frame.state.writes.rows
    let columns = columns(for: rows, width: area.width)
    if geometry.heads > 0 { canvas.put(head(columns), x: area.x, y: area.y, width: area.width) }
    if rows.isEmpty {
      var line = Line(glyphs)
      line.skip(1)
      let isFiltered = !frame.state.writes.allRows.isEmpty
      line.add(
        isFiltered
          ? "no write passes the filter; esc clears it"
          : "every write is acknowledged",
        .textMuted)
      canvas.put(line, x: area.x, y: geometry.rows.y, width: area.width)
    }
    let thread = frame.state.threadBatch
    let selected = frame.state.rowRange(in: .writes)
    var y = geometry.rows.y
    for index in frame.state.writes.cursor.rows(count: rows.count, height: geometry.rows.height) {
      let row = rows[index]
      canvas.put(line(row, columns), x: area.x, y: y, width: area.width)
      if row.batch == frame.state.writes.cursor.id {
        canvas.select(
          Rect(x: area.x, y: y, width: area.width, height: 1), frame.state, isFocused: frame.state.focus == .writes)
      } else if selected?.contains(index) == true {
        canvas.select(Rect(x: area.x, y: y, width: area.width, height: 1), frame.state, isFocused: false)
      } else if row.batch == thread {
        canvas.put(glyphs.related, at: Point(x: area.x, y: y), role: .flagPending, maxWidth: 1)
      }
      canvas.mark(hitsOf: frame.state.writes.filter, in: Rect(x: area.x + 1, y: y, width: area.width - 1, height: 1))
      y += 1
    }
    let free = Rect(
      x: area.x, y: y + 1, width: area.width, height: (geometry.note ?? geometry.hints ?? area.maxY) - y - 1)
    if isRoomy { drawAnswered(in: free, columns.batch, on: &canvas) }
    if let y = geometry.hints {
      canvas.put(PaneHints(.writes, frame.state, width: area.width).line, x: area.x, y: y, width: area.width)
    }
    if let y = geometry.note, let row = frame.state.writes.selected, let error = row.error {
      drawError(error, of: row, at: y, in: area, hasRowAbove: free.height >= 2, on: &canvas)
    }
  }

  /// Draws the error of the selected row, which is too long for the columns. A long error also uses the row above if
  /// that row is empty.
  private func drawError(
    _ error: RPCStatus, of row: QueueRow, at y: Int, in area: Rect, hasRowAbove: Bool, on canvas: inout Canvas
  ) {
    let role: Role = row.isSetAside ? .textMuted : row.isRejected ? .error : .warn
    let text =
      row.isSetAside
      ? "set aside by hand: not sent; r sends it, x drops it"
      : error.lineText(beside: row.documents.count == 1 ? row.documents.first : nil)
    let parts = WrappedText.lines("\(row.batch) \(text)", width: max(8, area.width - 2), glyphs.ellipsis)
    let shown =
      parts.count > 1 && hasRowAbove ? [parts[0], parts.dropFirst().joined(separator: " ")] : ["\(row.batch) \(text)"]
    for (offset, part) in shown.reversed().enumerated() {
      canvas.put(
        SafeText.truncated(part, to: area.width - 1, ellipsis: glyphs.ellipsis),
        at: Point(x: area.x + 1, y: y - offset),
        role: role, clip: area)
    }
  }

  private func columns(for rows: [QueueRow], width: Int) -> Columns {
    let number = max(isRoomy ? 5 : 4, (rows.map { $0.batch.description.count }.max() ?? 0) + 1)
    switch layout.layoutClass {
    case .large where isRoomy:
      let hasSize = width >= 84
      let spare = max(0, width - (hasSize ? 84 : 72))
      return Columns(
        batch: number + 1, operation: 10, document: 17 + spare / 2, size: hasSize ? 8 : 0, tries: 5)
    case .large, .medium:
      var columns = Columns(batch: number, document: 0, tries: 0)
      // The state, such as `retry 3.2s` or `acknowledged`, is read first and keeps its room.
      columns.document = max(9, width - 2 - columns.batch - columns.operation - columns.age - (width < 46 ? 10 : 14))
      return columns
    case .small: return Columns(batch: number, document: max(12, width - 36), tries: 0)
    case .tiny, .line: return Columns(batch: number, operation: 4, document: min(16, max(8, width - 30)), tries: 0)
    }
  }

  private func head(_ columns: Columns) -> Line {
    var line = Line(glyphs)
    line.skip(1)
    line.cell("write", .textMuted, width: columns.batch)
    line.cell("op", .textMuted, width: columns.operation)
    line.cell("document", .textMuted, width: columns.document)
    line.cell("age", .textMuted, width: columns.age, right: true)
    if columns.size > 0 { line.cell("size", .textMuted, width: columns.size, right: true) }
    if columns.tries > 0 { line.cell("tries", .textMuted, width: columns.tries + 1, right: true) }
    line.add("  state", .textMuted)
    return line
  }

  private func line(_ row: QueueRow, _ columns: Columns) -> Line {
    var line = Line(glyphs)
    let isMarked = frame.state.writes.marked.contains(row.batch)
    line.skip(1)
    line.cell(row.batch.description + (isMarked ? "*" : ""), isMarked ? .mark : .text, width: columns.batch)
    line.cell(row.operation.fitted(to: columns.operation - 1), width: columns.operation)
    line.cell(document(of: row, width: columns.document - 1), width: columns.document)
    // An acknowledged row has no age: where room is scarce its state takes the column.
    let age = age(of: row)
    if isRoomy || !age.isEmpty { line.cell(age, .textMuted, width: columns.age, right: true) }
    if columns.size > 0 { line.cell(ByteText.short(row.write.byteCount), .textMuted, width: columns.size, right: true) }
    if columns.tries > 0 { line.cell("\(row.tries)", .textMuted, width: columns.tries + 1, right: true) }
    line.skip(columns.tries > 0 ? 2 : 1)
    line.add(stateText(of: row), role(of: row))
    if row.isNonIdempotent, !row.isFinished { line.add(" !dup", .warn) }
    guard isRoomy else { return line }
    if let error = row.write.lastError, !row.isFinished { line.add("  \(error.code.name)", .warn) }
    let count = row.transformCount
    let transforms = count > 0 ? "  +\(count) transform\(count == 1 ? "" : "s")" : ""
    let room = layout.content(of: .writes).width - line.width - 2
    if room > transforms.count, let contents = WrittenFields.text(of: row, glyphs) {
      line.skip(2)
      line.add(SafeText.truncated(contents, to: room, ellipsis: glyphs.ellipsis), .textMuted)
    } else {
      line.add(transforms, .textMuted)
    }
    return line
  }

  /// The age of the row's write. For a rejected write, this is its age when it was rejected, so that an idle screen
  /// does not change.
  private func age(of row: QueueRow) -> String {
    guard let end = row.rejectedAt ?? (row.isFinished ? nil : frame.state.now) else { return "" }
    return TimeText.elapsed(seconds: end.wholeSeconds(since: row.write.localWriteTime))
  }

  private func document(of row: QueueRow, width: Int) -> String {
    let first = row.documents.first?.path.text ?? ""
    let more = row.documents.count > 1 ? " +\(row.documents.count - 1)" : ""
    let room = width - more.count
    let isShort = layout.layoutClass == .tiny || room < 12
    let path =
      isShort ? PathText.last(first, to: room, glyphs.ellipsis) : PathText.fitted(first, to: room, glyphs.ellipsis)
    return path + more
  }

  private func stateText(of row: QueueRow) -> String {
    let isLarge = isRoomy
    switch (row.outcome, row.write.state) {
    case (.acknowledged(let time?), _): return "acknowledged" + (isLarge ? ", rtt " + TimeText.latency(time) : "")
    case (.acknowledged(nil), _): return "acknowledged"
    case (.rejected, _) where row.isSetAside: return "set aside"
    case (.rejected(let status, _), _):
      return "rejected" + (layout.layoutClass == .tiny ? "" : " \(status.code.name)")
    case (nil, .held), (nil, .queued): return "pending"
    case (nil, .inFlight): return "in flight"
    case (nil, .backoff(let until)):
      return (isLarge ? "backoff " : "retry ") + TimeText.countdown(to: until, from: frame.state.now)
    }
  }

  private func role(of row: QueueRow) -> Role {
    switch (row.outcome, row.write.state) {
    case (.acknowledged, _): .writeAcked
    case (.rejected, _): row.isSetAside ? .writeQueued : .writeRejected
    case (nil, .held), (nil, .queued): .writeQueued
    case (nil, .inFlight): .writeInflight
    case (nil, .backoff): .writeBackoff
    }
  }

  /// The summary in the title: `3 · oldest 0:19`, `2 rejected`.
  static func count(_ state: DashboardState, _ layoutClass: LayoutClass, _ glyphs: Glyphs) -> String {
    let waiting = state.writes.waiting
    let (rejected, aside) = (state.writes.refusedCount, state.writes.setAsideCount)
    var parts: [String] = []
    if !state.writes.filter.isEmpty {
      parts.append("/\(SafeText.truncated(state.writes.filter.text, to: 12, ellipsis: glyphs.ellipsis))")
    }
    if waiting > 0 || rejected + aside == 0 { parts.append(grouped(waiting)) }
    if state.writes.live.count < waiting { parts.append("\(grouped(state.writes.live.count)) shown") }
    if rejected > 0 { parts.append("\(grouped(rejected)) rejected") }
    if aside > 0 { parts.append("\(grouped(aside)) aside") }
    if layoutClass == .large, state.writes.byteCount > 0 { parts.append(ByteText.short(state.writes.byteCount)) }
    if let oldest = state.writes.oldest {
      let age = TimeText.elapsed(seconds: state.now.wholeSeconds(since: oldest))
      parts.append(layoutClass == .large ? "oldest \(age)" : age)
    }
    return parts.joined(separator: " \(glyphs.bullet) ")
  }
}

extension QueueRow.Operation {
  /// The text, truncated to the width.
  fileprivate func fitted(to width: Int) -> String {
    if rawValue.count <= width { return rawValue }
    return String(rawValue.prefix(width < 4 ? 3 : 4))
  }
}

/// The most recently acknowledged writes, in free rows of the queue.
extension WritesPane {
  /// The count of feed rows that are searched for acknowledgements.
  private static let late = 200

  func drawAnswered(in area: Rect, _ batchWidth: Int, on canvas: inout Canvas) {
    guard area.height >= 2 else { return }
    var seen: Set<BatchID> = []
    let answers = frame.state.feed.rows.suffix(Self.late).reversed().filter { row in
      row.acknowledges.map { seen.insert($0).inserted } ?? false
    }
    guard !answers.isEmpty else { return }
    canvas.put("acknowledged before", at: Point(x: area.x + 1, y: area.y), role: .textMuted, clip: area)
    for (index, row) in answers.prefix(area.height - 1).enumerated() {
      var line = Line(glyphs)
      line.skip(1)
      line.cell(row.acknowledges?.description ?? "", .textMuted, width: batchWidth)
      line.add(TimeText.clock(row.time, offset: frame.state.configuration.utcOffset), .textMuted)
      line.skip(2)
      line.add(PathText.fitted(row.key?.path.text ?? "", to: 28, glyphs.ellipsis), .textMuted)
      line.add("  " + row.summary, .textMuted)
      canvas.put(line, x: area.x, y: area.y + 1 + index, width: area.width)
    }
  }
}

/// The fields that a pending write sets, as a short text.
enum WrittenFields {
  private static let mostFields = 3

  /// The fields as text: `status "packed" · items [3]`; `nil` for a write of several documents or without fields.
  static func text(of row: QueueRow, _ glyphs: Glyphs) -> String? {
    guard row.write.mutations.count == 1, let mutation = row.write.mutations.first else { return nil }
    var parts: [String]
    switch mutation.operation {
    case .set(let fields): parts = fields.entries.map { "\($0.name) \(ValueText.short($0.value))" }
    case .patch(let fields, let mask):
      parts = mask.paths.sorted().map { path in
        fields[path].map { "\(path.canonicalText) \(ValueText.short($0))" } ?? "-\(path.canonicalText)"
      }
    case .delete, .verify: parts = []
    }
    parts += mutation.transforms.map { "\($0.path.canonicalText) \($0.operation.text)" }
    let more = parts.count > Self.mostFields ? ["\(parts.count - Self.mostFields) more"] : []
    let shown = parts.prefix(Self.mostFields) + more
    return shown.isEmpty ? nil : shown.joined(separator: " \(glyphs.bullet) ")
  }
}
