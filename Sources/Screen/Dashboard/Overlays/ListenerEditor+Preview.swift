// SPDX-License-Identifier: Apache-2.0
import DashboardModel
import FirestoreClientState
import FirestoreModel
import FirestoreQuery

/// The cache's answers about the query while it is typed.
extension DashboardState {
  /// Asks about the query in the open editor, unless it was the last one asked about.
  mutating func previewEdited() -> [Effect] {
    guard let editor = overlay?.editor else { return [] }
    // Text that is no query yet has its own error message.
    let query = try? editor.query(in: configuration.database)
    guard query != editor.previewed else { return [] }
    overlay?.editor?.previewed = query
    overlay?.editor?.preview = nil
    return query.map { [.client(.preview($0))] } ?? []
  }

  /// Takes the answer, if it is about the query that is in the editor now.
  mutating func receive(_ preview: ClientEvent.PreviewResult, about query: Query) {
    guard overlay?.editor?.previewed == query else { return }
    overlay?.editor?.preview = preview
  }

  /// Notes that documents have changed, so that the count may be out of date.
  mutating func notePreviewChange() {
    guard let editor = overlay?.editor, editor.previewed != nil, editor.recountAt == nil else { return }
    let recountAt = now.advanced(seconds: 1)
    overlay?.editor?.recountAt = recountAt
  }

  /// Asks again when it is due; the earlier count is shown until the answer.
  mutating func takeDuePreview() -> [Effect] {
    guard let editor = overlay?.editor, let due = editor.recountAt, due <= now else { return [] }
    overlay?.editor?.recountAt = nil
    return editor.previewed.map { [.client(.preview($0))] } ?? []
  }

  /// Asks again after an index has become usable or was removed.
  mutating func previewAgain() -> [Effect] {
    overlay?.editor?.forgetPreview()
    return previewEdited()
  }

  /// Creates the local index that the edited query lacks.
  mutating func indexEdited() -> [Effect] {
    guard let editor = overlay?.editor, let query = validQuery(of: editor) else { return [] }
    guard case .success(let preview)? = editor.preview else {
      toast(.info, "the cache has not answered yet")
      return []
    }
    guard let index = preview.suggestedIndexes.first else {
      toast(.info, "no index would help this query")
      return []
    }
    toast(.info, "making the local index \(index)")
    return [.client(.createIndexes(for: query))]
  }
}

extension ListenerEditor {
  mutating func forgetPreview() {
    previewed = nil
    preview = nil
    recountAt = nil
  }

  /// The number of matches in the cache as text, as far as it is known; `nil` until the cache answers.
  package var countText: String? {
    switch preview {
    case nil: return nil
    case .failure: return "the cache cannot be asked"
    case .success(let preview):
      if preview.query.isDocumentQuery { return preview.count == 0 ? "not in the cache" : "in the cache" }
      guard let count = preview.count else { return "too many in the cache to count" }
      let isLimited = preview.query.limit == count
      return "\(grouped(count)) \(count == 1 ? "matches" : "match") in the cache\(isLimited ? " (limit)" : "")"
    }
  }
}
