// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
import FirestoreQuery

/// Searches through whole collections.
extension Browser {
  /// Begins to look through a collection; what was shown goes.
  mutating func beginSearch(
    _ filter: BrowserFilter, of path: ResourcePath, _ closed: [Effect], in database: DatabaseID
  ) -> [Effect] {
    let tag = takeTag()
    var window = windows[path] ?? CollectionWindow(path: path)
    var effects = closed
    if let shown = window.shown { effects.append(.client(.closeWindow(shown.tag))) }
    var query = CollectionWindow.query(path, filter: filter, at: .start, limit: 1, in: database)
    query.limit = nil
    window.begin(CollectionSearch(tag))
    windows[path] = window
    return effects + [.client(.search(tag, SearchRequest(query, filter, in: database)))]
  }

  /// Takes what a search has found. The first document is selected at once.
  package mutating func take(_ news: SearchNews, of tag: WindowTag) {
    guard let path = searchedPath(tag), windows[path]?.search?.isRunning == true else { return }
    let isFirst = windows[path]?.loaded.isEmpty == true
    windows[path]?.search?.take(news)
    windows[path]?.isFromCache = news.isFromCache
    if !news.hits.isEmpty { windows[path]?.loaded += news.hits }
    noteContents(news.hits, in: path)
    guard isFirst, let first = windows[path]?.documents.first else { return }
    switch cursor.id {
    case .collection(path), .note(path), nil: cursor.select(.document(first.key))
    default: break
    }
  }

  /// Stops the search of a collection; what was found stays.
  /// - Returns: the effects; none if no search goes on.
  package mutating func stopSearch(of path: ResourcePath) -> [Effect] {
    guard let search = windows[path]?.search, search.isRunning else { return [] }
    windows[path]?.search?.stop()
    return [.client(.closeWindow(search.tag))]
  }

  /// Keeps the found documents as listeners tell them.
  package mutating func refreshHits(_ changes: [ListenerSnapshot.Change]) {
    let searched = windows.filter { $1.search != nil }
    guard !searched.isEmpty else { return }
    for (path, window) in searched {
      for change in changes where change.document.key.collection == path { refreshHit(change.after, in: window, path) }
    }
  }

  private mutating func refreshHit(_ document: Document, in window: CollectionWindow, _ path: ResourcePath) {
    let passes = document.exists && window.filter?.passesAll(document) == true
    let index = windows[path]?.loaded.firstIndex { $0.key == document.key }
    switch (index, passes) {
    case (let index?, true): windows[path]?.loaded[index] = document
    case (let index?, false):
      windows[path]?.loaded.remove(at: index)
      windows[path]?.search?.adjust(by: -1)
    // While the search goes on it may come to the document itself.
    case (nil, true) where window.search?.isComplete == true && window.search?.found ?? 0 < CollectionSearch.mostKept:
      windows[path]?.loaded.append(document)
      windows[path]?.search?.adjust(by: 1)
    case (nil, _): break
    }
  }

  func searchedPath(_ tag: WindowTag) -> ResourcePath? { windows.first { $1.search?.tag == tag }?.key }
}
