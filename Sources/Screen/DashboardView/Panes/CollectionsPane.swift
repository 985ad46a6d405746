// SPDX-License-Identifier: Apache-2.0
import Dashboard
import DashboardModel
import FirestoreClientState
import FirestoreModel
import TerminalCanvas

/// Pane 1: the tree of collections, documents and fields.
struct CollectionsPane {
  let frame: FrameState
  let layout: Layout
  let glyphs: Glyphs

  private static let flags = DashboardState.documentFlags
  /// The distance in columns from the change sign to the right edge.
  private static let mark = 1

  private var isLarge: Bool { layout.layoutClass == .large }

  func draw(on canvas: inout Canvas) {
    if let result = frame.state.browser.result {
      return ResultPane(result: result, frame: frame, layout: layout, glyphs: glyphs).draw(on: &canvas)
    }
    let geometry = frame.state.geometry(of: .collections, layout)
    let area = geometry.content
    guard !area.isEmpty else { return }
    let rows = frame.state.browser.rows
    if rows.isEmpty, EmptyPage.isShown(frame.state) {
      EmptyPage(frame: frame, glyphs: glyphs).drawWays(in: area, on: &canvas)
    } else if rows.isEmpty {
      let texts = emptyTexts(width: area.width - 1)
      for (row, text) in texts.prefix(geometry.rows.height).enumerated() {
        canvas.put(text, at: Point(x: area.x + 1, y: geometry.rows.y + row), role: .textMuted, clip: area)
      }
    }
    if geometry.heads > 0, let heads = CollectionHeads(frame.state, layout) {
      canvas.put(heads.line(glyphs), x: area.x, y: area.y, width: area.width)
    }
    let range = frame.state.browser.cursor.rows(count: rows.count, height: geometry.rows.height)
    var finder = DocumentFinder(frame.state.browser)
    let thread = frame.state.threadDocuments
    let selected = frame.state.rowRange(in: .collections)
    for (offset, row) in rows[range].enumerated() {
      let y = geometry.rows.y + offset
      draw(row, at: y, in: area, &finder, on: &canvas)
      if row.item == frame.state.browser.cursor.id {
        canvas.select(
          Rect(x: area.x, y: y, width: area.width, height: 1), frame.state,
          isFocused: frame.state.focus == .collections)
      } else if selected?.contains(range.lowerBound + offset) == true {
        canvas.select(Rect(x: area.x, y: y, width: area.width, height: 1), frame.state, isFocused: false)
      } else if case .document(let key) = row.item, thread.contains(key) {
        canvas.put(glyphs.related, at: Point(x: area.x, y: y), role: .flagPending, maxWidth: 1)
      }
      if case .document(let key) = row.item, let window = frame.state.browser.windows[key.collection] {
        canvas.mark(
          hitsOf: window.preview ?? window.filter?.filter,
          in: Rect(x: area.x + 1, y: y, width: area.width - 1 - Self.flags, height: 1))
      }
    }
    let end = area.y + range.count + 1
    if !rows.isEmpty {
      drawListeners(
        in: Rect(x: area.x, y: end, width: area.width, height: (geometry.hints ?? area.maxY) - end - 1), on: &canvas)
    }
    guard let y = geometry.hints else { return }
    canvas.put(PaneHints(.collections, frame.state, width: area.width).line, x: area.x, y: y, width: area.width)
  }

  /// The sentences that are shown if there are no rows.
  private func emptyTexts(width: Int) -> [String] {
    if frame.state.browser.roots == nil { return ["reading the collections"] }
    if frame.state.network.isOffline { return ["no collection is cached", "go online to see the server's data"] }
    if let outage = frame.state.browser.rootsOutage {
      let again = "Hearth tries again until it gets the list."
      return ["no collection is cached", "not listed: \(outage.code.name)"]
        + [outage.message, again].flatMap { WrappedText.lines($0, width: width, glyphs.ellipsis) }
    }
    if frame.state.browser.rootsFailure?.code == .permissionDenied {
      return [
        "no collection is cached", "not listed: only administrators may do that", ":go orders opens a collection",
      ]
    }
    if let failure = frame.state.browser.rootsFailure {
      return ["no collection is cached", "not listed: \(failure.code.name)", ":messages says why"]
    }
    return ["no collections yet"]
  }

