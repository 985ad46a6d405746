// SPDX-License-Identifier: Apache-2.0
import ClientPort
import Dashboard
import DashboardModel
import FirestoreClientState
import FirestoreModel
import TerminalCanvas

/// Draws pane 0: one document as the server has it, and as this client's listeners see it.
struct DetailPane {
  let frame: FrameState
  let layout: Layout
  let glyphs: Glyphs

  func draw(on canvas: inout Canvas) {
    let geometry = frame.state.geometry(of: .detail, layout)
    let area = geometry.content
    guard !area.isEmpty else { return }
    guard let detail = frame.state.shownDetail else {
      var y = area.y + 1
      if let overview = CollectionOverview(frame, glyphs) {
        y = overview.draw(in: area, on: &canvas)
      } else {
        canvas.put("no document is selected", at: Point(x: area.x + 1, y: area.y), role: .textMuted, clip: area)
      }
      EmptyPage(frame: frame, glyphs: glyphs).drawKeys(
        in: Rect(x: area.x, y: y + 1, width: area.width, height: area.maxY - y - 1), on: &canvas)
      return
    }
    let columns = DetailColumns(detail, layout.layoutClass, width: area.width)
    for (row, line) in heads(detail, columns, width: area.width).prefix(geometry.heads).enumerated() {
      canvas.put(line, x: area.x, y: area.y + row, width: area.width)
    }
    let lines = DetailContent.lines(of: detail, in: frame.state)
    let batch = frame.state.writes.batch(touching: detail.key)?.description ?? ""
    // The filter that found the document highlights its hits unless the document has a search.
    let search =
      detail.search.isEmpty ? frame.state.browser.windows[detail.key.collection]?.filter?.filter : detail.search
    let fields = Set((search?.fields ?? []).map(\.segments))
    var y = geometry.rows.y
    for index in detail.cursor.rows(count: lines.count, height: geometry.rows.height) {
      let drawing = DetailLine(
        line: lines[index], columns: columns, batch: batch, hits: fields, frame: frame, glyphs: glyphs)
      canvas.put(drawing.drawn, x: area.x, y: y, width: area.width)
      if lines[index].id == detail.cursor.id, !detail.isPreview {
        canvas.select(
          Rect(x: area.x, y: y, width: area.width, height: 1), frame.state, isFocused: frame.state.focus == .detail)
      }
      canvas.mark(hitsOf: search, in: Rect(x: area.x + 1, y: y, width: area.width - 1, height: 1))
      y += 1
    }
    guard layout.layoutClass == .large else { return }
    drawSections(
      of: detail, columns, in: Rect(x: area.x, y: y, width: area.width, height: area.maxY - y), on: &canvas)
  }

  private func heads(_ detail: Detail, _ columns: DetailColumns, width: Int) -> [Line] {
    switch layout.layoutClass {
    case .large:
      var rule = Line(glyphs)
      rule.add(String(repeating: glyphs.horizontal, count: width), .border)
      return [tabs(detail, width: width, status: status(detail)), rule, columnHeads(columns, detail.tab)]
    case .medium: return [tabs(detail, width: width, status: status(detail)), columnHeads(columns, detail.tab)]
    case .small:
      var path = Line(glyphs)
      path.skip(1)
      let status = status(detail)
      path.add(
        PathText.fitted(detail.key.path.text, to: max(8, width - status.count - 4), glyphs.ellipsis), .textStrong)
      path.skip(to: width - status.count - 1)
      path.add(status, .textMuted)
      return [path, tabs(detail, width: width, status: "")]
    case .tiny, .line:
      var line = Line(glyphs)
      let tab = "[\(detail.tab.title)]"
      line.cell(
        PathText.last(detail.key.path.text, to: max(4, width - tab.count - 2), glyphs.ellipsis), .textStrong,
        width: max(4, width - tab.count - 1))
      line.add(tab, .paneTitle)
      return [line]
    }
  }

  private func columnHeads(_ columns: DetailColumns, _ tab: Detail.Tab) -> Line {
    var line = Line(glyphs)
    let titles: [(String, Int)] =
      switch tab {
      case .data:
        [("field", columns.name), ("here", columns.value)]
          + (columns.server > 0 ? [("server", columns.server), ("write", columns.batch)] : [])
      case .diff: [("field", columns.name), ("before", columns.server), ("after", columns.value)]
      case .overlay:
        [
          ("field", columns.name), ("server", columns.server), ("queued", columns.queued),
          ("listeners see", columns.value),
        ]
      case .history: [("versions seen in this session, newest first", columns.name + columns.value)]
      case .meta: [("known state of the document", columns.name + columns.value)]
      }
    line.skip(4)
    for (index, (title, width)) in titles.enumerated() {
      // The names of foldable fields are indented by one more column.
      let indent = tab == .data && index == 0 ? 1 : 0
      line.skip(indent)
      line.cell(title, .textMuted, width: width - indent)
    }
    return line
  }

