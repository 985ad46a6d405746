// SPDX-License-Identifier: Apache-2.0
import Dashboard
import DashboardModel
import FirestoreClientState
import FirestoreModel
import TerminalCanvas

/// Draws the dialog that explains a query: its cost in the cache, the indexes, and the available actions.
struct ExplanationDialog {
  let list: ListOverlay
  let panel: ExplanationPanel
  let frame: FrameState
  let layout: Layout
  let glyphs: Glyphs

  private static let items = ExplanationPanel.Item.allCases

  func draw(on canvas: inout Canvas) {
    let width = min(100, layout.size.width - 4)
    let dialog = Dialog(
      layout, width: width, rows: 2 + factLines(width: width - 4).count + indexLines.count + Self.items.count)
    let facts = factLines(width: dialog.content.width)
    dialog.draw("Explain \(glyphs.bullet) \(QueryText.line(panel.query))", "cache", on: &canvas, glyphs)
    let area = dialog.content
    guard area.height > 0 else { return }
    // The actions have precedence, then the facts, then as many indexes as fit.
    let actions = min(Self.items.count, area.height)
    var room = area.height - actions
    var y = area.y
    put(facts, at: &y, &room, in: area, on: &canvas)
    if room > 2 {
      dialog.rule(at: y, on: &canvas, glyphs)
      (y, room) = (y + 1, room - 1)
      put(indexLines, at: &y, &room, in: area, on: &canvas, keeping: 1)
    }
    if room > 0 {
      dialog.rule(at: y, on: &canvas, glyphs)
      y += 1
    }
    let rows = Rect(x: area.x, y: y, width: area.width, height: area.maxY - y)
    canvas.rows(of: list.cursor, count: Self.items.count, in: rows, frame.state) { line(Self.items[$0]) }
  }

  private func put(
    _ lines: [Line], at y: inout Int, _ room: inout Int, in area: Rect, on canvas: inout Canvas, keeping kept: Int = 0
  ) {
    let count = min(lines.count, max(0, room - kept))
    for line in lines.prefix(count) {
      canvas.put(line, x: area.x, y: y, width: area.width)
      y += 1
    }
    room -= count
  }

  private func factLines(width: Int) -> [Line] {
    if let failure = panel.failure { return [fact("failed", failure, .error)] }
    guard let explanation = panel.explanation else {
      return [fact("", "asking the cache\(glyphs.ellipsis)", .textMuted)]
    }
    var lines = [fact("plan", explanation.plan.description, .textStrong)]
    lines += explanation.indexes.map { fact("index", $0.description) }
    let entries = explanation.entriesRead > 0 ? ", \(grouped(explanation.entriesRead)) index entries" : ""
    lines.append(fact("scanned", "\(Self.documents(explanation.documentsScanned))\(entries)"))
    lines.append(fact("returned", Self.documents(explanation.documentsReturned)))
    lines.append(fact("time", TimeText.fine(explanation.duration)))
    lines += explanation.suggestedIndexes.map { fact("would help", $0.description, .warn) }
    if explanation.isBuildingIndexes {
      lines.append(fact("note", "an index that is being filled is not used yet", .textMuted))
    }
    return lines
  }

  private var indexLines: [Line] {
    guard !frame.state.storage.indexes.states.isEmpty else { return [fact("indexes", "none", .textMuted)] }
    return frame.state.storage.indexes.states.map { index in
      var line = fact("index", index.definition.description)
      line.add("  \(index.isAutomatic ? "automatic" : "configured"), ", .textMuted)
      let filling = index.backfill.map { "\(grouped($0.documentsIndexed)) of \(grouped($0.documentsTotal))" }
      line.add(filling ?? "ready", filling == nil ? .textMuted : .warn)
      return line
    }
  }

  private func line(_ item: ExplanationPanel.Item) -> Line {
    let reason = frame.state.reasonDisabled(item, in: panel)
    let isPossible = reason == nil
    var line = Line(glyphs)
    line.skip(2)
    line.cell(String(item.letter), isPossible ? .key : .textMuted, width: 3)
    let (title, detail): (String, String) =
      switch item {
      case .create:
        ("make the index", panel.explanation?.suggestedIndexes.map(\.description).joined(separator: ", ") ?? "")
      case .automatic: ("make indexes when needed", frame.state.storage.indexes.areMadeWhenNeeded ? "on" : "off")
      case .deleteAll:
        (
          "delete all indexes",
          frame.state.storage.indexes.states.isEmpty ? "" : grouped(frame.state.storage.indexes.states.count)
        )
      case .again: ("measure again", "")
      }
    line.cell(title, isPossible ? .text : .textMuted, width: 26)
    line.add(
      reason ?? detail, item == .automatic && frame.state.storage.indexes.areMadeWhenNeeded ? .textStrong : .textMuted)
    return line
  }

  private func fact(_ name: String, _ text: String, _ role: Role = .text) -> Line {
    var line = Line(glyphs)
    line.skip(1)
    line.cell(name, .textMuted, width: 12)
    line.add(text, role)
    return line
  }

  private static func documents(_ count: Int) -> String { "\(grouped(count)) document\(count == 1 ? "" : "s")" }
}
