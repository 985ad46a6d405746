// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
package import FirestoreQuery

/// The search through a whole collection for documents that no query can ask for: how far it is, and what it has found.
package struct CollectionSearch: Sendable {
  /// The number of found documents that are kept; more are only counted.
  package static let mostKept = 2000

  package enum End: Hashable, Sendable {
    case done
    case stopped
    case failed(RPCStatus)
  }

  package let tag: WindowTag
  /// The number of documents that were looked at.
  package private(set) var looked = 0
  /// The number of documents that pass.
  package private(set) var found = 0
  package private(set) var isFromCache = false
  /// The end of the search; `nil` while it goes on.
  package private(set) var end: End?

  package init(_ tag: WindowTag) { self.tag = tag }

  package var isRunning: Bool { end == nil }
  /// Whether every document was looked at.
  package var isComplete: Bool { end == .done }

  package mutating func take(_ news: SearchNews) {
    guard isRunning else { return }
    (looked, found, isFromCache) = (news.looked, news.found, news.isFromCache)
    if news.isDone { end = .done }
  }

  package mutating func stop() { if isRunning { end = .stopped } }
  package mutating func fail(_ status: RPCStatus) { if isRunning { end = .failed(status) } }

  /// Takes account of a document that came to pass, or passes no more, after it was looked at.
  package mutating func adjust(by step: Int) { found = max(0, found + step) }
}

/// The next part of a search.
package struct SearchNews: Codable, Sendable {
  /// The documents that were found since the last news, as far as they are kept.
  package var hits: [Document]
  /// The number of documents that were looked at, and found, since the beginning.
  package var looked: Int
  package var found: Int
  package var isDone: Bool
  package var isFromCache: Bool

  package init(hits: [Document], looked: Int, found: Int, isDone: Bool, isFromCache: Bool) {
    (self.hits, self.looked, self.found) = (hits, looked, found)
    (self.isDone, self.isFromCache) = (isDone, isFromCache)
  }
}

/// The query that bounds a search, and the filter that each document is checked with.
package struct SearchRequest: Hashable, Sendable {
  package var query: Query
  package var filter: BrowserFilter
  /// The database of the documents.
  package var database: DatabaseID

  package init(_ query: Query, _ filter: BrowserFilter, in database: DatabaseID) {
    (self.query, self.filter, self.database) = (query, filter, database)
  }
}

/// A search as it goes on, page by page. The pages come from a server or a cache.
package struct SearchRun: Sendable {
  package let request: SearchRequest
  private var looked = 0
  private var found = 0
  private var kept = 0

  package init(_ request: SearchRequest) { self.request = request }

  /// The query for the first page, or the one behind a document.
  package func page(after last: DocumentKey?, limit: Int) -> Query {
    var query = request.query
    query.limit = limit
    query.limitType = .first
    guard let last else { return query }
    query.start = Bound(values: [.reference(request.database, last)], isInclusive: false)
    return query
  }

  /// Looks at a page.
  /// - Parameters:
  ///   - page: the documents of the page as the client sees them.
  ///   - count: the number of documents that were read for it.
  ///   - isLast: whether no page follows.
  package mutating func look(
    at page: [Document], of count: Int, isLast: Bool, isFromCache: Bool
  ) -> SearchNews {
    let hits = page.filter(request.filter.passes)
    looked += count
    found += hits.count
    let told = hits.prefix(max(0, CollectionSearch.mostKept - kept))
    kept += told.count
    return SearchNews(hits: Array(told), looked: looked, found: found, isDone: isLast, isFromCache: isFromCache)
  }
}