  private func tabs(_ detail: Detail, width: Int, status: String) -> Line {
    var line = Line(glyphs)
    for tab in DetailTabs.tabs(detail) {
      line.skip(to: tab.columns.lowerBound)
      line.add(tab.text, tab.tab == detail.tab ? .textStrong : .textMuted)
    }
    line.skip(1)
    guard !status.isEmpty, line.width + status.count <= width else { return line }
    line.skip(to: width - status.count - 1)
    line.add(status, .textMuted)
    return line
  }

  /// The state of the document as text: `pending writes`, `server's, as of 12:04:17`.
  private func status(_ detail: Detail) -> String {
    if detail.isPreview { return "\(glyphs.enter) opens" }
    if detail.tab == .diff, let id = detail.version {
      let newer = frame.state.versions.versions(of: detail.key).count { $0.id > id }
      if newer > 0, detail.base == nil { return "\(newer) back" }
    }
    if detail.tab == .diff || detail.tab == .history, let base = detail.base.flatMap({ frame.state.versions[$0] }) {
      return "from \(TimeText.clock(base.time, offset: frame.state.configuration.utcOffset))"
    }
    if let failure = detail.failure { return failure.stateText }
    guard detail.isLoaded else { return "loading" }
    guard let shown = detail.local ?? detail.remote else { return "not cached" }
    var words: [String] = []
    let isWaiting = shown.hasLocalMutations || detail.overlay != nil
    switch shown.state {
    case .found:
      words.append(isWaiting ? "pending writes" : shown.hasCommittedMutations ? "acknowledged" : source(of: detail))
    case .missing:
      words.append(isWaiting ? "pending delete" : shown.hasCommittedMutations ? "deleted" : "does not exist")
    case .unknown: words.append("content unknown")
    }
    return words.joined(separator: " \(glyphs.bullet) ")
  }

  /// The source of the document, with its time; empty if unknown.
  private func source(of detail: Detail) -> String {
    let outage = frame.state.network.isOffline ? frame.state.outages.start ?? frame.state.network.since : nil
    guard let source = detail.source ?? outage.map({ DocumentSource(isFromCache: true, time: $0) }) else { return "" }
    return source.text(outage: outage, offset: frame.state.configuration.utcOffset)
  }

  /// The time when the server last changed the document.
  static func count(_ state: DashboardState) -> String {
    let detail = state.shownDetail
    guard let document = detail?.remote ?? detail?.local, let version = document.version else { return "" }
    let time = TimeText.clock(version.timestamp, offset: state.configuration.utcOffset)
    return LayoutClass(state.size).isTiled ? (document.state == .missing ? "as of \(time)" : "update \(time)") : time
  }
}

/// One row of an open document. The first column is the gutter, the second is the change sign.
struct DetailLine {
  let line: DetailContent.Line
  let columns: DetailColumns
  let batch: String
  /// The fields whose values are hits of a filter.
  var hits: Set<[String]> = []
  let frame: FrameState
  let glyphs: Glyphs

  var drawn: Line {
    var drawn = Line(glyphs)
    drawn.skip(1)
    switch line.content {
    case .field(let field): add(field, to: &drawn)
    case .change(let change): add(change, to: &drawn)
    case .version(let version): add(version, to: &drawn)
    case .layers(let name, let server, let queued, let seen):
      let isQueued = queued != nil
      drawn.cell(isQueued ? "~" : "", .diffModified, width: 3)
      drawn.cell(name, .jsonKey, width: columns.name)
      cell(server, width: columns.server, to: &drawn)
      drawn.cell(queued ?? "", .flagPending, width: columns.queued - 1)
      drawn.skip(1)
      cell(seen, width: columns.value, to: &drawn)
    case .fact(let name, let text):
      drawn.skip(3)
      drawn.cell(name, .textMuted, width: columns.name)
      drawn.add(text)
    case .rest(let text):
      drawn.skip(columns.name + 3)
      drawn.add(text, .jsonString)
    case .note(let text):
      drawn.skip(3)
      drawn.add(text, .textMuted)
    }
    return drawn
  }

