// SPDX-License-Identifier: Apache-2.0
package import DashboardModel
import FirestoreClientState
import FirestoreModel

/// Rows selected together: from the row where `v` was pressed to the cursor.
extension DashboardState {
  /// The indices of the rows in the pane's list; `nil` where no range is selected.
  package func rowRange(in pane: Pane) -> ClosedRange<Int>? {
    func range<ID>(_ anchor: ID?, _ cursor: Cursor<ID>, _ ids: [ID]) -> ClosedRange<Int>? {
      guard let anchor, let id = cursor.id, let first = ids.firstIndex(of: anchor), let last = ids.firstIndex(of: id)
      else { return nil }
      return min(first, last)...max(first, last)
    }
    switch pane {
    case .collections:
      return browser.result != nil
        ? nil : browser.anchor.flatMap { range($0, browser.cursor, browser.rows.map(\.item)) }
    case .writes: return writes.anchor.flatMap { range($0, writes.cursor, writes.rows.map(\.batch)) }
    case .network, .feed, .detail: return nil
    }
  }

  /// The keys of the documents among the range's rows in the tree.
  var rangeKeys: [DocumentKey] {
    guard let range = rowRange(in: .collections) else { return [] }
    return browser.rows[range].compactMap { row in
      if case .document(let key) = row.item { key } else { nil }
    }
  }

  /// The number of rows in the range of the focused pane; `nil` if there is none.
  var rangeCount: Int? {
    switch focus {
    case .collections: rowRange(in: .collections).map { _ in rangeKeys.count }
    case .writes: rowRange(in: .writes)?.count
    case .network, .feed, .detail: nil
    }
  }

  var reasonAgainstRange: String? {
    switch focus {
    case .collections:
      browser.result != nil
        ? "ranges are selected in the tree: esc leads back to it"
        : browser.cursor.id == nil ? "no row is selected" : nil
    case .writes: writes.selected == nil ? "no write is selected" : nil
    case .network, .feed, .detail: "ranges are selected among documents and writes, in panes 1 and 2"
    }
  }

  /// The commands that act on one row.
  private static let ofOneRow: Set<String> = [
    "edit", "open", "listen", "explain", "filter-like-this", "set-mark",
  ]

  /// The reason why a command is not possible while a range is selected.
  func reasonAgainstRange(for command: String) -> String? {
    guard Self.ofOneRow.contains(command), overlay == nil, let count = rangeCount else { return nil }
    return "a range of \(grouped(count)) is selected, and this is about one row: v or esc ends the range"
  }
}
