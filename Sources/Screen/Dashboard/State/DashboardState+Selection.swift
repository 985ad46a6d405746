// SPDX-License-Identifier: Apache-2.0
import DashboardModel
import FirestoreClientState
package import FirestoreModel
import FirestoreQuery

extension Query {
  /// The collection of the query; `nil` for a collection group query.
  fileprivate var listedCollection: ResourcePath? {
    if collectionGroup != nil || path.isRoot { return nil }
    return path.isDocument ? path.parent : path
  }
}

/// The selection in the focused pane, on which commands act.
extension DashboardState {
  /// The key contexts while no overlay is open.
  var screenContexts: [KeyContext] {
    let timeline: [KeyContext] = past.map { $0.isReplay ? [.replay] : [.past] } ?? []
    return timeline + (isInScenario ? [.scenario] : []) + [
      focus == .feed && showsRequests ? .requests : .pane(focus), .screen, .always,
    ]
  }

  var contexts: [KeyContext] { overlay.map { [.overlay($0.kind), .always] } ?? screenContexts }

  /// The query of the focused pane's selection: the selected collection with its filter, the selected row's listener,
  /// or the open document.
  var selectedQuery: Query? {
    switch focus {
    case .collections:
      if let result = browser.result { return result.query }
      guard let path = selectedCollection else { return nil }
      return Query(path: path, filters: browser.windows[path]?.filter?.filters ?? [])
    case .feed: return listeners.first { $0.tag == selectedEvent?.listener }?.query
    case .detail: return detail.map { Query(path: $0.key.path) }
    case .writes, .network: return nil
    }
  }

  /// The selected collection in pane 1, or the collection that contains the selection.
  package var selectedCollection: ResourcePath? {
    if let result = browser.result, result.cursor.id == nil { return result.query.listedCollection }
    return switch selectedItem {
    case .collection(let path), .before(let path), .after(let path), .note(let path): path
    case .document(let key), .field(let key, _): key.collection
    case nil: nil
    }
  }

  /// The document that commands of the focused pane act on.
  var selectedKey: DocumentKey? { selectedKey(in: focus) }

  func selectedKey(in pane: Pane) -> DocumentKey? {
    switch pane {
    case .detail: return detail?.key
    case .writes: return writes.selected?.documents.first
    case .feed: return showsRequests ? requests.selected.flatMap { DocumentKey($0.path) } : feed.selected?.key
    case .network: return nil
    case .collections:
      switch selectedItem {
      case .document(let key), .field(let key, _): return key
      default: return nil
      }
    }
  }

  /// The selected row of the feed, if pane 4 shows the events.
  var selectedEvent: FeedRow? { showsRequests ? nil : feed.selected }

  /// The known version of a document. It comes from the open document, from its last reported version, or from the tree
  /// in pane 1.
  func document(_ key: DocumentKey) -> Document? {
    if let detail, detail.key == key, let local = detail.local { return local }
    return versions.newest(of: key)?.document ?? browser.document(key) ?? resultDocuments?[key]
  }

  /// The collection that contains the selection, if it is filtered.
  var filteredCollection: ResourcePath? {
    if browser.result == nil, let path = selectedCollection, browser.windows[path]?.filter != nil { return path }
    return nil
  }

  /// The selected field and its value.
  var selectedField: (key: DocumentKey, path: FieldPath, value: Value)? {
    if focus == .collections, case .field(let key, let name)? = selectedItem,
      let value = browser.document(key)?.data?[FieldPath(name)]
    {
      return (key, FieldPath(name), value)
    }
    guard focus == .detail, let detail, case .field(let line)? = selectedLine?.content,
      let value = line.local ?? line.server
    else { return nil }
    return (detail.key, FieldPath(segments: line.path), value)
  }

  /// The document in pane 0: the open document, or, next to a wide tree, the document under the tree's cursor.
  package var shownDetail: Detail? {
    if let detail { return detail }
    guard layout(size).isWide, let key = selectedKey(in: .collections) else { return nil }
    var preview = Detail(key)
    preview.isPreview = true
    preview.local = browser.document(key) ?? resultDocuments?[key]
    return preview
  }

  /// The lines of the open document.
  var detailLines: [DetailContent.Line] { detail.map { DetailContent.lines(of: $0, in: self) } ?? [] }

  var selectedLine: DetailContent.Line? {
    guard let cursor = detail?.cursor, let id = cursor.id else { return nil }
    let lines = detailLines
    if lines.indices.contains(cursor.index), lines[cursor.index].id == id { return lines[cursor.index] }
    return lines.first { $0.id == id }
  }

  /// The count of the open document's lines that match the search, and the count of all its lines.
  package var matchCount: (matching: Int, all: Int) {
    guard let detail else { return (0, 0) }
    let lines = detailLines
    return (lines.count { $0.matches(detail.search) }, lines.count)
  }

  /// Whether `space` in a pane would stop a listener instead of starting one.
  func isListeningToSelection(in pane: Pane) -> Bool {
    guard let path = selectedKey(in: pane)?.path ?? (pane == .collections ? selectedCollection : nil) else {
      return false
    }
    return listeners.contains { listener in
      listener.failure == nil && listener.query.path == path && listener.query.collectionGroup == nil
        && listener.query.filters.isEmpty
    }
  }
}

/// The reasons why commands are unavailable; `nil` for an available command.
extension DashboardState {
  var reasonAgainstEditing: String? {
    guard let key = selectedKey else { return "no document is selected" }
    return document(key)?.exists == true ? nil : "its content is not known"
  }

  var reasonAgainstDeleting: String? {
    if rowRange(in: focus) != nil { return rangeCount == 0 ? "no document is in the range" : nil }
    return selectedKey == nil ? "no document is selected" : nil
  }

  var reasonAgainstFilterLikeThis: String? { selectedField == nil ? "no field is selected" : nil }

  var reasonAgainstMatching: String? {
    detail?.search.isEmpty != false ? "there is no search: / starts one" : nil
  }

  var reasonAgainstMarking: String? {
    writes.selected.map { $0.isFinished && !$0.isRejected } ?? true ? "no write is pending" : nil
  }

  var reasonAgainstRetrying: String? {
    if !network.isNetworkEnabled { return "you are offline: o goes online" }
    return nextAttempt == nil ? "no retry is scheduled" : nil
  }

  var reasonAgainstFilter: String? {
    switch focus {
    case .feed, .writes, .detail: nil
    case .collections:
      browser.result != nil
        ? "a result shows its whole query: esc returns to the tree"
        : selectedCollection == nil ? "no collection is selected" : nil
    case .network: "this pane has no filter"
    }
  }

  var reasonAgainstCopying: String? {
    if selectedKey != nil { return nil }
    if focus == .collections, selectedCollection != nil { return nil }
    if focus == .feed, showsRequests ? requests.selected != nil : feed.selected != nil { return nil }
    return "nothing is selected"
  }

  var reasonAgainstCancelling: String? {
    guard let selected = writes.selected else { return "no write is pending" }
    if !writes.marked.isEmpty { return nil }
    if rowRange(in: .writes) != nil {
      let canGo = writes.chosen.contains { $0.isRejected || !$0.isFinished && $0.write.state != .inFlight }
      return canGo ? nil : "every write of the range is in flight or acknowledged"
    }
    if case .acknowledged = selected.outcome { return "\(selected.batch) is acknowledged" }
    let isInFlight = !selected.isFinished && selected.write.state == .inFlight
    return isInFlight ? "\(selected.batch) is in flight: it may already have been applied" : nil
  }
}
