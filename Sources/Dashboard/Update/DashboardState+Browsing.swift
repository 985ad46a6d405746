// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreQuery

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

  /// The collection that the selection of pane 1 lies in, or is.
  var selectedCollection: ResourcePath? {
    switch browser.cursor.id {
    case .collection(let path), .before(let path), .after(let path), .note(let path): path
    case .document(let key), .field(let key, _): key.collection
    case nil: nil
    }
  }

  /// The document that commands mean, whichever pane has the focus.
  var selectedKey: DocumentKey? { selectedKey(in: focus) }

  func selectedKey(in pane: Pane) -> DocumentKey? {
    switch pane {
    case .detail: return detail?.key
    case .writes: return writes.selected?.documents.first
    case .feed: return feed.selected?.key
    case .network: return nil
    case .collections:
      switch browser.cursor.id {
      case .document(let key), .field(let key, _): return key
      default: return nil
      }
    }
  }

  /// What is known of a document: the open detail, a browser window, or the feed.
  func document(_ key: DocumentKey) -> Document? {
    if let detail, detail.key == key, let local = detail.local { return local }
    return browser.document(key) ?? feed.rows.last { $0.key == key }?.document
  }

  /// The collection around the selection, if it is filtered.
  var filteredCollection: ResourcePath? {
    if let path = selectedCollection, browser.windows[path]?.filter != nil { return path }
    return nil
  }

  mutating func fold() -> [Effect] {
    guard let item = browser.cursor.id else { return [] }
    switch item {
    case .collection(let path):
      if browser.expanded.contains(path) { return browser.collapse(path) }
      if let parent = DocumentKey(path.parent) { browser.cursor.select(.document(parent)) }
    case .document(let key):
      if browser.expanded.contains(key.path) { return browser.collapse(key.path) }
      browser.cursor.select(.collection(key.collection))
    case .field(let key, _): browser.cursor.select(.document(key))
    case .before(let path), .after(let path), .note(let path): browser.cursor.select(.collection(path))
    }
    return []
  }

  mutating func unfold() -> [Effect] {
    switch browser.cursor.id {
    case .collection(let path):
      if browser.expanded.contains(path) { return move(by: 1, in: .collections) }
      return browser.expand(path, limit: windowLimit, in: configuration.database)
    case .document(let key):
      if browser.expanded.contains(key.path) { return move(by: 1, in: .collections) }
      return browser.expand(key.path, limit: windowLimit, in: configuration.database)
    case .field, .before, .after, .note, nil: return []
    }
  }

  mutating func foldAll() -> [Effect] { (browser.roots ?? []).flatMap { browser.collapse(ResourcePath($0)) } }

  mutating func unfoldAll() -> [Effect] {
    (browser.roots ?? []).flatMap {
      browser.expand(ResourcePath($0), limit: windowLimit, in: configuration.database)
    }
  }

  /// Folds or unfolds the selected field of the open document, or goes to the field around it.
  mutating func foldDetail(isOpen wanted: Bool) {
    guard var detail, let id = detail.cursor.id else { return }
    let lines = DetailContent.lines(of: detail, in: self)
    guard case .field(let line)? = lines.first(where: { $0.id == id })?.content else { return }
    if let isOpen = line.isOpen, isOpen != wanted {
      detail.toggled.formSymmetricDifference([line.path])
    } else if !wanted, line.path.count > 1 {
      detail.cursor.select(["field"] + line.path.dropLast())
    }
    self.detail = detail
  }

  /// `enter`: unfolds collections, opens documents, loads more.
  mutating func openSelected() -> [Effect] {
    switch focus {
    case .collections:
      switch browser.cursor.id {
      case .collection(let path):
        return browser.expanded.contains(path)
          ? browser.collapse(path) : browser.expand(path, limit: windowLimit, in: configuration.database)
      case .before, .after: return move(by: 0, in: .collections)
      case .document(let key), .field(let key, _): return openDetail(key)
      case .note(let path):
        return browser.open(path, at: .start, landing: .stay, limit: windowLimit, in: configuration.database)
      case nil: return []
      }
    case .detail:
      guard let detail, let id = detail.cursor.id else { return [] }
      let content = DetailContent.lines(of: detail, in: self).first { $0.id == id }?.content
      if case .field(let line)? = content {
        if case .reference(_, let key)? = line.local ?? line.server { return openDetail(key) }
        if line.isOpen != nil { self.detail?.toggled.formSymmetricDifference([line.path]) }
      }
      return []
    case .writes, .feed: return selectedKey.map { openDetail($0) } ?? []
    case .network: return [.client(.setNetwork(enabled: !network.isNetworkEnabled))]
    }
  }

  mutating func openDetail(_ key: DocumentKey) -> [Effect] {
    focus = .detail
    if detail?.key == key { return [] }
    let old = detail?.key
    detail = Detail(key)
    // What a window or the feed already knows is shown until the layers arrive.
    detail?.local = browser.document(key) ?? feed.rows.last { $0.key == key }?.document
    return (old.map { [.client(.closeDetail($0))] } ?? []) + [.client(.openDetail(key))]
  }

  /// Goes to a collection in pane 1, opening it.
  mutating func openCollection(_ path: ResourcePath) -> [Effect] {
    focus = .collections
    if browser.roots == nil { browser.roots = [] }
    if path.count == 1, browser.roots?.contains(where: { $0.equalsUTF8(path.text) }) == false {
      browser.roots?.append(path.text)
    }
    let effects = browser.expand(path, limit: windowLimit, in: configuration.database)
    browser.cursor.select(.collection(path))
    return effects
  }
}
