// SPDX-License-Identifier: Apache-2.0
import FirestoreModel

extension DashboardState {
  /// Rows of a page in the pane with the focus.
  var page: Int { listHeight(of: focus, layout(size)) }

  mutating func move(by step: Int) -> [Effect] { move(by: step, in: focus) }

  /// Moves the selection of a pane; at the edge of a browser window the window moves on.
  mutating func move(by step: Int, in pane: Pane) -> [Effect] {
    switch pane {
    case .collections:
      browser.cursor.move(by: step, in: browser.rows.map(\.item))
      return slideWindow()
    case .writes: writes.cursor.move(by: step, in: writes.rows.map(\.batch))
    case .detail:
      guard let ids = detail.map({ DetailContent.lines(of: $0, in: self).map(\.id) }) else { return [] }
      detail?.cursor.move(by: step, in: ids)
    case .feed: moveFeed(by: step)
    case .network: break
    }
    return []
  }

  /// Scrolling up pauses; reaching the last row again does not resume, because that would move the rows under the eye.
  private mutating func moveFeed(by step: Int) {
    if !feed.isPaused {
      guard step < 0 else { return }
      pauseFeed()
    }
    feed.cursor.move(by: step, in: feed.shown)
  }

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
    case .collections: return moveToEndOfCollection(isTop: isTop)
    case .writes:
      let ids = writes.rows.map(\.batch)
      writes.cursor.select(index: isTop ? 0 : ids.count - 1, in: ids)
    case .detail:
      guard let ids = detail.map({ DetailContent.lines(of: $0, in: self).map(\.id) }) else { return [] }
      detail?.cursor.select(index: isTop ? 0 : ids.count - 1, in: ids)
    case .feed:
      if isTop {
        pauseFeed()
        feed.cursor.select(index: 0, in: feed.shown)
      } else {
        feed.follow()
      }
    case .network: break
    }
    return []
  }

  /// Inside a collection whose window does not reach the end, the end of the collection comes first, then the tree's.
  private mutating func moveToEndOfCollection(isTop: Bool) -> [Effect] {
    let rows = browser.rows.map(\.item)
    if case .document(let key)? = browser.cursor.id, let window = browser.windows[key.collection],
      isTop ? window.hasBefore : window.hasAfter
    {
      return browser.open(
        key.collection, at: isTop ? .start : .end, landing: isTop ? .first : .last, limit: windowLimit,
        in: configuration.database)
    }
    if !isTop, case .after(let path)? = rows.last {
      return browser.open(path, at: .end, landing: .last, limit: windowLimit, in: configuration.database)
    }
    browser.cursor.select(index: isTop ? 0 : rows.count - 1, in: rows)
    return slideWindow()
  }

  /// `:42` and `:50%`.
  mutating func jump(row: Int? = nil, percent: Int? = nil) -> [Effect] {
    func target(_ count: Int) -> Int {
      percent.map { (count - 1) * $0 / 100 } ?? (row ?? 1) - 1
    }
    switch focus {
    case .collections:
      let ids = browser.rows.map(\.item)
      browser.cursor.select(index: target(ids.count), in: ids)
      return slideWindow()
    case .writes:
      let ids = writes.rows.map(\.batch)
      writes.cursor.select(index: target(ids.count), in: ids)
    case .detail:
      guard let ids = detail.map({ DetailContent.lines(of: $0, in: self).map(\.id) }) else { return [] }
      detail?.cursor.select(index: target(ids.count), in: ids)
    case .feed:
      pauseFeed()
      let ids = feed.shown
      feed.cursor.select(index: target(ids.count), in: ids)
    case .network: break
    }
    return []
  }
}
