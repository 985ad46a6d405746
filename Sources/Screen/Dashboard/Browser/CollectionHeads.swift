// SPDX-License-Identifier: Apache-2.0
package import DashboardModel
package import FirestoreModel
package import TerminalCanvas

/// The names of the columns above the tree, with the sign of the order: those of the collection in which the selection
/// is. A click on one sorts by it. Used by drawing and by the mouse.
package struct CollectionHeads {
  private struct Head {
    var key: RowOrder.Key
    var columns: Range<Int>
    var text: String
    var isRight = false
  }

  /// The collection that the names are about.
  let path: ResourcePath
  private var heads: [Head] = []

  /// - Returns: `nil` while no collection shows documents.
  package init?(_ state: DashboardState, _ layout: Layout) {
    guard state.browser.result == nil, let path = Self.path(state), let window = state.browser.windows[path] else {
      return nil
    }
    self.path = path
    let glyphs = state.configuration.glyphs
    let order = window.shownOrder
    let sign = order.isDescending ? glyphs.descending : glyphs.ascending
    let width = layout.content(of: .collections).width
    let fitting = state.columnFitting(of: path, layout)
    var start = state.documentLead(of: path, layout)
    var end = width
    if let column = state.timeColumn(layout) {
      let key = order.isTime ? order.key : RowOrder.Key.changed
      let text = (key == .created ? "created" : "changed") + (order.isTime ? sign : "")
      heads.append(Head(key: key, columns: column..<column + DashboardState.timeWidth, text: text))
      end = column
    } else if order.isTime {
      // The times have no column here: their order is named at the right.
      let text = (order.key == .changed ? "changed" : "created") + sign
      let columns = SafeText.columns(of: text)
      heads.append(Head(key: order.key, columns: max(0, width - columns)..<width, text: text))
      end = max(0, width - columns - 1)
    }
    func add(_ key: RowOrder.Key, _ name: String, width: Int, isRight: Bool, isLast: Bool = false) {
      let text = name + (key == order.key ? sign : "")
      // Nothing stands above the signs of the documents, which are behind the last column.
      let wanted = isLast && width > 0 ? max(width, SafeText.columns(of: text)) : width
      let room = min(wanted, end - start)
      guard room > 0 else { return }
      heads.append(Head(key: key, columns: start..<start + room, text: text, isRight: isRight))
    }
    add(.id, "id", width: fitting.idWidth, isRight: false)
    start += fitting.idWidth + 2
    for (index, column) in fitting.columns.enumerated() {
      add(
        .field(FieldPath(column.name)), column.name, width: column.width, isRight: column.isNumber,
        isLast: index == fitting.columns.count - 1)
      start += column.width + 2
    }
  }

  /// The collection of the selection, or the first whose documents are shown.
  private static func path(_ state: DashboardState) -> ResourcePath? {
    func shows(_ path: ResourcePath) -> Bool {
      state.browser.expanded.contains(path) && state.browser.windows[path]?.documents.isEmpty == false
    }
    if let path = state.selectedCollection, shows(path) { return path }
    return state.browser.roots?.lazy.map { ResourcePath($0) }.first(where: shows)
  }

  package func line(_ glyphs: Glyphs) -> Line {
    var line = Line(glyphs)
    for head in heads.sorted(by: { $0.columns.lowerBound < $1.columns.lowerBound }) {
      line.skip(to: head.columns.lowerBound)
      let isOrder = head.text.hasSuffix(glyphs.ascending) || head.text.hasSuffix(glyphs.descending)
      line.cell(head.text, isOrder ? .text : .textMuted, width: head.columns.count, right: head.isRight)
    }
    return line
  }

  func key(at column: Int) -> RowOrder.Key? { heads.first { $0.columns.contains(column) }?.key }
}

extension DashboardState {
  /// The collection that the rows at the top are of while its own row is off the screen: that of the selection, or where
  /// that shows no documents the one that the names of the columns are about. `nil` beside a result.
  package func collectionOffScreen(_ layout: Layout) -> ResourcePath? {
    let rows = browser.rows
    guard browser.result == nil, !rows.isEmpty else { return nil }
    let shown = browser.cursor.rows(count: rows.count, height: geometry(of: .collections, layout).rows.height)
    func isOff(_ path: ResourcePath) -> Bool {
      rows.firstIndex { $0.item == .collection(path) }.map { !shown.contains($0) } ?? false
    }
    if let path = selectedCollection, browser.expanded.contains(path) { return isOff(path) ? path : nil }
    switch rows[shown.lowerBound].item {
    case .document(let key), .field(let key, _): return isOff(key.collection) ? key.collection : nil
    case .collection, .before, .after, .note: return nil
    }
  }
}
