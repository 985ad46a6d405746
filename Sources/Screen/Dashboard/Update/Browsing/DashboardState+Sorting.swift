// SPDX-License-Identifier: Apache-2.0
import DashboardModel
import FirestoreModel
import FirestoreQuery

/// The sort order of the documents in the tree.
extension DashboardState {
  /// The keys that you can sort by: the id, the shown columns, and the times of creation and change.
  func orderKeys(of path: ResourcePath) -> [RowOrder.Key] {
    let columns = columnFitting(of: path, layout(size)).columns.map { RowOrder.Key.field(FieldPath($0.name)) }
    return [.id] + columns + [.changed, .created]
  }

  /// Handles `s`: sorts by the next key.
  mutating func chooseNextOrder() -> [Effect] {
    guard let path = selectedCollection else { return [] }
    let keys = orderKeys(of: path)
    let now = browser.windows[path]?.shownOrder.key ?? .id
    let next = keys.firstIndex(of: now).map { keys[($0 + 1) % keys.count] } ?? .id
    return sort(path, by: naturalOrder(next, in: path))
  }

  /// Handles `S`: reverses the sort direction.
  mutating func reverseOrder() -> [Effect] {
    guard let path = selectedCollection, let window = browser.windows[path] else { return [] }
    return sort(path, by: window.shownOrder.reversed)
  }

  /// Sorts by a key. If the key is already the sort key, reverses the direction.
  mutating func sort(_ path: ResourcePath, byHead key: RowOrder.Key) -> [Effect] {
    if let order = browser.windows[path]?.shownOrder, order.key == key { return sort(path, by: order.reversed) }
    return sort(path, by: naturalOrder(key, in: path))
  }

  /// The default direction of a key. Times and numbers are descending, all other keys are ascending.
  private func naturalOrder(_ key: RowOrder.Key, in path: ResourcePath) -> RowOrder {
    switch key {
    case .id: return .id
    case .changed, .created: return RowOrder(key, isDescending: true)
    case .field(let field):
      let kind = browser.statistics[path]?.fields[field.first]?.kind
      return RowOrder(key, isDescending: kind == .number || kind == .time)
    }
  }

  private mutating func sort(_ path: ResourcePath, by order: RowOrder) -> [Effect] {
    let window = browser.windows[path]
    if let range = window?.filter?.range, order.key != .field(range) {
      let field = range.segments.joined(separator: ".")
      toast(.info, "the filter has a range of \(field), so the order is by \(field); S reverses it")
      return []
    }
    browser.choose(order, of: path)
    guard browser.expanded.contains(path), browser.windows[path] != nil else { return [] }
    // Search matches are sorted here.
    if browser.windows[path]?.search != nil { return [] }
    var place = CollectionWindow.Place.start
    if case .document(let key)? = browser.cursor.id, key.collection == path,
      window?.hasBefore == true || window?.hasAfter == true
    {
      place = .from(key)
    }
    return openWindow(of: path, at: place)
  }

  var reasonAgainstSorting: String? {
    if let result = browser.result {
      return result.isQuestion
        ? "the query sets the order: :query runs another"
        : "the listener's query sets the order: e in its list (W) changes it"
    }
    return selectedCollection == nil ? "no collection is selected" : nil
  }

  /// Loads the shown part of a collection again, because the collection has become too large to be sorted by the
  /// client.
  mutating func reopenOutgrown(_ path: ResourcePath) -> [Effect] {
    guard let window = browser.windows[path], window.isOutgrown, !window.isLoading else { return [] }
    return openWindow(of: path, at: .start)
  }

  /// Sorts a collection by newest changes first, if it has automatic ids and a listener. Does nothing if the user has
  /// chosen an order.
  mutating func settleOrder(of path: ResourcePath) -> [Effect] {
    guard browser.orders[path] == nil, let window = browser.windows[path], window.filter == nil,
      browser.expanded.contains(path), !window.isLoading, window.shown?.place == .start
    else { return [] }
    let isHeard = listeners.contains { listener in
      listener.failure == nil && listener.count != nil && listener.query.collectionGroup == nil
        && listener.query.path == path && listener.query.filters.isEmpty
    }
    guard isHeard, let first = window.loaded.first, first.key.hasAutomaticID,
      window.loaded.prefix(20).allSatisfy(\.key.hasAutomaticID)
    else { return [] }
    browser.choose(.newest, of: path)
    return window.isWhole ? [] : openWindow(of: path, at: .start)
  }
}
