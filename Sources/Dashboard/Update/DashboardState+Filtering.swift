// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreQuery

extension DashboardState {
  mutating func openFilter() {
    let text =
      switch focus {
      case .feed: feed.filter.text
      case .collections: selectedCollection.flatMap { browser.windows[$0]?.filter?.text } ?? ""
      case .writes: writes.filter.text
      case .detail: detail?.search.text ?? ""
      case .network: ""
      }
    if let index = detail?.cursor.index { detail?.searchStart = index }
    overlay = .filter(FilterLine(pane: focus, field: TextField(text)))
  }

  /// While typing: the feed filters at once; the browser only checks, because its filter is a query.
  mutating func applyLiveFilter(_ line: FilterLine) {
    switch line.pane {
    case .feed: feed.filter = WordFilter(line.field.text)
    case .writes: writes.filter = WordFilter(line.field.text)
    case .detail: search(line.field.text)
    case .collections:
      do throws(ModelError) {
        _ = try BrowserFilter(line.field.text)
        overlay?.filterLine?.error = nil
      } catch { overlay?.filterLine?.error = error.message }
    case .network: break
    }
  }

  mutating func acceptFilter() -> [Effect] {
    guard let line = overlay?.filterLine, line.pane == .collections, let path = selectedCollection else {
      overlay = nil
      return []
    }
    do throws(ModelError) {
      let filter = try BrowserFilter(line.field.text)
      overlay = nil
      return setFilter(filter, of: path)
    } catch {
      toast(.warning, error.message)
      return []
    }
  }

  /// `esc` in the line: the pane shows everything again.
  mutating func dropFilter(of pane: Pane) -> [Effect] {
    switch pane {
    case .feed: feed.filter = WordFilter("")
    case .writes: writes.filter = WordFilter("")
    case .detail: detail?.search = WordFilter("")
    case .collections: return filteredCollection.map { clearFilter(of: $0) } ?? []
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
    browser.expanded.insert(path)
    browser.cursor.select(.collection(path))
    return openWindow(of: path, at: .start)
  }

  /// `*`: the collection, filtered by the selected field's value.
  mutating func filterLikeThis() -> [Effect] {
    guard let (key, path, value) = selectedField else { return [] }
    let text = "\(path.canonicalText):\(ValueText.short(value))"
    guard var filter = try? BrowserFilter(text) else { return [] }  // A field's own path always parses.
    // The value itself, not its text: what is typed cannot say every type.
    filter.filters = [.field(FieldFilter(path, .equal, value))]
    filter.prefix = ""
    focus = .collections
    return setFilter(filter, of: key.collection)
  }
}

extension DashboardState {
  /// Searches the open document's lines for words, from the line on that was selected when the search began.
  mutating func search(_ text: String) {
    detail?.search = WordFilter(text)
    moveToMatch(.here)
  }

  enum MatchDirection { case here, next, previous }

  /// Selects a line that matches, going round at the ends.
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
    guard let found = order.first(where: { detail.search.matches(lines[$0].searchText) }) else {
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
