// SPDX-License-Identifier: Apache-2.0
import Dashboard
import DashboardModel
import FirestoreClientState
import FirestoreModel
import FirestoreQuery
import TerminalCanvas

/// Draws pane 1 while it shows a result: rows in query order, marks of additions, changes and removals, and the row at
/// which the limit ends the result.
struct ResultPane {
  let result: ResultView
  let frame: FrameState
  let layout: Layout
  let glyphs: Glyphs

  /// The columns reserved at the right for the pending mark, the source letter and the cache flag.
  private static let flags = 4
  /// The minimum width for a text about a change next to a row.
  private static let leastText = 8

  func draw(on canvas: inout Canvas) {
    let geometry = frame.state.geometry(of: .collections, layout)
    let area = geometry.content
    guard !area.isEmpty else { return }
    let documents = frame.state.resultDocuments
    drawHeads(geometry, documents, on: &canvas)
    let texts = explanations
    for (row, text) in texts.prefix(geometry.rows.height).enumerated() {
      canvas.put(
        text.text, at: Point(x: area.x + 1, y: geometry.rows.y + row), role: text.role, clip: area)
    }
    if let documents, texts.isEmpty { drawRows(documents, geometry, on: &canvas) }
    guard let y = geometry.hints else { return }
    canvas.put(PaneHints(.collections, frame.state, width: area.width).line, x: area.x, y: y, width: area.width)
  }

  // MARK: Heads

  private func drawHeads(_ geometry: PaneGeometry, _ documents: DocumentSet?, on canvas: inout Canvas) {
    guard geometry.heads > 0 else { return }
    let area = geometry.content
    if geometry.heads > 1 {
      // The query is here if the frame has no room for it.
      canvas.put(
        SafeText.truncated(ResultTitle.text(result, frame.state), to: area.width - 2, ellipsis: glyphs.ellipsis),
        at: Point(x: area.x + 1, y: area.y), role: .textStrong, clip: area)
    }
    guard let documents, !documents.isEmpty else { return }
    let fitting = fitting(documents)
    var line = Line(glyphs)
    line.skip(3)
    line.cell("#", .textMuted, width: places(documents), right: true)
    line.skip(2)
    line.cell("id" + idOrder, .textMuted, width: fitting.idWidth)
    for column in fitting.columns {
      line.skip(2)
      let sign = column.direction.map { $0 == .ascending ? glyphs.ascending : glyphs.descending } ?? ""
      line.cell(column.name + sign, .textMuted, width: column.width, right: column.isNumber)
    }
    canvas.put(line, x: area.x, y: geometry.rows.y - 1, width: area.width)
  }

  /// The sign for sorting by id; empty if the result is not sorted by id.
  private var idOrder: String {
    guard let first = result.query.orderBy.first, first.path.isDocumentID else { return "" }
    return first.direction == .ascending ? glyphs.ascending : glyphs.descending
  }

  // MARK: Rows

  private func places(_ documents: DocumentSet) -> Int { max(2, "\(documents.count)".count) }

  private func fitting(_ documents: DocumentSet) -> (idWidth: Int, columns: [ResultColumns.Column]) {
    let width = layout.content(of: .collections).width
    return result.columns.fitting(room: width - 3 - places(documents) - 2 - Self.flags - 2)
  }

  private func drawRows(_ documents: DocumentSet, _ geometry: PaneGeometry, on canvas: inout Canvas) {
    let area = geometry.content
    let range = result.cursor.rows(count: documents.count, height: geometry.rows.height)
    let fitting = fitting(documents)
    for (offset, index) in range.enumerated() {
      let (document, y) = (documents[index], geometry.rows.y + offset)
      let width = area.width - Self.flags - 1
      canvas.put(
        line(document, place: index + 1, places(documents), fitting, width: width), x: area.x, y: y, width: width)
      canvas.put(flags(of: document), x: area.maxX - Self.flags, y: y, width: Self.flags)
      if index == result.cursor.index {
        canvas.select(
          Rect(x: area.x, y: y, width: area.width, height: 1), frame.state, isFocused: frame.state.focus == .collections
        )
      }
    }
    guard let note = geometry.note else { return }
    canvas.put(
      edge(documents, width: area.width), x: area.x, y: min(geometry.rows.y + range.count, note), width: area.width)
  }

