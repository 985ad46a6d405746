// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
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
  var explanation: QueryExplanation?
  var failure: String?
  /// What `esc` goes back to.
  var editor: ListenerEditor?
}

extension DashboardState {
  mutating func explainSelected() -> [Effect] { selectedQuery.map { explain($0) } ?? [] }

  /// From the listener editor: the query as it stands there.
  mutating func explainEdited() -> [Effect] {
    guard var editor = overlay?.editor, let query = validQuery(of: editor) else { return [] }
    // Indexes may be made meanwhile.
    editor.forgetPreview()
    return explain(query, from: editor)
  }

  private mutating func explain(_ query: Query, from editor: ListenerEditor? = nil) -> [Effect] {
    overlay = .list(ListOverlay(content: .explanation(ExplanationPanel(query: query, editor: editor))))
    return [.client(.explain(query))]
  }

  mutating func receive(_ result: ClientEvent.ExplanationResult, of query: Query) {
    guard case .explanation(var panel)? = overlay?.list?.content, panel.query == query else { return }
    switch result {
    case .success(let explanation):
      panel.explanation = explanation
      panel.failure = nil
    case .failure(let status): panel.failure = status.description
    }
    overlay?.list?.content = .explanation(panel)
  }

  /// An explanation that is open is measured again when an index has come into use, or gone out of it.
  mutating func receive(_ states: [IndexState]) -> [Effect] {
    guard indexes.replace(with: states) else { return [] }
    guard case .explanation(let panel)? = overlay?.list?.content else { return previewAgain() }
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
      indexes.toggleCreation()
      return [.client(.setIndexAutoCreation(indexes.areMadeWhenNeeded))]
    case .deleteAll: return [.client(.deleteIndexes)]
    case .again: return [.client(.explain(panel.query))]
    }
  }

  /// Why a row of the panel can do nothing now; `nil` if it can.
  func reasonDisabled(_ item: ExplanationPanel.Item, in panel: ExplanationPanel) -> String? {
    switch item {
    case .create:
      panel.explanation == nil
        ? "the cache has not answered yet"
        : panel.explanation?.suggestedIndexes.isEmpty == true ? "no index would help this query" : nil
    case .deleteAll: indexes.states.isEmpty ? "there are no indexes" : nil
    case .automatic, .again: nil
    }
  }
}
