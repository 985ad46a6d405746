// SPDX-License-Identifier: Apache-2.0
package import DashboardModel
import FirestoreClientState
package import FirestoreModel
package import TerminalCanvas

/// The right end of a collection's row. It shows the document count, live or with its age, and a sign for how much of
/// the collection is covered by listeners.
package struct CollectionMarks {
  let frame: FrameState
  let path: ResourcePath
  let isLarge: Bool
  let glyphs: Glyphs
  /// The width of the sign.
  let flags: Int
  /// Whether there are blanks between a count and its age.
  private var isRoomy = true

  package init(frame: FrameState, path: ResourcePath, isLarge: Bool, glyphs: Glyphs, flags: Int) {
    (self.frame, self.path, self.isLarge) = (frame, path, isLarge)
    (self.glyphs, self.flags) = (glyphs, flags)
  }

  private var window: CollectionWindow? { frame.state.browser.windows[path] }

  /// - Parameter room: the count of columns available next to the collection's name. Words are added if they fit.
  package func line(room: Int) -> Line {
    let roomy = line(below: room)
    guard !isLarge, roomy.width > room else { return roomy }
    var tight = self
    tight.isRoomy = false
    return tight.line(below: room)
  }

  private func line(below room: Int) -> Line {
    var line = Line(glyphs)
    addNumbers(to: &line)
    let listeners = frame.state.listeners.filter { $0.failure == nil && $0.covers(path) }
    let words = isLarge ? words(of: listeners) : nil
    if let words, line.width + SafeText.columns(of: words) + 4 + flags <= room {
      line.skip(line.isEmpty ? 0 : 2)
      line.add(words, .textMuted)
      line.skip(1)
    } else {
      line.skip(2)
    }
    let start = line.width
    addSign(of: listeners, to: &line)
    line.skip(to: start + flags)
    return line
  }

  // MARK: Listeners

  /// The part of the collection that is covered by listeners, as text. If there are several listeners, returns their
  /// count. Returns `nil` without listeners, or if one listener covers the whole collection.
  private func words(of listeners: [ListenerRecord]) -> String? {
    guard !listeners.isEmpty, !listeners.contains(where: { $0.scope == .all }) else { return nil }
    return listeners.count == 1 ? listeners[0].scope.words : "\(listeners.count) parts"
  }

  private func addSign(of listeners: [ListenerRecord], to line: inout Line) {
    guard !listeners.isEmpty else { return }
    let isFromCache = frame.state.network.isOffline || listeners.allSatisfy(\.isFromCache)
    let isWhole = listeners.contains { $0.scope == .all && ($0.isFromCache == false || isFromCache) }
    let sign = isFromCache ? glyphs.listeningFromCache : isWhole ? glyphs.listening : glyphs.listeningInPart
    line.add(sign + (listeners.count > 1 ? "\(listeners.count)" : ""), isFromCache ? .flagCache : .stateOnline)
  }

  // MARK: Numbers

  private func addNumbers(to line: inout Line) {
    if let failure = window?.failure {
      line.add("\(glyphs.dash) \(failure.stateText)", .error)
    } else if let search = frame.state.browser.search, search.path == path {
      line.add("\(glyphs.ellipsis) row \(grouped(search.row + 1))", .textMuted)
    } else if let search = window?.search, search.isRunning {
      // The row below the documents says the same in words.
      line.add("\(glyphs.ellipsis) \(grouped(search.looked))", .paneCount)
    } else if let search = window?.search, search.isFromCache {
      // The collection's other documents were not read.
      let more = search.isComplete ? "" : "+"
      line.add("\(grouped(search.found))\(more) of \(grouped(search.looked)) cached", .paneCount)
    } else if let window, let found = window.found, let total = window.total {
      line.add("\(grouped(found.count))\(found.isAll ? "" : "+") of \(grouped(total))", .paneCount)
      addAge(to: &line)
    } else if window?.filter != nil, window?.isLoading == true {
      line.add(glyphs.ellipsis, .textMuted)
    } else if window?.total != nil {
      addCount(to: &line)
    } else if window?.isLoading == true {
      line.add(glyphs.ellipsis, .textMuted)
    } else {
      line.add("?", .textMuted)
    }
  }

  /// Adds the document count, as in `3 docs`, `3 docs · 0:40`, `3 cached` or `1 cached of 3 · 0:40`.
  private func addCount(to line: inout Line) {
    guard let count = window?.count else { return }
    func documents(_ number: Int) -> String {
      isLarge ? "\(grouped(number)) doc\(number == 1 ? "" : "s")" : grouped(number)
    }
    guard let cached = count.cached else {
      line.add(documents(count.known?.number ?? 0), .paneCount)
      return addAge(to: &line)
    }
    guard let known = count.known, known.number > cached else {
      return line.add(isLarge ? "\(grouped(cached)) cached" : "\(grouped(cached))c", .paneCount)
    }
    if cached == 0 {
      line.add(documents(known.number), .paneCount)
    } else {
      line.add("\(grouped(cached))\(isLarge ? " cached of " : "c/")\(grouped(known.number))", .paneCount)
    }
    addAge(to: &line)
  }

  private func addAge(to line: inout Line) {
    guard let age = frame.state.countAge(of: path) else { return }
    line.add((isRoomy ? " \(glyphs.bullet) " : glyphs.bullet) + age, .textMuted)
  }
}

