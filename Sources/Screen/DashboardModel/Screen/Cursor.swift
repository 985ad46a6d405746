// SPDX-License-Identifier: Apache-2.0

/// The selected row of a list and the first row on the screen. The selection follows the row's identity while rows
/// above it are added or removed. If the row itself is removed, its neighbor is selected.
package struct Cursor<ID: Hashable & Sendable>: Sendable {
  package private(set) var id: ID?
  package private(set) var index = 0
  package private(set) var top = 0

  package init(_ id: ID? = nil) { self.id = id }

  /// Finds the selected row in a list that has changed. Scrolls the list so that the row is among the `height` visible
  /// rows.
  package mutating func settle(in ids: some RandomAccessCollection<ID>, height: Int) {
    if let id, 0..<ids.count ~= index, ids[ids.index(ids.startIndex, offsetBy: index)] == id {
      // A row that has not moved, the common case, needs no search.
    } else if let id, let found = ids.firstIndex(of: id) {
      index = ids.distance(from: ids.startIndex, to: found)
    }
    select(index: index, in: ids)
    scroll(count: ids.count, height: height)
  }

  package mutating func move(by step: Int, in ids: some RandomAccessCollection<ID>) {
    select(index: index + step, in: ids)
  }

  package mutating func select(index target: Int, in ids: some RandomAccessCollection<ID>) {
    index = max(0, min(target, ids.count - 1))
    id = ids.isEmpty ? nil : ids[ids.index(ids.startIndex, offsetBy: index)]
  }

  /// Selects a row that may not exist yet. `settle` finds the row when it exists.
  package mutating func select(_ id: ID) { self.id = id }

  private mutating func scroll(count: Int, height: Int) {
    let height = max(1, height)
    top = max(0, min(top, count - height))
    if index < top { top = index }
    if index >= top + height { top = index - height + 1 }
  }

  /// The indices of the rows on the screen. The first is `top`, adjusted as little as needed to fill the height and to
  /// include the selected row.
  package func rows(count: Int, height: Int) -> Range<Int> {
    guard count > 0, height > 0 else { return 0..<0 }
    let index = min(max(0, index), count - 1)
    var first = min(max(0, top), max(0, count - height))
    if index < first { first = index }
    if index >= first + height { first = index - height + 1 }
    return first..<min(count, first + height)
  }
}