  private func add(_ field: FieldTree.Line, to drawn: inout Line) {
    drawn.cell(field.change.letter, field.change.role, width: 1)
    let indent = min(field.depth * 2, columns.name / 2)
    drawn.skip(1 + indent)
    drawn.cell(field.isOpen.map { $0 ? glyphs.unfolded : glyphs.folded } ?? "", .textMuted, width: 2)
    let isIndex = field.path.count > 1 && field.name.allSatisfy(\.isNumber)
    drawn.cell(field.name, isIndex ? .jsonPunct : .jsonKey, width: columns.name - indent - 2)
    drawn.skip(1)
    let shown = field.local ?? (columns.server > 0 ? nil : field.server)
    if hits.contains(field.path), let shown {
      let text = SafeText.truncated(
        ValueText.readable(shown), to: max(0, columns.value - 1), ellipsis: glyphs.ellipsis)
      drawn.add(text, .match)
      drawn.skip(columns.value - SafeText.columns(of: text))
    } else {
      cell(shown, width: columns.value, to: &drawn)
    }
    guard columns.server > 0, field.change != .none else { return }
    if field.isOpen == true, field.server != nil, field.local != nil {
      drawn.skip(columns.server)
    } else {
      cell(field.server, width: columns.server, to: &drawn)
    }
    drawn.cell(batch, .flagPending, width: columns.batch)
  }

  private func add(_ change: FieldChange, to drawn: inout Line) {
    let kind: FieldTree.Line.Change = change.old == nil ? .added : change.new == nil ? .removed : .modified
    drawn.cell(kind.letter, kind.role, width: 3)
    drawn.cell(change.path.canonicalText, .jsonKey, width: columns.name - 1)
    drawn.skip(1)
    cell(change.old, width: columns.server, to: &drawn)
    cell(change.new, width: columns.value, to: &drawn)
  }

  private func add(_ version: VersionHistory.Version, to drawn: inout Line) {
    let isConflict = frame.state.writes.conflicts.contains { $0.key == version.key && $0.batch == version.acknowledges }
    let kind = isConflict ? .conflict : version.kind
    drawn.cell(kind.letter, kind.role, width: 3)
    let isWide = columns.name + columns.value >= 50
    let precision: TimeText.Precision = isWide ? .hours : .minutes
    drawn.add(
      TimeText.milliseconds(version.time, offset: frame.state.configuration.utcOffset, from: precision), .textMuted)
    drawn.skip(2)
    drawn.cell(
      isWide ? (version.isLocal ? "LOCAL" : "SERVER") : version.isLocal ? "L" : "S",
      version.isLocal ? .sourceLocal : .sourceServer, width: isWide ? 8 : 2)
    if let batch = version.batch {
      drawn.add(batch.description, .flagPending)
      drawn.skip(2)
    }
    if frame.state.detail?.key == version.key, frame.state.detail?.base == version.id {
      drawn.add("from here  ", .mark)
    }
    if isConflict { drawn.add("conflict \(glyphs.bullet) ", .warn) }
    drawn.add(version.summary)
    if let why = version.why { drawn.add(" \(glyphs.bullet) \(why)", .textMuted) }
  }

  private func cell(_ value: Value?, width: Int, to drawn: inout Line) {
    drawn.cell(value.map(ValueText.readable) ?? glyphs.dash, value?.role ?? .textMuted, width: max(0, width - 1))
    drawn.skip(min(1, width))
  }
}

extension FieldTree.Line.Change {
  fileprivate var letter: String {
    switch self {
    case .none: ""
    case .added: "+"
    case .modified: "~"
    case .removed: "-"
    }
  }

  fileprivate var role: Role {
    switch self {
    case .none: .diffContext
    case .added: .diffAdded
    case .modified: .diffModified
    case .removed: .diffRemoved
    }
  }
}

/// Summaries of the other tabs in free rows below the fields: the document's versions and properties.
extension DetailPane {
  private static let fewestRows = 4

  func drawSections(of detail: Detail, _ columns: DetailColumns, in area: Rect, on canvas: inout Canvas) {
    var y = area.y
    for tab in [Detail.Tab.history, .meta] where tab != detail.tab {
      guard area.maxY - y >= Self.fewestRows else { return }
      var other = detail
      other.tab = tab
      let lines = DetailContent.lines(of: other, in: frame.state)
      if case .note? = lines.first?.content { continue }
      var head = Line(glyphs)
      head.skip(1)
      head.add(tab == .history ? "seen in this session, newest first " : "known of it ", .textMuted)
      head.add(String(repeating: glyphs.horizontal, count: max(0, area.width - head.width - 1)), .border)
      canvas.put(head, x: area.x, y: y, width: area.width)
      y += 1
      let all = DetailColumns(other, layout.layoutClass, width: area.width)
      // The versions get half of the rest, so that the facts are visible too.
      let room = tab == .history ? (area.maxY - y) / 2 : area.maxY - y
      for line in lines.prefix(max(1, room)) {
        let drawing = DetailLine(line: line, columns: all, batch: "", frame: frame, glyphs: glyphs)
        canvas.put(drawing.drawn, x: area.x, y: y, width: area.width)
        y += 1
      }
    }
  }
}
