// SPDX-License-Identifier: Apache-2.0
import DashboardModel
import FirestoreModel
import FirestoreQuery

extension DashboardState {
  /// Goes to a row of a collection, counted from 0, wherever the window on it lies.
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
    // Some rows above the wanted one give it a place among its neighbours.
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

  /// Goes to a row in another order than that of the ids, in which no backend counts rows.
  private mutating func go(toOrderedRow row: Int, of window: CollectionWindow) -> [Effect] {
    let place = row - (window.offset ?? 0)
    guard window.offset != nil, window.documents.indices.contains(place) else {
      toast(.info, "in the order of \(window.shownOrder.words) only rows that are loaded are counted: s goes to id")
      return []
    }
    browser.cursor.select(.document(window.documents[place].key))
    return []
  }

  /// Goes to a row of those that are found by reading documents; only rows found so far are known.
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

  /// Opens the window around the row that was searched for.
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