  private func draw(
    _ row: Browser.Row, at y: Int, in area: Rect, _ finder: inout DocumentFinder, on canvas: inout Canvas
  ) {
    var left = Line(glyphs)
    // Deep trees leave half of the row for names.
    left.skip(1 + min(row.depth * 2, area.width / 2))
    var right = Line(glyphs)
    switch row.item {
    case .collection(let path):
      addCollection(path, depth: row.depth, to: &left)
      right = CollectionMarks(frame: frame, path: path, isLarge: isLarge, glyphs: glyphs, flags: Self.flags)
        .line(room: area.width - left.width - 2)
    case .document(let key):
      let window = frame.state.browser.windows[key.collection]
      if let document = finder.document(key) {
        right = documentMarks(
          document, isFromCache: window.map { $0.isFromCache || frame.state.network.isOffline } ?? false,
          isDenied: window?.failure?.code == .permissionDenied)
        DocumentRow(document: document, frame: frame, layout: layout, glyphs: glyphs).add(to: &left)
      } else {
        left.add(frame.state.browser.expanded.contains(key.path) ? glyphs.unfolded : glyphs.folded, .textMuted)
        left.skip(1)
        left.add("\(key.documentID)  no document", .textMuted)
      }
    case .field(let key, let name):
      let isMarked = frame.state.browser.isMarked(key, name)
      left.cell(name, .jsonKey, width: min(10, max(4, area.width * 3 / 10)))
      left.skip(1)
      if let value = frame.state.browser.document(key)?.data?[FieldPath(name)] {
        let hue = frame.state.browser.columns[key.collection]?.hue(of: value, in: name)
        left.add(ValueText.short(value), hue.map(Role.value) ?? value.role)
      }
      if isMarked {
        right.add("~", .changeModified)
        right.skip(Self.mark)
      }
    case .before(let path), .after(let path):
      left.add(rest(of: row.item, path), .textMuted)
    case .note(let path):
      addNote(path, to: &left)
    }
    canvas.put(left, x: area.x, y: y, width: area.width - (right.isEmpty ? 0 : right.width + 1))
    canvas.put(right, x: area.maxX - right.width, y: y, width: right.width)
  }

  // MARK: Collections

  private func addCollection(_ path: ResourcePath, depth: Int, to line: inout Line) {
    line.add(frame.state.browser.expanded.contains(path) ? glyphs.unfolded : glyphs.folded, .textMuted)
    line.skip(1)
    line.add(depth == 0 ? path.text : path.last, .textStrong)
    if let filter = frame.state.browser.windows[path]?.filter { line.add(" /\(filter.text)", .match) }
    let names = frame.state.listeners.filter { $0.failure == nil && $0.isNamed && $0.covers(path) }.map(\.name)
    if !names.isEmpty, !frame.state.browser.expanded.contains(path) {
      line.add("  \(names.joined(separator: ", "))", .textMuted)
    }
  }

  // MARK: Documents

  /// The marks of a document, as in `#42 Lc~`: its pending batch, its source, whether it is from the cache, and its
  /// recent change. Wide screens also show the time of its version. Documents that the server no longer returns have no
  /// source.
  private func documentMarks(_ document: Document, isFromCache: Bool, isDenied: Bool) -> Line {
    var line = Line(glyphs)
    let batch = isLarge ? frame.state.writes.batch(touching: document.key)?.description : nil
    let pending = document.hasPendingWrites ? batch ?? glyphs.pending : ""
    if frame.state.timeColumn(layout) != nil {
      line.cell(frame.state.timeText(of: document), .textMuted, width: DashboardState.timeWidth)
      line.cell(pending, .flagPending, width: DashboardState.pendingMark(layout) - 2, right: true)
      line.skip(2)
    } else if !pending.isEmpty {
      line.add(pending, .flagPending)
      line.skip(2)
    }
    let source = document.hasPendingWrites ? "L" : isDenied ? "" : "S"
    line.cell(source, document.hasPendingWrites ? .sourceLocal : .sourceServer, width: 1)
    line.cell(isFromCache ? "c" : "", .flagCache, width: 1)
    let mark = frame.state.browser.marks[document.key]
    line.cell(mark.map { $0.isNew ? "+" : "~" } ?? "", mark?.isNew == true ? .changeAdded : .changeModified, width: 1)
    line.skip(Self.mark)
    return line
  }

  // MARK: The rest