  private func line(
    _ document: Document, place: Int, _ places: Int, _ fitting: (idWidth: Int, columns: [ResultColumns.Column]),
    width: Int
  ) -> Line {
    let mark = result.marks[document.key].flatMap { $0.until > frame.state.now ? $0 : nil }
    let isShared = result.query.collectionGroup != nil
    var line = Line(glyphs)
    line.skip(1)
    line.cell(
      mark.map { $0.isNew ? "+" : "~" } ?? "", mark?.isNew == true ? .changeAdded : .changeModified, width: 1)
    line.skip(1)
    line.cell("\(place)", .textMuted, width: places, right: true)
    line.skip(2)
    let shown = Set(fitting.columns.map(\.path.first))
    let tintsID = mark.map { $0.isNew || $0.names.isDisjoint(with: shown) } ?? false
    // Documents of a group can share their ids.
    let name = isShared ? document.key.path.text : document.key.documentID
    line.cell(
      PathText.fitted(name, to: fitting.idWidth, glyphs.ellipsis),
      tintsID ? (mark?.isNew == true ? .diffAdded : .diffModified) : .textStrong, width: fitting.idWidth)
    for column in fitting.columns {
      line.skip(2)
      guard let value = document.data?[column.path] else {
        line.skip(column.width)
        continue
      }
      let isChanged = mark?.names.contains { $0.equalsUTF8(column.path.first) } ?? false
      let hue = frame.state.browser.columns[document.key.collection]?.hue(of: value, in: column.path.first)
      line.cell(
        ColumnText.text(of: value, width: column.width, now: frame.state.now),
        isChanged ? .diffModified : hue.map(Role.value) ?? .text, width: column.width,
        right: column.isNumber)
    }
    // The sign and the tints show a change if there is no room for its words.
    if let mark, width - line.width - 2 >= Self.leastText {
      line.skip(2)
      line.add(SafeText.truncated(mark.text, to: width - line.width, ellipsis: glyphs.ellipsis), .textMuted)
    }
    return line
  }

  private func flags(of document: Document) -> Line {
    var line = Line(glyphs)
    line.cell(document.hasPendingWrites ? glyphs.pending : "", .flagPending, width: 2)
    line.add(document.hasPendingWrites ? "L" : "S", document.hasPendingWrites ? .sourceLocal : .sourceServer)
    line.cell(ResultTitle.isFromCache(frame.state) ? "c" : "", .flagCache, width: 1)
    return line
  }

  /// The line below the last row. It says that the limit ends the result here, and names the last removed document.
  private func edge(_ documents: DocumentSet, width: Int) -> Line {
    var words: [(String, Role)] = []
    if let limit = result.query.limit, documents.count >= limit {
      words.append((" \(result.query.limitType == .last ? "last" : "limit") \(grouped(limit)) ", .warn))
    }
    if let left = result.departure {
      let clock = TimeText.clock(left.time, offset: frame.state.configuration.utcOffset)
      let id = PathText.fitted(left.key.documentID, to: 12, glyphs.ellipsis)
      let more = result.otherDepartures > 0 ? " and \(grouped(result.otherDepartures)) more" : ""
      let place = left.place.map { " (was \(Membership.ordinal($0)))" } ?? ""
      words.append((" left \(id)\(more)\(place): \(left.reason) \(glyphs.bullet) \(clock) ", .changeRemoved))
    }
    var line = Line(glyphs)
    guard !words.isEmpty else { return line }
    func dashes(_ count: Int) { line.add(String(repeating: glyphs.dashedHorizontal, count: max(0, count)), .border) }
    line.skip(1)
    for (text, role) in words {
      dashes(width < 50 ? 1 : 4)
      line.add(SafeText.truncated(text, to: max(0, width - line.width), ellipsis: glyphs.ellipsis), role)
    }
    dashes(width - line.width - 1)
    return line
  }

  // MARK: Why there are no rows

  private var explanations: [(text: String, role: Role)] {
    switch result.source {
    case .question:
      switch result.answer {
      case .waiting: return [("asking", .textMuted)]
      case .failed(let status): return [("not answered: \(status.lineText)", .error), (status.message, .error)]
      case .documents(let documents, let isFromCache, _):
        guard documents.isEmpty else { return [] }
        return [(isFromCache ? "the cache has none that match" : "no document matches", .textMuted)]
      }
    case .listener(let tag):
      guard let listener = frame.state.listening[tag] else { return [] }
      if let failure = listener.failure {
        return [("the listener has ended: \(failure.code.name)", .error), (failure.message, .error)]
      }
      guard let kept = frame.state.listening.result(of: tag), let count = kept.count else {
        return [("no snapshot yet", .textMuted)]
      }
      if kept.isTooLarge {
        return [
          ("\(grouped(count)) documents: more than \(grouped(CachedResult.most)) are not sorted here", .textMuted),
          ("a listener with a limit shows the first of them", .textMuted),
        ]
      }
      guard kept.documents.isEmpty else { return [] }
      if count > 0 { return [("\(grouped(count)) documents, none received yet", .textMuted)] }
      return [
        (ResultTitle.isFromCache(frame.state) ? "the cache has none that match" : "no document matches", .textMuted)
      ]
    }
  }
}
