// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
package import FirestoreModel
package import FirestoreQuery

/// The part of a collection that the browser holds: about two screens of documents in the order of their names. Moving
/// past its edge opens another window, so a collection of a million documents costs as much as one of fifty.
package struct CollectionWindow: Sendable {
  /// The place of a window in its collection.
  package enum Place: Hashable, Sendable {
    case start
    case end
    /// A window that begins with this document.
    case from(DocumentKey)
    /// A window that ends with this document.
    case until(DocumentKey)
  }

  /// The row to which the cursor goes when a window has arrived.
  package enum Landing: Hashable, Sendable {
    case stay
    case after(DocumentKey)
    case before(DocumentKey)
    case first
    case last
    /// The row at this index from the window's first document.
    case at(Int)
  }

  package struct Request: Sendable {
    package var tag: WindowTag
    package var place: Place
    package var limit: Int
    package var landing: Landing
    /// The number of documents before the window, if it was asked for.
    package var offset: Int?
  }

  package var path: ResourcePath
  package var filter: BrowserFilter? { didSet { sift() } }
  /// The filter that is being typed: it applies to loaded documents, and no query is sent.
  package var preview: RowFilter? { didSet { sift() } }
  /// The window whose documents are shown; `nil` until the first has arrived.
  package var shown: Request?
  /// The window that was asked for last and has not arrived.
  package var requested: Request?
  /// The documents that the window's query has found.
  package var loaded: [Document] = [] { didSet { sift() } }
  /// The loaded documents that pass the filters, and are shown.
  package private(set) var documents: [Document] = []
  package var isFromCache = true
  /// The number of documents in the whole collection.
  package var total: Int?
  package var failure: RPCStatus?
  /// The number of documents before the window; `nil` where it is not known.
  package var offset: Int? = 0

  package init(path: ResourcePath) { self.path = path }

  package var isLoading: Bool { requested != nil }

  private mutating func sift() {
    documents = loaded
    if let filter, filter.searches { documents = documents.filter(filter.passes) }
    if let preview { documents = documents.filter { preview.matches($0.rowText, in: [$0]) } }
  }

  /// The number of documents that pass the filter, as far as they were searched.
  package var found: (count: Int, isAll: Bool)? {
    guard let filter, shown != nil, let offset else { return nil }
    return (documents.count + (filter.searches ? 0 : offset), !hasAfter && (offset == 0 || !filter.searches))
  }

  package var hasBefore: Bool {
    guard let shown else { return false }
    switch shown.place {
    case .start: return false
    case .from: return true
    case .end, .until: return loaded.count >= shown.limit
    }
  }

  package var hasAfter: Bool {
    guard let shown else { return false }
    switch shown.place {
    case .end: return false
    case .until: return true
    case .start, .from: return loaded.count >= shown.limit
    }
  }

  /// Whether the window shows every document of the collection.
  package var isWhole: Bool { shown != nil && filter == nil && failure == nil && !hasBefore && !hasAfter }

  /// The query that reads exactly one window.
  package static func query(
    _ path: ResourcePath, filter: BrowserFilter?, at place: Place, limit: Int, in database: DatabaseID
  ) -> Query {
    func bound(_ id: String) -> Bound {
      Bound(values: [.reference(database, DocumentKey(unchecked: path.appending(id)))], isInclusive: true)
    }
    var query = Query(
      path: path, filters: filter?.filters ?? [], explicitOrderBy: [OrderBy(.documentID)], limit: max(1, limit))
    if let prefix = filter?.prefix, !prefix.isEmpty {
      query.start = bound(prefix)
      // Every id with the prefix sorts before the prefix followed by the last code point.
      query.end = bound(prefix + "\u{10FFFF}")
    }
    switch place {
    case .start: break
    case .end: query.limitType = .last
    case .from(let key): query.start = bound(key.documentID)
    case .until(let key):
      query.end = bound(key.documentID)
      query.limitType = .last
    }
    return query
  }
}

extension Browser {
  /// The largest collection that is counted from the cache, which reads it; larger ones wait for the server.
  static let largestCountedOffline = 10_000

  /// Notes that documents came or went, so that the collection is counted again, once a second at most.
  package mutating func noteChange(in path: ResourcePath, at now: Timestamp) {
    guard windows[path]?.total != nil, recounts[path] == nil else { return }
    recounts[path] = now.advanced(seconds: 1)
  }

  package var nextCount: Timestamp? { recounts.values.min() }

  /// The collections to be counted now.
  package mutating func takeDueCounts(at now: Timestamp, isOffline: Bool) -> [Effect] {
    let due = recounts.filter { $0.value <= now }.keys.sorted()
    for path in due { recounts[path] = nil }
    return due.filter { !isOffline || windows[$0]?.total ?? 0 <= Self.largestCountedOffline }.map {
      .client(.count($0))
    }
  }
}

extension ListenerRecord {
  /// Whether the last snapshot has all documents of a collection, as far as the client can tell now.
  package func isExact(whileOffline isOffline: Bool) -> Bool {
    failure == nil && query.matchesAllDocuments && query.collectionGroup == nil && !query.path.isDocument
      && (!isFromCache || isOffline)
  }
}