  private func rest(of item: Browser.Item, _ path: ResourcePath) -> String {
    let window = frame.state.browser.windows[path]
    let hint = isLarge ? "   \(glyphs.enter) load" : ""
    if window?.isLoading == true { return "\(glyphs.ellipsis) loading" }
    if case .before = item {
      return glyphs.ellipsis + (window?.offset.map { " \(grouped($0)) before" } ?? " more before") + hint
    }
    if let window, window.isSortedHere {
      // No query can use this order, so the other documents are not loaded.
      let rest = window.filter == nil ? window.total.map { " \(grouped(max(0, $0 - window.loaded.count)))" } : nil
      return "\(glyphs.ellipsis)\(rest ?? "") more not looked at"
    }
    guard let window, window.filter == nil, window.shown?.order.isField == false, let total = window.total,
      let offset = window.offset,
      total > offset + window.loaded.count
    else { return "\(glyphs.ellipsis) more" + hint }
    return "\(glyphs.ellipsis) \(grouped(total - offset - window.loaded.count)) more" + hint
  }

  private func addNote(_ path: ResourcePath, to line: inout Line) {
    let window = frame.state.browser.windows[path]
    if let failure = window?.failure {
      line.add(failure.description, .error)
    } else if window?.isLoading == true {
      line.add("loading", .textMuted)
    } else if let window, let search = window.search {
      let (text, role) = note(search, in: window)
      line.add(text, role)
    } else if let window, window.preview != nil, !window.loaded.isEmpty {
      line.add("no loaded document passes", .textMuted)
    } else if let window, window.filter == nil, window.isFromCache {
      line.add(pendingDeletes(in: path) ?? absence(in: window), .textMuted)
    } else {
      line.add(window?.filter == nil ? "no documents" : "no document passes the filter", .textMuted)
    }
  }

  /// Text about a collection in which pending writes delete documents; `nil` without such writes.
  private func pendingDeletes(in path: ResourcePath) -> String? {
    let deleted = Set(
      frame.state.writes.live.flatMap(\.write.mutations).filter { $0.operation == .delete && $0.key.collection == path }
        .map(\.key))
    guard !deleted.isEmpty else { return nil }
    return "\(grouped(deleted.count)) deleted here, pending"
  }

  /// Text for a collection that has no cached documents: `not in the cache; 2 at 18:10:43`.
  private func absence(in window: CollectionWindow) -> String {
    guard let known = window.count.known else { return "the cache has none" }
    let clock = TimeText.clock(known.time, offset: frame.state.configuration.utcOffset)
    return known.number == 0 ? "no documents at \(clock)" : "not in the cache; \(grouped(known.number)) at \(clock)"
  }

  /// The progress of a search: `looking 41 000 of 100 000 · 3 found · esc stops`.
  private func note(_ search: CollectionSearch, in window: CollectionWindow) -> (String, Role) {
    let total = window.total.map { " of \(grouped($0))" } ?? ""
    let found = " \(glyphs.bullet) \(grouped(search.found)) found"
    switch search.end {
    case nil: return ("looking \(grouped(search.looked))\(total)\(found) \(glyphs.bullet) esc stops", .paneCount)
    case .stopped: return ("stopped at \(grouped(search.looked))\(total)\(found)", .warn)
    case .failed(let status): return ("ended at \(grouped(search.looked)): \(status.description)", .error)
    case .done where search.found > window.documents.count && window.preview == nil:
      return ("the first \(grouped(window.documents.count)) of \(grouped(search.found)) found", .textMuted)
    case .done:
      let place = search.isFromCache ? " in the cache" : ""
      return ("none of \(grouped(search.looked))\(place) passes the filter", .textMuted)
    }
  }

  /// The sort order of a collection for the pane's title, and whether a query sorts the documents: `total▼ by query`.
  private static func orderText(_ window: CollectionWindow, _ layoutClass: LayoutClass, _ glyphs: Glyphs) -> String? {
    let order = window.shownOrder
    guard order != .id else { return nil }
    let text = order.words + (order.isDescending ? glyphs.descending : glyphs.ascending)
    guard layoutClass == .large else { return text }
    return window.shown?.order.isField == true ? "\(text) by query" : text
  }

