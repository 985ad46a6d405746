// SPDX-License-Identifier: Apache-2.0
import DashboardModel
import FirestoreModel

extension DashboardState {
  /// Rows of a page in the pane with the focus.
  var page: Int { listHeight(of: focus, layout(size)) }

  mutating func move(by step: Int) -> [Effect] { move(by: step, in: focus) }

  /// Moves the selection of a pane; at the edge of a browser window the window moves on. In the feed scrolling up
  /// pauses; reaching the last row again does not resume, because that would move the rows under the eye.
  mutating func move(by step: Int, in pane: Pane) -> [Effect] {
    if pane == .feed, showsRequests ? requests.isFollowing : !feed.isPaused {
      guard step < 0 else { return [] }
      holdFeed()
    }
    select(in: pane) { list in list.index + step }
    return pane == .collections && browser.result == nil ? slideWindow() : []
  }

  /// Selects the row of a pane's list that `target` names; none if it names none. The feed must be paused.
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

  /// Holds the list of pane 4 that is shown.
  mutating func holdFeed() { showsRequests ? requests.hold() : pauseFeed() }

  /// Holds the feed with its last page on the screen.
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

  /// Inside a collection whose window does not reach the end, the end of the collection comes first, then the tree's.
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

  /// `:42`, `:50%` and `5000G`. In a collection that is a row of the collection, whichever of it are loaded.
  mutating func jump(row: Int? = nil, percent: Int? = nil) -> [Effect] {
    if focus == .collections, browser.result == nil, let path = selectedCollection {
      if let row { return go(toRow: row - 1, of: path) }
      let window = browser.windows[path]
      guard let total = window?.filter == nil ? window?.total : nil, let percent else {
        toast(.info, "how many documents \(path.text) shows is not known: :42 goes to a row")
        return []
      }
      // No larger product than the count itself.
      return go(toRow: max(0, total - 1) / 100 * percent + max(0, total - 1) % 100 * percent / 100, of: path)
    }
    if focus == .feed { holdFeed() }
    select(in: focus) { list in percent.map { (list.count - 1) * $0 / 100 } ?? (row ?? 1) - 1 }
    return []
  }
}