/// The column headings above the tree, with a sign for the sort order. They are for the collection that contains the
/// selection. A click on a heading sorts by its column. Used for drawing and for mouse events.
package struct CollectionHeads {
  private struct Head {
    var key: RowOrder.Key
    var columns: Range<Int>
    var text: String
    var isRight = false
  }

  /// The collection of the headings.
  let path: ResourcePath
  private var heads: [Head] = []

  /// - Returns: `nil` while no collection shows documents.
  package init?(_ state: DashboardState, _ layout: Layout) {
    guard state.browser.result == nil, let path = Self.path(state), let window = state.browser.windows[path] else {
      return nil
    }
    self.path = path
    let glyphs = state.configuration.glyphs
    let order = window.shownOrder
    let sign = order.isDescending ? glyphs.descending : glyphs.ascending
    let width = layout.content(of: .collections).width
    let fitting = state.columnFitting(of: path, layout)
    var start = state.documentLead(of: path, layout)
    var end = width
    if let column = state.timeColumn(layout) {
      let key = order.isTime ? order.key : RowOrder.Key.changed
      let text = (key == .created ? "created" : "changed") + (order.isTime ? sign : "")
      heads.append(Head(key: key, columns: column..<column + DashboardState.timeWidth, text: text))
      end = column
    }
    func add(_ key: RowOrder.Key, _ name: String, width: Int, isRight: Bool, isLast: Bool = false) {
      let text = name + (key == order.key ? sign : "")
      // The document signs after the last column have no heading.
      let wanted = isLast && width > 0 ? max(width, SafeText.columns(of: text)) : width
      let room = min(wanted, end - start)
      guard room > 0 else { return }
      heads.append(Head(key: key, columns: start..<start + room, text: text, isRight: isRight))
    }
    add(.id, "id", width: fitting.idWidth, isRight: false)
    start += fitting.idWidth + 2
    for (index, column) in fitting.columns.enumerated() {
      add(
        .field(FieldPath(column.name)), column.name, width: column.width, isRight: column.isNumber,
        isLast: index == fitting.columns.count - 1)
      start += column.width + 2
    }
  }

  /// The collection of the selection, or the first collection that shows documents.
  private static func path(_ state: DashboardState) -> ResourcePath? {
    func shows(_ path: ResourcePath) -> Bool {
      state.browser.expanded.contains(path) && state.browser.windows[path]?.documents.isEmpty == false
    }
    if let path = state.selectedCollection, shows(path) { return path }
    return state.browser.roots?.lazy.map { ResourcePath($0) }.first(where: shows)
  }

  package func line(_ glyphs: Glyphs) -> Line {
    var line = Line(glyphs)
    for head in heads.sorted(by: { $0.columns.lowerBound < $1.columns.lowerBound }) {
      line.skip(to: head.columns.lowerBound)
      let isOrder = head.text.hasSuffix(glyphs.ascending) || head.text.hasSuffix(glyphs.descending)
      line.cell(head.text, isOrder ? .text : .textMuted, width: head.columns.count, right: head.isRight)
    }
    return line
  }

  func key(at column: Int) -> RowOrder.Key? { heads.first { $0.columns.contains(column) }?.key }
}

extension DashboardState {
  /// The collection whose documents are on screen while its own row is not. This is the expanded collection that
  /// contains the selection, otherwise the collection of the topmost row. Returns `nil` if its row is visible, or if a
  /// result replaces the tree.
  package func collectionOffScreen(_ layout: Layout) -> ResourcePath? {
    let rows = browser.rows
    guard browser.result == nil, !rows.isEmpty else { return nil }
    let shown = browser.cursor.rows(count: rows.count, height: geometry(of: .collections, layout).rows.height)
    func isOff(_ path: ResourcePath) -> Bool {
      rows.firstIndex { $0.item == .collection(path) }.map { !shown.contains($0) } ?? false
    }
    if let path = selectedCollection, browser.expanded.contains(path) { return isOff(path) ? path : nil }
    switch rows[shown.lowerBound].item {
    case .document(let key), .field(let key, _): return isOff(key.collection) ? key.collection : nil
    case .collection, .before, .after, .note: return nil
    }
  }
}
