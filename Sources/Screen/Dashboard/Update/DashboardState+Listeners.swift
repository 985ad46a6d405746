// SPDX-License-Identifier: Apache-2.0
import ClientPort
package import DashboardModel
package import FirestoreClientState
import FirestoreModel
package import FirestoreQuery

/// Opening, naming, replacing and stopping listeners.
extension DashboardState {
  /// The definitions of the listeners in order, for reopening them.
  package var listenerDefinitions: [ListenerDefinition] { listeners.map(\.definition) }

  /// Starts a listener with a unique name. A duplicate name gets a number as suffix.
  package mutating func listen(
    to query: Query, name: String, _ options: ListenerOptions = ListenerOptions(includeMetadataChanges: true)
  ) -> [Effect] {
    let listener = listening.start(ListenerDefinition(name: name, query: query, options: options))
    return [.client(.listen(listener.tag, query, options))]
  }

  /// Starts those of the given listeners that are not running.
  /// - Returns: the effects, and the names of the started listeners.
  package mutating func open(_ definitions: [ListenerDefinition]) -> (effects: [Effect], names: [String]) {
    var effects: [Effect] = []
    var names: [String] = []
    for definition in definitions {
      let isRunning = listeners.contains { $0.failure == nil && $0.definition.asks(like: definition) }
      if isRunning { continue }
      listening.removeEnded(like: definition)
      effects += listen(to: definition.query, name: definition.name, definition.options)
      if let name = listeners.last?.name { names.append(name) }
    }
    return (effects, names)
  }

  mutating func stopListening(_ tag: ListenerTag) -> [Effect] {
    guard let removed = listening.remove(tag) else { return [] }
    if feed.onlyListener == tag { feed.onlyListener = nil }
    wall.forget(tag)
    noteReconnection { $0.forget(tag) }
    toast(.info, "stopped listening to \(removed.name)")
    return [.client(.unlisten(tag))]
  }

  /// Replaces a listener. The new listener takes over the rows of the old one. If query and options are equal, only the
  /// name changes.
  mutating func replace(_ tag: ListenerTag, with definition: ListenerDefinition) -> [Effect] {
    guard let old = listening[tag] else {
      return listen(to: definition.query, name: definition.name, definition.options)
    }
    if old.failure == nil, old.definition.asks(like: definition) {
      rename(tag, to: definition.name)
      return []
    }
    guard let new = listening.replace(tag, with: definition) else { return [] }
    browser.result?.follow(tag, as: new)
    feed.reassign(tag, to: new, name: definition.name)
    wall.reassign(tag, to: new)
    noteReconnection { $0.forget(tag) }
    return [.client(.unlisten(tag)), .client(.listen(new, definition.query, definition.options))]
  }

  /// Renames a listener, also in the feed's rows.
  mutating func rename(_ tag: ListenerTag, to name: String) {
    if listening.rename(tag, to: name) { feed.reassign(tag, to: tag, name: name) }
  }

  func freeName(like name: String, besides tag: ListenerTag? = nil) -> String {
    listening.freeName(like: name, besides: tag)
  }

  /// The reason why a name is invalid for a listener; `nil` if it is valid.
  func reason(against name: String, besides tag: ListenerTag? = nil) -> String? {
    listening.isTaken(name, besides: tag) ? "name: another listener is called \(name)" : nil
  }
}

/// Implements the commands about listeners.
extension DashboardState {
  /// The listener of the selected row, or a listener that covers the selected collection.
  var selectedListener: ListenerTag? {
    if focus == .feed, let tag = selectedEvent?.listener, listeners.contains(where: { $0.tag == tag }) { return tag }
    let path = selectedKey?.collection ?? selectedCollection
    return listeners.first { listener in path.map { listener.covers($0) } ?? false }?.tag
  }

  /// Opens the list of listeners and selects the listener of the selected row.
  mutating func openListeners() {
    var list = ListOverlay(content: .listeners)
    let index = listeners.firstIndex { $0.tag == selectedListener } ?? 0
    list.cursor.select(index: index, in: listeners.indices)
    overlay = .list(list)
  }

  /// The listener under the cursor of the open list.
  var listedListener: ListenerRecord? {
    guard case .listeners? = overlay?.list?.content, let index = overlay?.list?.cursor.index,
      listeners.indices.contains(index)
    else { return nil }
    return listeners[index]
  }

  mutating func openListenerEditor(from text: String) {
    var editor = ListenerEditor()
    editor.from = TextField(text)
    overlay = .listener(editor)
  }

