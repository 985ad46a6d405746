// SPDX-License-Identifier: Apache-2.0
import ClientPort
import DashboardModel
import FirestoreModel
import FirestoreQuery

extension DashboardState {
  /// The count of rows on one page of the focused pane.
  var page: Int { listHeight(of: focus, layout(size)) }

  mutating func move(by step: Int) -> [Effect] { move(by: step, in: focus) }

  /// Moves the selection of a pane. At the edge of the loaded part of a collection, the adjacent part is loaded.
  /// Scrolling up pauses the feed. Reaching the last row again does not resume the feed, because rows would then move
  /// while you read them.
  mutating func move(by step: Int, in pane: Pane) -> [Effect] {
    if pane == .feed, showsRequests ? requests.isFollowing : !feed.isPaused {
      guard step < 0 else { return [] }
      holdFeed()
    }
    select(in: pane) { list in list.index + step }
    return pane == .collections && browser.result == nil ? slideWindow() : []
  }

  /// Selects the row whose index `target` returns. If it returns `nil`, the selection does not change. If the pane is
  /// the feed, it must be paused.
  mutating func select(in pane: Pane, _ target: ((index: Int, top: Int, count: Int)) -> Int?) {
    func select<ID>(_ cursor: inout Cursor<ID>, _ ids: some RandomAccessCollection<ID>) {
      guard let index = target((cursor.index, cursor.top, ids.count)) else { return }
      cursor.select(index: index, in: ids)
    }
    switch pane {
    case .collections where browser.result != nil:
      guard var result = browser.result, let documents = resultDocuments else { return }
      select(&result.cursor, ResultKeys(documents))
      browser.result = result
    case .collections: select(&browser.cursor, browser.rows.map(\.item))
    case .writes: select(&writes.cursor, writes.rows.map(\.batch))
    case .feed where showsRequests: select(&requests.cursor, requests.numbers)
    case .feed: select(&feed.cursor, feed.shown)
    case .detail:
      guard var open = detail else { return }
      select(&open.cursor, detailLines.lazy.map(\.id))
      detail = open
    case .network: break
    }
  }

  /// Pauses the list that pane 4 shows.
  mutating func holdFeed() { showsRequests ? requests.hold() : pauseFeed() }

  /// Pauses the feed. Its last page remains on screen.
  mutating func pauseFeed() {
    guard !feed.isPaused else { return }
    feed.pause()
    feed.cursor.settle(in: feed.shown, height: listHeight(of: .feed, layout(size)))
  }

  private mutating func slideWindow() -> [Effect] {
    guard let item = browser.cursor.id else { return [] }
    return browser.slide(item, limit: windowLimit, in: configuration.database)
  }

  mutating func moveToEnd(isTop: Bool) -> [Effect] {
    switch focus {
    case .collections where browser.result == nil: return moveToEndOfCollection(isTop: isTop)
    case .feed where !isTop:
      if showsRequests { requests.follow() } else { feed.follow() }
      return []
    case .feed: holdFeed()
    case .collections, .writes, .detail, .network: break
    }
    select(in: focus) { list in isTop ? 0 : list.count - 1 }
    return []
  }

  /// Moves to the start or the end of the collection. Loads that part of the collection if it is not loaded yet.
  /// Outside of collections, moves to the start or the end of the tree.
  private mutating func moveToEndOfCollection(isTop: Bool) -> [Effect] {
    let rows = browser.rows.map(\.item)
    if case .document(let key)? = browser.cursor.id, let window = browser.windows[key.collection], !window.isSortedHere,
      isTop ? window.hasBefore : window.hasAfter
    {
      return openWindow(
        of: key.collection, at: isTop ? .start : .end, landing: isTop ? .first : .last)
    }
    if !isTop, case .after(let path)? = rows.last, browser.windows[path]?.isSortedHere == false {
      return openWindow(of: path, at: .end, landing: .last)
    }
    browser.cursor.select(index: isTop ? 0 : rows.count - 1, in: rows)
    return slideWindow()
  }

  /// Handles `:42`, `:50%` and `5000G`. In a collection, row numbers count all documents, even those that are not
  /// loaded.
  mutating func jump(row: Int? = nil, percent: Int? = nil) -> [Effect] {
    if focus == .collections, browser.result == nil, let path = selectedCollection {
      if let row { return go(toRow: row - 1, of: path) }
      let window = browser.windows[path]
      guard let total = window?.filter == nil ? window?.total : nil, let percent else {
        toast(.info, "the document count of \(path.text) is not known: type :42 to go to row 42")
        return []
      }
      // Avoids a product larger than the count.
      return go(toRow: max(0, total - 1) / 100 * percent + max(0, total - 1) % 100 * percent / 100, of: path)
    }
    if focus == .feed { holdFeed() }
    select(in: focus) { list in percent.map { (list.count - 1) * $0 / 100 } ?? (row ?? 1) - 1 }
    return []
  }
}

