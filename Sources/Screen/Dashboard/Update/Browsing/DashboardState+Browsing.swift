// SPDX-License-Identifier: Apache-2.0
import ClientPort
package import DashboardModel
import FirestoreClientState
package import FirestoreModel
import FirestoreQuery
import TerminalCanvas

extension DashboardState {
  mutating func expand(_ path: ResourcePath) -> [Effect] {
    browser.expand(path, limit: windowLimit, in: configuration.database)
  }

  mutating func openWindow(
    of path: ResourcePath, at place: CollectionWindow.Place, landing: CollectionWindow.Landing = .stay
  ) -> [Effect] {
    browser.open(path, at: place, landing: landing, limit: windowLimit, in: configuration.database)
  }

  mutating func fold() -> [Effect] {
    guard browser.result == nil, let item = browser.cursor.id else { return [] }
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
    guard browser.result == nil else { return [] }
    switch browser.cursor.id {
    case .collection(let path):
      if browser.expanded.contains(path) { return move(by: 1, in: .collections) }
      return expand(path)
    case .document(let key):
      if browser.expanded.contains(key.path) { return move(by: 1, in: .collections) }
      return expand(key.path)
    case .field, .before, .after, .note, nil: return []
    }
  }

  mutating func foldAll() -> [Effect] { (browser.roots ?? []).flatMap { browser.collapse(ResourcePath($0)) } }

  mutating func unfoldAll() -> [Effect] {
    (browser.roots ?? []).flatMap { expand(ResourcePath($0)) }
  }

  /// Folds or unfolds the selected field of the open document. If there is nothing to fold, selects the parent field.
  mutating func foldDetail(isOpen wanted: Bool) {
    guard var detail, case .field(let line)? = selectedLine?.content else { return }
    if let isOpen = line.isOpen, isOpen != wanted {
      detail.toggled.formSymmetricDifference([line.path])
    } else if !wanted, line.path.count > 1 {
      detail.cursor.select(["field"] + line.path.dropLast())
    }
    self.detail = detail
  }

  /// Handles `enter`: unfolds a collection, opens a document or loads more documents.
  mutating func openSelected() -> [Effect] {
    switch focus {
    case .collections:
      switch selectedItem {
      case .collection(let path):
        return browser.expanded.contains(path) ? browser.collapse(path) : expand(path)
      case .before, .after: return move(by: 0, in: .collections)
      case .document(let key), .field(let key, _): return openDetail(key)
      case .note(let path):
        return openWindow(of: path, at: .start)
      case nil: return []
      }
    case .detail:
      if case .version(let version)? = selectedLine?.content, detail?.tab == .history {
        return openDifference(version.id, of: version.key)
      }
      guard case .field(let line)? = selectedLine?.content else { return [] }
      if case .reference(_, let key)? = line.local ?? line.server { return openDetail(key) }
      guard line.isOpen != nil else {
        let effects = run("edit-fields")
        return effects + typeField()
      }
      detail?.toggled.formSymmetricDifference([line.path])
      return []
    case .writes:
      guard let row = writes.selected else { return [] }
      openWrite(row)
      return []
    case .feed where showsRequests:
      openRequest()
      return []
    case .feed: return openFeedRow()
    case .network: return [.client(.setNetwork(enabled: !network.isNetworkEnabled))]
    }
  }

  /// Opens the document of a feed row, and shows the change or the conflict that the row reports.
  private mutating func openFeedRow() -> [Effect] {
    guard let row = feed.selected else { return [] }
    if let write = row.ends.flatMap(knownWrite), write.isRejected {
      openWrite(write)
      return []
    }
    if let reconnection = outages.reconnection(of: row) {
      if feed.onlySpan == nil {
        showOnly(reconnection)
        return []
      }
      let account = Decision(
        reconnection, clock: clock(of: reconnection), bullet: configuration.glyphs.bullet)
      overlay = .list(ListOverlay(content: .decision(account)))
    }
    guard let key = row.key else {
      // A row about a whole listener opens its result.
      if let tag = row.listener, listening[tag] != nil { showResult(of: tag) }
      return []
    }
    guard row.kind == .conflict else { return locate(key) + openDifference(row.version, of: key) }
    let effects = goTo(key)
    detail?.tab = .overlay
    detail?.cursor = Cursor()
    return effects
  }

  /// Opens a document in pane 0. Closes the document that was open before.
  package mutating func openDetail(_ key: DocumentKey) -> [Effect] {
    focus = .detail
    if detail?.key == key { return [] }
    let old = detail?.key
    // The known document is shown until the layers arrive.
    let known = document(key)
    detail = Detail(key)
    detail?.local = known
    return (old.map { [.client(.closeDetail($0))] } ?? []) + [.client(.openDetail(key))]
  }

  /// Opens a document, and moves the cursor of pane 1 to it.
  mutating func goTo(_ key: DocumentKey) -> [Effect] {
    let effects = locate(key)
    return effects + openDetail(key)
  }

  /// Selects a document in pane 1. In the tree, this also unfolds the document's ancestors.
  mutating func locate(_ key: DocumentKey) -> [Effect] {
    if resultDocuments?[key] != nil { browser.result?.cursor.select(key) }
    if browser.rows.contains(where: { $0.item == .document(key) }) {
      browser.cursor.select(.document(key))
      return []
    }
    // An earlier moment sends no requests; it shows the recorded contents.
    guard past == nil else { return [] }
    let root = key.path.root
    browser.visited = browser.isRoot(root) ? nil : root
    return browser.go(to: key, limit: windowLimit, in: configuration.database)
  }

  /// Opens and selects a collection in pane 1.
  mutating func openCollection(_ path: ResourcePath) -> [Effect] {
    focus = .collections
    closeResult()
    browser.destination = nil
    // A visited collection is shown even if it is not listed as one of the database.
    browser.visited = browser.isRoot(path) ? nil : path
    let effects = expand(path)
    browser.cursor.select(.collection(path))
    return effects
  }
}

extension ResourcePath {
  /// The root collection that contains the path.
  fileprivate var root: ResourcePath { ResourcePath(segments.first.map(String.init) ?? "") }
}
