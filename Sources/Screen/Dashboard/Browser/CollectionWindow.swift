// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreModel
import FirestoreQuery

/// The part of a collection that the browser holds: about two screens of documents in the order of their names. Moving
/// past its edge opens another window, so a collection of a million documents costs as much as one of fifty.
struct CollectionWindow: Sendable {
  /// The place of a window in its collection.
  enum Place: Hashable, Sendable {
    case start
    case end
    /// A window that begins with this document.
    case from(DocumentKey)
    /// A window that ends with this document.
    case until(DocumentKey)
  }

  /// The row to which the cursor goes when a window has arrived.
  enum Landing: Hashable, Sendable {
    case stay
    case after(DocumentKey)
    case before(DocumentKey)
    case first
    case last
    /// The row at this index from the window's first document.
    case at(Int)
  }

  struct Request: Sendable {
    var tag: WindowTag
    var place: Place
    var limit: Int
    var landing: Landing
    /// The number of documents before the window, if it was asked for.
    var offset: Int?
  }

  var path: ResourcePath
  var filter: BrowserFilter? { didSet { sift() } }
  /// The filter that is being typed: it applies to loaded documents, and no query is sent.
  var preview: RowFilter? { didSet { sift() } }
  /// The window whose documents are shown; `nil` until the first has arrived.
  var shown: Request?
  /// The window that was asked for last and has not arrived.
  var requested: Request?
  /// The documents that the window's query has found.
  var loaded: [Document] = [] { didSet { sift() } }
  /// The loaded documents that pass the filters, and are shown.
  private(set) var documents: [Document] = []
  var isFromCache = true
  /// The number of documents in the whole collection.
  var total: Int?
  var failure: RPCStatus?
  /// The number of documents before the window; `nil` where it is not known.
  var offset: Int? = 0

  init(path: ResourcePath) { self.path = path }

  var isLoading: Bool { requested != nil }

  private mutating func sift() {
    documents = loaded
    if let filter, filter.searches { documents = documents.filter(filter.passes) }
    if let preview { documents = documents.filter { preview.matches($0.rowText, in: [$0]) } }
  }

  /// The number of documents that pass the filter, as far as they were searched.
  var found: (count: Int, isAll: Bool)? {
    guard let filter, shown != nil, let offset else { return nil }
    return (documents.count + (filter.searches ? 0 : offset), !hasAfter && (offset == 0 || !filter.searches))
  }

  var hasBefore: Bool {
    guard let shown else { return false }
    switch shown.place {
    case .start: return false
    case .from: return true
    case .end, .until: return loaded.count >= shown.limit
    }
  }

  var hasAfter: Bool {
    guard let shown else { return false }
    switch shown.place {
    case .end: return false
    case .until: return true
    case .start, .from: return loaded.count >= shown.limit
    }
  }

  /// Whether the window shows every document of the collection.
  var isWhole: Bool { shown != nil && filter == nil && failure == nil && !hasBefore && !hasAfter }

  /// The query that reads exactly one window.
  static func query(
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
  mutating func noteChange(in path: ResourcePath, at now: Timestamp) {
    guard windows[path]?.total != nil, recounts[path] == nil else { return }
    recounts[path] = now.advanced(seconds: 1)
  }

  var nextCount: Timestamp? { recounts.values.min() }

  /// The collections to be counted now.
  mutating func takeDueCounts(at now: Timestamp, isOffline: Bool) -> [Effect] {
    let due = recounts.filter { $0.value <= now }.keys.sorted()
    for path in due { recounts[path] = nil }
    return due.filter { !isOffline || windows[$0]?.total ?? 0 <= Self.largestCountedOffline }.map {
      .client(.count($0))
    }
  }
}

extension DashboardState {
  /// Takes the number of documents from a snapshot of the whole collection; any other snapshot only tells that it has
  /// changed.
  mutating func noteCount(of listener: ListenerRecord, _ snapshot: ListenerSnapshot) {
    if listener.isExact(whileOffline: network.isOffline) {
      browser.windows[listener.query.path]?.total = snapshot.count
      browser.recounts[listener.query.path] = nil
      return
    }
    for change in snapshot.changes where change.kind != .modified {
      browser.noteChange(in: change.document.key.collection, at: now)
    }
  }

  /// Takes a count from elsewhere, unless a listener or a window shows the whole collection: unlike a server's count
  /// these include the pending writes.
  mutating func receive(count: Int, of path: ResourcePath) {
    let listener = listenerThatCounts(path)
    let window = browser.windows[path]
    let shown = window?.isWhole == true ? window?.loaded.count : nil
    let count = listener?.count ?? shown ?? count
    if let known = window?.total, known != count { browser.hasNewsFromOthers = true }
    browser.windows[path, default: CollectionWindow(path: path)].total = max(0, count)
  }
}

extension DashboardState {
  private func listenerThatCounts(_ path: ResourcePath) -> ListenerRecord? {
    listeners.first {
      $0.query.path == path && $0.count != nil && $0.isExact(whileOffline: network.isOffline)
    }
  }

  func isCountedByListener(_ path: ResourcePath) -> Bool { listenerThatCounts(path) != nil }
}

extension ListenerRecord {
  /// Whether the last snapshot has all documents of a collection, as far as the client can tell now.
  fileprivate func isExact(whileOffline isOffline: Bool) -> Bool {
    failure == nil && query.matchesAllDocuments && query.collectionGroup == nil && !query.path.isDocument
      && (!isFromCache || isOffline)
  }
}
