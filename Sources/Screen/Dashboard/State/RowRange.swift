// SPDX-License-Identifier: Apache-2.0
package import DashboardModel
import FirestoreClientState
import FirestoreJSON
import FirestoreModel
import FirestoreQuery

/// Ranges of selected rows. A range extends from the row where `v` was pressed to the cursor.
extension DashboardState {
  /// The indices of the selected rows in the pane's list; `nil` without a range.
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

  /// The keys of the documents in the selected range of the tree.
  var rangeKeys: [DocumentKey] {
    guard let range = rowRange(in: .collections) else { return [] }
    return browser.rows[range].compactMap { row in
      if case .document(let key) = row.item { key } else { nil }
    }
  }

  /// The count of rows in the focused pane's selected range; `nil` without a range.
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
        ? "ranges are selected in the tree: esc returns to it"
        : browser.cursor.id == nil ? "no row is selected" : nil
    case .writes: writes.selected == nil ? "no write is selected" : nil
    case .network, .feed, .detail: "ranges are selected among documents and writes, in panes 1 and 2"
    }
  }

  /// The commands that need a single row.
  private static let ofOneRow: Set<String> = [
    "edit", "open", "listen", "explain", "filter-like-this", "set-mark",
  ]

  /// The reason why a command is unavailable for a range of selected rows.
  func reasonAgainstRange(for command: String) -> String? {
    guard Self.ofOneRow.contains(command), overlay == nil, let count = rangeCount else { return nil }
    return "a range of \(grouped(count)) is selected, but this needs one row: v or esc ends the range"
  }
}

extension DashboardState {
  /// Handles `v`: starts a range of selected rows at the cursor, or ends the range.
  mutating func toggleRange() {
    if rowRange(in: focus) == nil { beginRange() } else { endRange() }
  }

  private mutating func beginRange() {
    switch focus {
    case .collections: browser.anchor = browser.cursor.id
    case .writes: writes.anchor = writes.cursor.id
    case .network, .feed, .detail: break
    }
  }

  mutating func endRange() {
    switch focus {
    case .collections: browser.anchor = nil
    case .writes: writes.anchor = nil
    case .network, .feed, .detail: break
    }
  }

  /// Handles `shift-down` and `shift-up`: starts a range, or extends it by one row.
  mutating func extendRange(by step: Int) -> [Effect] {
    if rowRange(in: focus) == nil { beginRange() }
    return move(by: step)
  }

  /// Ends a range of selected rows if its first row is no longer in the list, because the user's selection is then
  /// unknown.
  mutating func settleRanges() {
    if let anchor = browser.anchor, !browser.rows.contains(where: { $0.item == anchor }) {
      browser.anchor = nil
      toast(.info, "the range ended: its first row is no longer loaded")
    }
    if let anchor = writes.anchor, !writes.rows.contains(where: { $0.batch == anchor }) {
      writes.anchor = nil
      toast(.info, "the range ended: \(anchor) has left the list")
    }
  }

  /// Asks for confirmation before all documents of the range are deleted. The user must type the document count. For
  /// production data in a single collection, the user must type the collection's name instead.
  mutating func askToDeleteRange() {
    let keys = rangeKeys
    guard !keys.isEmpty else {
      toast(.info, "no document is in the range")
      return
    }
    let count = "\(grouped(keys.count)) document\(keys.count == 1 ? "" : "s")"
    var body = keys.prefix(5).map(\.path.text)
    if keys.count > 5 { body.append("and \(grouped(keys.count - 5)) more, to \(keys.last?.path.text ?? "")") }
    body.append("They are deleted in one batch; u undoes all of it. Their subcollections stay.")
    if network.isOffline { body.append("You are offline: the delete stays pending.") }
    let isReal = configuration.backend.isProduction
    let collections = Set(keys.map(\.collection))
    let name = isReal && collections.count == 1 ? collections.first?.last : nil
    let required = name ?? "\(keys.count)"
    if isReal { body.append("This is \(configuration.backend.project), not an emulator.") }
    body.append("Type \(required) to allow it.")
    overlay = .confirm(
      Confirmation(
        title: "Delete \(count)", body: body, action: "Delete \(count)", subject: .deleteAll(keys), required: required,
        typed: TextField()))
  }

  /// The menu items that copy texts from a range of documents.
  func copyItems(of keys: [DocumentKey]) -> [MenuItem] {
    let paths = keys.map(\.path.text).joined(separator: "\n")
    var items = [
      MenuItem(letter: "p", title: "\(grouped(keys.count)) paths", detail: keys[0].path.text, choice: .copy(paths))
    ]
    let known = keys.compactMap { key in document(key)?.data.map { DocumentJSON.line(of: $0.fields) } }
    if known.count == keys.count {
      items.append(
        MenuItem(
          letter: "j", title: "JSON, a line for each", detail: known[0], choice: .copy(known.joined(separator: "\n"))))
    }
    return items
  }
}
