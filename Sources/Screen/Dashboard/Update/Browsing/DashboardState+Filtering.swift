// SPDX-License-Identifier: Apache-2.0
import DashboardModel
import FirestoreModel
import FirestoreQuery
import FirestoreText

extension DashboardState {
  mutating func openFilter() {
    let text =
      switch focus {
      case .feed: showsRequests ? requests.filter.text : feed.filter.text
      case .collections: selectedCollection.flatMap { browser.windows[$0]?.filter?.text } ?? ""
      case .writes: writes.filter.text
      case .detail: detail?.search.text ?? ""
      case .network: ""
      }
    if let index = detail?.cursor.index { detail?.searchStart = index }
    let path = focus == .collections ? selectedCollection : nil
    overlay = .filter(FilterLine(pane: focus, field: TextField(text), path: path))
  }

  /// Filters the loaded rows while you type. While the typed filter is invalid, the previous filter remains in effect.
  mutating func applyLiveFilter(_ line: FilterLine) {
    do throws(TextError) {
      let filter = try RowFilter(line.field.text, in: configuration.database)
      overlay?.filterLine?.error = nil
      switch line.pane {
      case .feed where showsRequests: requests.filter = filter
      case .feed: feed.filter = filter
      case .writes: writes.filter = filter
      case .detail: search(filter)
      case .collections: if let path = line.path { preview(filter, of: path) }
      case .network: break
      }
    } catch { overlay?.filterLine?.error = error.description }
  }

  /// Shows only the loaded rows that match the filter. If the selected row does not match, selects the first remaining
  /// row.
  private mutating func preview(_ filter: RowFilter, of path: ResourcePath) {
    browser.windows[path]?.preview = filter
    guard let item = browser.cursor.id, !browser.rows.contains(where: { $0.item == item }) else { return }
    let first = browser.windows[path]?.documents.first
    browser.cursor.select(first.map { .document($0.key) } ?? .collection(path))
  }

  mutating func acceptFilter() -> [Effect] {
    guard let line = overlay?.filterLine else { return [] }
    do throws(TextError) {
      let filter = try RowFilter(line.field.text, in: configuration.database)
      overlay = nil
      guard let path = line.path else { return [] }
      browser.windows[path]?.preview = nil
      return setFilter(BrowserFilter(filter), of: path)
    } catch {
      toast(.warning, error.description)
      return []
    }
  }

  /// Handles `esc` while a filter is typed: removes the filter, so that the pane shows everything again.
  mutating func dropFilter(of line: FilterLine) -> [Effect] {
    switch line.pane {
    case .feed where showsRequests: requests.filter = .none
    case .feed: feed.filter = .none
    case .writes: writes.filter = .none
    case .detail: detail?.search = .none
    case .collections:
      guard let path = line.path else { return [] }
      browser.windows[path]?.preview = nil
      return clearFilter(of: path)
    case .network: break
    }
    return []
  }

  mutating func clearFilter(of path: ResourcePath) -> [Effect] { setFilter(nil, of: path) }

  private mutating func setFilter(_ filter: BrowserFilter?, of path: ResourcePath) -> [Effect] {
    var window = browser.windows[path] ?? CollectionWindow(path: path)
    guard window.filter != filter else { return [] }
    window.filter = filter
    browser.windows[path] = window
    browser.cursor.select(.collection(path))
    browser.expanded.insert(path)
    browser.cursor.select(.collection(path))
    return openWindow(of: path, at: .start)
  }

  /// Handles `*`: filters the collection by the selected field's value.
  mutating func filterLikeThis() -> [Effect] {
    guard let (key, path, value) = selectedField else { return [] }
    let exact = ValueReader.text(of: value, in: configuration.database, until: .word)
    // A long value is not useful as an editable filter, so its short form is shown.
    let text = "\(path.canonicalText):\(exact.utf8.count <= 250 ? exact : ValueText.short(value))"
    let filter = BrowserFilter(FieldFilter(path, .equal, value), text: text)
    focus = .collections
    closeResult()
    return setFilter(filter, of: key.collection)
  }
}

extension DashboardState {
  /// Searches the lines of the open document. The search begins at the line that was selected when the search was
  /// opened.
  mutating func search(_ filter: RowFilter) {
    detail?.search = filter
    moveToMatch(.here)
  }

  enum MatchDirection { case here, next, previous }

  /// Selects the next or previous matching line. After the last match, selects the first one.
  mutating func moveToMatch(_ direction: MatchDirection) {
    guard let detail, !detail.search.isEmpty else { return }
    let lines = detailLines
    let count = lines.count
    guard count > 0 else { return }
    let start = min(direction == .here ? detail.searchStart : detail.cursor.index, count - 1)
    let order: [Int] =
      switch direction {
      case .here: (0..<count).map { (start + $0) % count }
      case .next: (1...count).map { (start + $0) % count }
      case .previous: (1...count).map { (start - $0 + count) % count }
      }
    guard let found = order.first(where: { lines[$0].matches(detail.search) }) else {
      if direction == .here {
        self.detail?.cursor.select(index: start, in: lines.map(\.id))
      } else {
        toast(.info, "nothing matches \(detail.search.text)")
      }
      return
    }
    self.detail?.cursor.select(index: found, in: lines.map(\.id))
  }
}