extension DashboardState {
  /// Moves to a row of a collection, counted from 0. The row can be outside of the loaded part of the collection.
  mutating func go(toRow row: Int, of path: ResourcePath) -> [Effect] {
    var effects = expand(path)
    guard let window = browser.windows[path] else { return effects }
    if window.filter?.searches == true { return go(toFoundRow: row, of: window) }
    if window.shownOrder != .id { return go(toOrderedRow: row, of: window) }
    let total = window.filter == nil ? window.total : nil
    let row = max(0, min(row, total.map { $0 - 1 } ?? row))
    if effects.isEmpty, let offset = window.offset, window.shown != nil,
      window.documents.indices.contains(row - offset)
    {
      browser.cursor.select(.document(window.documents[row - offset].key))
      return []
    }
    let limit = windowLimit
    // Some rows before the target show it among its neighbors.
    let first = max(0, min(row - limit / 4, (total ?? .max) - limit))
    if first == 0 {
      effects += browser.open(path, at: .start, landing: .at(row), limit: limit, in: configuration.database)
      return effects
    }
    let search = RowSearch(tag: browser.takeTag(), path: path, row: row, first: first)
    browser.search = search
    var query = CollectionWindow.query(path, filter: window.filter, at: .start, limit: 1, in: configuration.database)
    query.limit = nil
    return effects + [.client(.locate(search.tag, query, offset: first))]
  }

  /// Moves to a row in an order other than by id. The backend cannot locate such a row, so only loaded rows are
  /// reachable.
  private mutating func go(toOrderedRow row: Int, of window: CollectionWindow) -> [Effect] {
    let place = row - (window.offset ?? 0)
    guard window.offset != nil, window.documents.indices.contains(place) else {
      toast(.info, "in the order of \(window.shownOrder.words) only loaded rows can be reached: s changes the order")
      return []
    }
    browser.cursor.select(.document(window.documents[place].key))
    return []
  }

  /// Moves to a row among the matches of a search. Rows that the search has not yet found cannot be selected.
  private mutating func go(toFoundRow row: Int, of window: CollectionWindow) -> [Effect] {
    guard window.documents.indices.contains(row), window.offset == 0 else {
      let count = window.documents.count
      toast(.info, "\(grouped(count)) row\(count == 1 ? "" : "s") found so far; the last row looks further")
      return []
    }
    browser.cursor.select(.document(window.documents[row].key))
    return []
  }

  mutating func giveUpSearch(_ tag: WindowTag, _ status: RPCStatus) {
    guard let search = browser.search, search.tag == tag else { return }
    browser.search = nil
    toast(.error, "row \(grouped(search.row + 1)) of \(search.path.text) cannot be found: \(status.lineText)")
  }

  /// Opens a collection window around the row that a search has located.
  mutating func receive(located key: DocumentKey?, by tag: WindowTag, cachedCount: Int?) -> [Effect] {
    guard let search = browser.search, search.tag == tag else { return [] }
    browser.search = nil
    if let cachedCount {
      let what = "\(grouped(cachedCount)) document\(cachedCount == 1 ? "" : "s") of \(search.path.text)"
      toast(.warning, "offline: rows are counted in the cache, which has \(what)")
    }
    guard let key else {
      if cachedCount == nil {
        toast(.warning, "\(search.path.text) has fewer than \(grouped(search.first + 1)) documents")
      }
      return []
    }
    return browser.open(
      search.path, at: .from(key), landing: .at(search.row - search.first), limit: windowLimit, offset: search.first,
      in: configuration.database)
  }
}

extension DashboardState {
  /// Handles the letter after `m` or `'`. Other keys are ignored.
  mutating func finishBookmark(_ verb: BookmarkVerb, _ letter: Character?) -> [Effect] {
    guard let letter, letter.isLetter else { return [] }
    switch verb {
    case .set:
      guard let place = selectedPlace else {
        toast(.info, "no row is selected")
        return []
      }
      typing.mark(place, letter)
      toast(.info, "marked \(letter)")
      return []
    case .go:
      guard let place = typing.place(marked: letter) else {
        toast(.info, "nothing is marked \(letter)")
        return []
      }
      return go(to: place, letter)
    }
  }

  private var selectedPlace: Bookmark? {
    switch focus {
    case .collections: selectedItem.map { .item($0) }
    case .writes: writes.selected.map { .write($0.batch) }
    case .feed: selectedEvent.map { .feedRow($0.id) }
    case .detail: detail.map { .document($0.key, line: $0.cursor.id) }
    case .network: nil
    }
  }

  private mutating func go(to place: Bookmark, _ letter: Character) -> [Effect] {
    switch place {
    case .item(let item):
      focusPane(.collections)
      closeResult()
      if browser.rows.contains(where: { $0.item == item }) {
        browser.cursor.select(item)
        return []
      }
      return find(item)
    case .write(let batch):
      guard writes.rows.contains(where: { $0.batch == batch }) else { break }
      focusPane(.writes)
      writes.cursor.select(batch)
      return []
    case .feedRow(let id):
      guard feed.visible.contains(id) else { break }
      focusPane(.feed)
      feed.tab = .events
      pauseFeed()
      feed.cursor.select(id)
      return []
    case .document(let key, let line):
      let effects = openDetail(key)
      if let line { detail?.cursor.select(line) }
      return effects
    }
    toast(.info, "the row marked \(letter) is gone")
    return []
  }

  /// Searches for an item that is not in the tree, and opens its collection.
  private mutating func find(_ item: Browser.Item) -> [Effect] {
    switch item {
    case .collection(let path), .before(let path), .after(let path), .note(let path): return openCollection(path)
    case .document(let key), .field(let key, _): return locate(key)
    }
  }
}
