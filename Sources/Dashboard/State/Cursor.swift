// SPDX-License-Identifier: Apache-2.0

/// The selected row of a list and the first row on the screen. The selection follows the row's identity, so rows may
/// come and go above it; when the row itself goes, its neighbour is selected.
package struct Cursor<ID: Hashable & Sendable>: Sendable {
  package private(set) var id: ID?
  package private(set) var index = 0
  package private(set) var top = 0

  init(_ id: ID? = nil) { self.id = id }

  /// Finds the selected row again in a changed list and scrolls so that it is among the `height` visible rows.
  mutating func settle(in ids: [ID], height: Int) {
    if let id, index < ids.count, index >= 0, ids[index] == id {
      // Unmoved: the common case needs no search.
    } else if let id, let found = ids.firstIndex(of: id) {
      index = found
    } else {
      index = max(0, min(index, ids.count - 1))
    }
    id = ids.isEmpty ? nil : ids[index]
    scroll(count: ids.count, height: height)
  }

  mutating func move(by step: Int, in ids: [ID]) { select(index: index + step, in: ids) }

  mutating func select(index target: Int, in ids: [ID]) {
    index = max(0, min(target, ids.count - 1))
    id = ids.isEmpty ? nil : ids[index]
  }

  /// Selects a row that may not be there yet; `settle` finds it.
  mutating func select(_ id: ID) { self.id = id }

  private mutating func scroll(count: Int, height: Int) {
    let height = max(1, height)
    top = max(0, min(top, count - height))
    if index < top { top = index }
    if index >= top + height { top = index - height + 1 }
  }

  /// The visible part of a list, safe for any height.
  func visible(count: Int, height: Int) -> Range<Int> {
    let start = max(0, min(top, count - 1))
    return count == 0 || height <= 0 ? 0..<0 : start..<min(count, start + height)
  }
}
