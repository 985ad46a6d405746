// SPDX-License-Identifier: Apache-2.0
package import ClientPort
package import FirestoreModel
package import FirestoreQuery
import FirestoreText

/// The progress and the results of a search through a whole collection. Filters that a query cannot express need such a
/// search.
package struct CollectionSearch: Sendable {
  /// The maximum count of stored matches. Further matches are only counted.
  package static let mostKept = 2000

  package enum End: Hashable, Sendable {
    case done
    case stopped
    case failed(RPCStatus)
  }

  package let tag: WindowTag
  /// The count of documents read.
  package private(set) var looked = 0
  /// The count of documents that match.
  package private(set) var found = 0
  package private(set) var isFromCache = false
  /// The reason why the search ended; `nil` while it runs.
  package private(set) var end: End?

  package init(_ tag: WindowTag) { self.tag = tag }

  package var isRunning: Bool { end == nil }
  /// Whether every document was read.
  package var isComplete: Bool { end == .done }

  package mutating func take(_ news: SearchUpdate) {
    guard isRunning else { return }
    (looked, found, isFromCache) = (news.looked, news.found, news.isFromCache)
    if news.isDone { end = .done }
  }

  package mutating func stop() { if isRunning { end = .stopped } }
  package mutating func fail(_ status: RPCStatus) { if isRunning { end = .failed(status) } }

  /// Adjusts the count of matches if a document starts or stops matching after it was read.
  package mutating func adjust(by step: Int) { found = max(0, found + step) }
}

/// A running search. It reads pages of documents from the server or from the cache.
package struct SearchRun: Sendable {
  package let request: SearchRequest
  private let filter: BrowserFilter?
  private var looked = 0
  private var found = 0
  private var kept = 0

  /// - Throws: `invalid-argument` for a filter with an error.
  package init(_ request: SearchRequest) throws(RPCStatus) {
    self.request = request
    do throws(TextError) { filter = BrowserFilter(try RowFilter(request.filter, in: request.database)) } catch {
      throw RPCStatus(.invalidArgument, error.description)
    }
  }

  /// The query for the first page, or for the page after a document.
  package func page(after last: DocumentKey?, limit: Int) -> Query {
    var query = request.query
    query.limit = limit
    query.limitType = .first
    guard let last else { return query }
    query.start = Bound(values: [.reference(request.database, last)], isInclusive: false)
    return query
  }

  /// Searches the documents of a page.
  /// - Parameters:
  ///   - page: the documents of the page as listeners see them.
  ///   - count: the count of documents that were read for the page.
  ///   - isLast: whether this is the last page.
  package mutating func look(
    at page: [Document], of count: Int, isLast: Bool, isFromCache: Bool
  ) -> SearchUpdate {
    let hits = page.filter { filter?.passes($0) ?? true }
    looked += count
    found += hits.count
    let told = hits.prefix(max(0, CollectionSearch.mostKept - kept))
    kept += told.count
    return SearchUpdate(hits: Array(told), looked: looked, found: found, isDone: isLast, isFromCache: isFromCache)
  }
}

/// Searching through whole collections.
extension Browser {
  /// Starts a search through a collection. The shown documents are removed.
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
    return effects + [.client(.search(tag, SearchRequest(query, filter.text, in: database)))]
  }

  /// Adds the results of a search. Selects the first document as soon as it arrives.
  package mutating func take(_ news: SearchUpdate, of tag: WindowTag) {
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

  /// Stops the search of a collection. The results remain.
  /// - Returns: the effects; none if no search is running.
  package mutating func stopSearch(of path: ResourcePath) -> [Effect] {
    guard let search = windows[path]?.search, search.isRunning else { return [] }
    windows[path]?.search?.stop()
    return [.client(.closeWindow(search.tag))]
  }

  /// Updates the matches with the changes that listeners report.
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
    // A running search may still reach the document.
    case (nil, true) where window.search?.isComplete == true && window.search?.found ?? 0 < CollectionSearch.mostKept:
      windows[path]?.loaded.append(document)
      windows[path]?.search?.adjust(by: 1)
    case (nil, _): break
    }
  }

  func searchedPath(_ tag: WindowTag) -> ResourcePath? { windows.first { $1.search?.tag == tag }?.key }
}
