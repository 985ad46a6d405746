// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreQuery

/// How the cache answers one query, the indexes it has, and what can be done about both.
package struct ExplanationPanel: Sendable {
  enum Item: CaseIterable, Hashable, Sendable {
    case create, automatic, deleteAll, again

    var letter: Character {
      switch self {
      case .create: "c"
      case .automatic: "a"
      case .deleteAll: "x"
      case .again: "r"
      }
    }
  }

  let query: Query
  /// `nil` until the cache has answered.
  var explanation: CacheExplanation?
  var failure: String?
  /// What `esc` goes back to.
  var editor: ListenerEditor?
  var cursor = Cursor<Int>()

  init(_ query: Query, from editor: ListenerEditor? = nil) {
    self.query = query
    self.editor = editor
  }
}

extension DashboardState {
  /// The query that the focus is on: of the selected collection with its filter, of the selected row's listener, or of
  /// the open document.
  var selectedQuery: Query? {
    switch focus {
    case .collections:
      guard let path = selectedCollection else { return nil }
      return Query(path: path, filters: browser.windows[path]?.filter?.filters ?? [])
    case .feed: return listeners.first { $0.tag == feed.selected?.listener }?.query
    case .detail: return detail.map { Query(path: $0.key.path) }
    case .writes, .network: return nil
    }
  }

  mutating func explainSelected() -> [Effect] {
    guard let query = selectedQuery else { return [] }
    overlay = .explanation(ExplanationPanel(query))
    return [.client(.explain(query))]
  }

  /// From the listener editor: the query as it stands there.
  mutating func explainEdited() -> [Effect] {
    guard case .listener(let editor)? = overlay else { return [] }
    do throws(ListenerEditorError) {
      let query = try editor.query(in: configuration.database)
      overlay = .explanation(ExplanationPanel(query, from: editor))
      return [.client(.explain(query))]
    } catch {
      toast(.warning, error.reason)
      return []
    }
  }

  mutating func receive(_ result: Result<CacheExplanation, RPCStatus>, of query: Query) {
    guard case .explanation(var panel)? = overlay, panel.query == query else { return }
    switch result {
    case .success(let explanation):
      panel.explanation = explanation
      panel.failure = nil
    case .failure(let status): panel.failure = status.description
    }
    overlay = .explanation(panel)
  }

  /// An explanation that is open is measured again when an index has come into use, or gone out of it.
  mutating func receive(_ rows: [LocalIndexRow]) -> [Effect] {
    let ready = { (rows: [LocalIndexRow]) in rows.filter { $0.progress == nil } }
    let isOther = ready(rows) != ready(indexes)
    indexes = rows
    guard isOther, case .explanation(let panel)? = overlay else { return [] }
    return [.client(.explain(panel.query))]
  }

  /// Does what a row of the panel says; the panel stays open.
  mutating func choose(_ item: ExplanationPanel.Item, in panel: ExplanationPanel) -> [Effect] {
    if let reason = reasonDisabled(item, in: panel) {
      toast(.info, reason)
      return []
    }
    switch item {
    case .create: return [.client(.createIndexes(for: panel.query))]
    case .automatic:
      createsIndexes.toggle()
      return [.client(.setIndexAutoCreation(createsIndexes))]
    case .deleteAll: return [.client(.deleteIndexes)]
    case .again: return [.client(.explain(panel.query))]
    }
  }

  mutating func chooseInExplanation(_ letter: Character) -> [Effect] {
    guard case .explanation(var panel)? = overlay else { return [] }
    let items = ExplanationPanel.Item.allCases
    guard let index = items.firstIndex(where: { $0.letter == letter }) else {
      return letter == "q" ? perform(.cancel) : []
    }
    panel.cursor.select(index: index, in: Array(items.indices))
    overlay = .explanation(panel)
    return choose(items[index], in: panel)
  }

  /// Why a row of the panel can do nothing now; `nil` if it can.
  func reasonDisabled(_ item: ExplanationPanel.Item, in panel: ExplanationPanel) -> String? {
    switch item {
    case .create:
      panel.explanation == nil
        ? "the cache has not answered yet"
        : panel.explanation?.suggestions.isEmpty == true ? "no index would help this query" : nil
    case .deleteAll: indexes.isEmpty ? "there are no indexes" : nil
    case .automatic, .again: nil
    }
  }
}
