// SPDX-License-Identifier: Apache-2.0
import DashboardModel
package import FirestoreModel

/// The fields of a collection, from which the user chooses those shown beside its documents.
package struct ColumnPicker: Sendable {
  package let path: ResourcePath
  /// All fields that were seen, the shown ones first.
  package let names: [String]
  /// The columns that `esc` restores.
  let original: [String]?
}

extension DashboardState {
  mutating func openColumns() {
    guard let path = selectedCollection else { return }
    let shown = shownColumns(of: path)
    let all = browser.statistics[path]?.byInterest ?? []
    let names = shown + all.filter { !shown.contains($0) }
    overlay = .list(
      ListOverlay(
        content: .columns(ColumnPicker(path: path, names: names, original: browser.columns[path]?.picked))))
  }

  /// Shows or hides the selected field.
  mutating func toggleColumn() {
    guard let list = overlay?.list, case .columns(let picker) = list.content,
      picker.names.indices.contains(list.cursor.index)
    else { return }
    let name = picker.names[list.cursor.index]
    var shown = browser.columns[picker.path]?.picked ?? shownColumns(of: picker.path)
    if let index = shown.firstIndex(of: name) { shown.remove(at: index) } else { shown.append(name) }
    pickColumns(shown, of: picker.path)
  }

  private func shownColumns(of path: ResourcePath) -> [String] {
    columnFitting(of: path, layout(size)).columns.map(\.name)
  }

  /// Shows the most telling fields again.
  mutating func resetColumns() {
    guard let list = overlay?.list, case .columns(let picker) = list.content else { return }
    pickColumns(nil, of: picker.path)
  }

  mutating func pickColumns(_ names: [String]?, of path: ResourcePath) {
    let documents = browser.windows[path]?.documents ?? []
    browser.columns[path, default: TreeColumns()].pick(
      names, documents, browser.statistics[path] ?? FieldStatistics())
  }

  var reasonAgainstColumns: String? {
    if browser.result != nil { return "the columns of a result are its query's: esc leads back to the tree" }
    guard let path = selectedCollection else { return "no collection is selected" }
    return browser.statistics[path]?.documentCount ?? 0 == 0 ? "no document of \(path.text) was seen yet" : nil
  }
}
