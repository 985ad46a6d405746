// SPDX-License-Identifier: Apache-2.0
import ClientPort
import DashboardModel
package import FirestoreClientState
import FirestoreModel
package import FirestoreQuery

/// Shows how the cache executes one query step by step, which indexes the query can use, and the available actions.
package struct ExplanationPanel: Sendable {
  package enum Item: CaseIterable, Hashable, Sendable {
    case create, automatic, deleteAll, again

    package var letter: Character {
      switch self {
      case .create: "c"
      case .automatic: "a"
      case .deleteAll: "x"
      case .again: "r"
      }
    }
  }

  package let query: Query
  /// The explanation; `nil` until the cache has answered.
  package var explanation: QueryExplanation?
  package var failure: String?
  /// The listener editor that `esc` returns to.
  var editor: ListenerEditor?
}

extension DashboardState {
  mutating func explainSelected() -> [Effect] { selectedQuery.map { explain($0) } ?? [] }

  /// Explains the current query in the listener editor.
  mutating func explainEdited() -> [Effect] {
    guard var editor = overlay?.editor, let query = validQuery(of: editor) else { return [] }
    // Indexes may be created meanwhile.
    editor.forgetPreview()
    return explain(query, from: editor)
  }

  private mutating func explain(_ query: Query, from editor: ListenerEditor? = nil) -> [Effect] {
    overlay = .list(ListOverlay(content: .explanation(ExplanationPanel(query: query, editor: editor))))
    return [.client(.explain(query))]
  }

  mutating func receive(_ result: Result<QueryExplanation, RPCStatus>, of query: Query) {
    guard case .explanation(var panel)? = overlay?.list?.content, panel.query == query else { return }
    switch result {
    case .success(let explanation):
      panel.explanation = explanation
      panel.failure = nil
    case .failure(let status): panel.failure = status.description
    }
    overlay?.list?.content = .explanation(panel)
  }

  /// Requests the explanation again when an index has become usable or was removed.
  mutating func receive(_ states: [IndexState]) -> [Effect] {
    guard storage.indexes.replace(with: states) else { return [] }
    guard case .explanation(let panel)? = overlay?.list?.content else { return previewAgain() }
    return [.client(.explain(panel.query))]
  }

  /// Performs the action of the selected row. The panel stays open.
  mutating func choose(_ item: ExplanationPanel.Item, in panel: ExplanationPanel) -> [Effect] {
    if let reason = reasonDisabled(item, in: panel) {
      toast(.info, reason)
      return []
    }
    switch item {
    case .create: return [.client(.createIndexes(for: panel.query))]
    case .automatic:
      storage.indexes.toggleCreation()
      return [.client(.setIndexAutoCreation(storage.indexes.areMadeWhenNeeded))]
    case .deleteAll: return [.client(.deleteIndexes)]
    case .again: return [.client(.explain(panel.query))]
    }
  }

  /// The reason why a row of the panel is disabled; `nil` if it is enabled.
  package func reasonDisabled(_ item: ExplanationPanel.Item, in panel: ExplanationPanel) -> String? {
    switch item {
    case .create:
      panel.explanation == nil
        ? "the cache has not answered yet"
        : panel.explanation?.suggestedIndexes.isEmpty == true ? "no index would help this query" : nil
    case .deleteAll: storage.indexes.states.isEmpty ? "there are no indexes" : nil
    case .automatic, .again: nil
    }
  }
}