  /// `5 of 148`: the selected document's place in its collection. `5 of 32+` if only 32 documents are known.
  static func count(_ state: DashboardState, _ layoutClass: LayoutClass, _ glyphs: Glyphs) -> String {
    if state.browser.result != nil { return ResultTitle.count(state, layoutClass, glyphs) }
    let isLarge = layoutClass == .large
    var text = "\(state.browser.roots?.count ?? 0)" + (isLarge ? " collections" : "")
    if state.browser.roots?.count == 1, isLarge { text = "1 collection" }
    if state.browser.roots?.isEmpty == true, state.browser.rootsFailure != nil { text = isLarge ? "not listed" : "?" }
    var collection: ResourcePath?
    var isPlace = false
    switch state.browser.cursor.id {
    case .collection(let path)?, .before(let path)?, .after(let path)?, .note(let path)?: collection = path
    case .document(let key)?, .field(let key, _)?:
      collection = key.collection
      if let window = state.browser.windows[key.collection], let offset = window.offset, let total = window.total,
        !window.isOfAnotherFilter, let index = window.documents.firstIndex(where: { $0.key == key })
      {
        let row = window.search != nil ? index + 1 : offset + index + 1
        var count = window.found.map { grouped(max(row, $0.count)) + ($0.isAll ? "" : "+") }
        if window.filter == nil, window.shown?.order.isField == true {
          // The total would include documents without the field, which this order omits.
          let known = offset + window.loaded.count
          count = grouped(known) + (window.hasAfter ? "+" : "")
        } else if window.isSortedHere, window.hasAfter || window.hasBefore {
          count = grouped(window.loaded.count) + "+"
        }
        isPlace = true
        text = "\(grouped(row)) of \(count ?? grouped(max(total, row)))"
      }
    case nil: break
    }
    guard let collection, let window = state.browser.windows[collection] else { return text }
    if let order = orderText(window, layoutClass, glyphs) {
      // The order replaces the count of collections, which says nothing about the sorted collection.
      text = isPlace ? "\(text) \(glyphs.bullet) \(order)" : order
    }
    guard window.shown != nil || window.search != nil, window.isFromCache else { return text }
    if isLarge { return text + " \(glyphs.bullet) cache" }
    return text.count <= 9 ? text + " cache" : "cache"
  }
}

/// Finds the documents of the rows in order. Each search starts at the previous result.
private struct DocumentFinder {
  private let browser: Browser
  private var places: [ResourcePath: Int] = [:]

  init(_ browser: Browser) { self.browser = browser }

  mutating func document(_ key: DocumentKey) -> Document? {
    let path = key.collection
    guard let documents = browser.windows[path]?.documents else { return nil }
    let next = places[path, default: 0]
    let place = next < documents.count && documents[next].key == key ? next : documents.firstIndex { $0.key == key }
    guard let place else { return nil }
    places[path] = place + 1
    return documents[place]
  }
}

/// A document in the tree of pane 1: its id, and its values in the collection's columns.
struct DocumentRow {
  let document: Document
  let frame: FrameState
  let layout: Layout
  let glyphs: Glyphs

  private var key: DocumentKey { document.key }

  func add(to line: inout Line) {
    line.add(frame.state.browser.expanded.contains(key.path) ? glyphs.unfolded : glyphs.folded, .textMuted)
    line.skip(1)
    let columns = frame.state.browser.columns[key.collection] ?? TreeColumns()
    let fitting = frame.state.columnFitting(of: key.collection, layout)
    let tint = self.tint
    let shown = Set(fitting.columns.map(\.name))
    // A change outside the shown columns tints the id.
    let tintsID = tint.map { $0.isNew || $0.names.isDisjoint(with: shown) } ?? false
    line.cell(
      PathText.fitted(key.documentID, to: fitting.idWidth, glyphs.ellipsis),
      tintsID ? (tint?.isNew == true ? .diffAdded : .diffModified) : .textStrong, width: fitting.idWidth)
    guard document.data != nil else {
      line.add("  content unknown", .textMuted)
      return
    }
    for column in fitting.columns {
      line.skip(2)
      guard let value = document.data?[FieldPath(column.name)] else {
        line.skip(column.width)
        continue
      }
      let isChanged = tint?.names.contains { $0.equalsUTF8(column.name) } ?? false
      let role = isChanged ? Role.diffModified : columns.hue(of: value, in: column.name).map(Role.value) ?? .text
      line.cell(
        ColumnText.text(of: value, width: column.width, now: frame.state.now), role, width: column.width,
        right: value.isNumber)
    }
  }

  /// The mark of the document's recent change, while its tint is visible.
  private var tint: Browser.Mark? { frame.state.browser.marks[key].flatMap { $0.until > frame.state.now ? $0 : nil } }
}