  /// Opens the editor for a listener. `asCopy` edits a copy of it.
  mutating func edit(_ tag: ListenerTag, asCopy: Bool = false) {
    guard let listener = listeners.first(where: { $0.tag == tag }) else { return }
    guard var editor = ListenerEditor(listener.definition, in: configuration.database) else {
      toast(.info, "the editor has no fields for parts of \(listener.name)")
      return
    }
    if asCopy {
      editor.name = TextField(listener.isNamed ? freeName(like: listener.name) : "")
    } else {
      editor.replaced = tag
      if !listener.isNamed { editor.name = TextField() }
    }
    overlay = .listener(editor)
  }

  /// Starts the listener that the editor describes, or replaces the listener that was edited.
  mutating func acceptListener() -> [Effect] {
    guard let editor = overlay?.editor, let query = validQuery(of: editor) else { return [] }
    let typed = editor.name.text.trimmed
    if !typed.isEmpty, let reason = reason(against: typed, besides: editor.replaced) {
      toast(.warning, reason)
      return []
    }
    let standard = ListenerRecord.defaultName(for: query)
    let name = typed.isEmpty ? freeName(like: standard, besides: editor.replaced) : typed
    overlay = nil
    guard let replaced = editor.replaced else { return listen(to: query, name: name, editor.options) }
    return replace(replaced, with: ListenerDefinition(name: name, query: query, options: editor.options))
  }

  /// Starts the listeners of a file and shows their names.
  mutating func receive(_ definitions: [ListenerDefinition], from file: String) -> [Effect] {
    let (effects, names) = open(definitions)
    let running = definitions.count - names.count
    if names.isEmpty, running == 0 { return [] }
    let listed = names.prefix(3).joined(separator: ", ") + (names.count > 3 ? " and \(names.count - 3) more" : "")
    let opened = names.isEmpty ? "no new listener" : "\(names.count) listener\(names.count == 1 ? "" : "s"): \(listed)"
    toast(.info, "\(file): \(opened)" + (running > 0 ? "; \(running) already open" : ""))
    return effects
  }

  /// Stops the listener under the cursor; the list stays open.
  mutating func stopListed() -> [Effect] { listedListener.map { stopListening($0.tag) } ?? [] }
}

/// The preview of a query while it is typed: its matches in the cache.
extension DashboardState {
  /// Requests a preview of the query in the open editor, unless it equals the last request.
  mutating func previewEdited() -> [Effect] {
    guard let editor = overlay?.editor else { return [] }
    // An incomplete query has a separate error message.
    let query = try? editor.query(in: configuration.database)
    guard query != editor.previewed else { return [] }
    overlay?.editor?.previewed = query
    overlay?.editor?.preview = nil
    return query.map { [.client(.preview($0))] } ?? []
  }

  /// Stores the preview, if its query is still the query in the editor.
  mutating func receive(_ preview: Result<QueryPreview, RPCStatus>, about query: Query) {
    guard overlay?.editor?.previewed == query else { return }
    overlay?.editor?.preview = preview
  }

  /// Records that documents have changed, so the count in the preview may be outdated.
  mutating func notePreviewChange() {
    guard let editor = overlay?.editor, editor.previewed != nil, editor.recountAt == nil else { return }
    let recountAt = now.advanced(seconds: 1)
    overlay?.editor?.recountAt = recountAt
  }

  /// Requests the preview again if that is due. The previous count is shown until the response.
  mutating func takeDuePreview() -> [Effect] {
    guard let editor = overlay?.editor, let due = editor.recountAt, due <= now else { return [] }
    overlay?.editor?.recountAt = nil
    return editor.previewed.map { [.client(.preview($0))] } ?? []
  }

  /// Requests the preview again after an index has become usable or was removed.
  mutating func previewAgain() -> [Effect] {
    overlay?.editor?.forgetPreview()
    return previewEdited()
  }

  /// Creates a local index for the edited query, which has none.
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

  /// The count of matches in the cache as text; `nil` until the cache has returned it.
  package var countText: String? {
    switch preview {
    case nil: return nil
    case .failure: return "the cache cannot be read"
    case .success(let preview):
      if preview.query.isDocumentQuery { return preview.count == 0 ? "not in the cache" : "in the cache" }
      guard let count = preview.count else { return "too many in the cache to count" }
      let isLimited = preview.query.limit == count
      return "\(grouped(count)) \(count == 1 ? "matches" : "match") in the cache\(isLimited ? " (limit)" : "")"
    }
  }
}

/// Listeners that the server has ended.
extension DashboardState {
  /// Records the end of a listener, with its reason.
  mutating func fail(_ tag: ListenerTag, _ status: RPCStatus) {
    guard let name = listening[tag]?.name else { return }
    listening.fail(tag, status)
    feed.append(
      FeedRow(
        time: now, kind: .failed, listener: tag, listenerName: name, summary: "listener ended: \(status.lineText)"))
    toast(.error, "\(name): \(status.lineText)")
  }
}
