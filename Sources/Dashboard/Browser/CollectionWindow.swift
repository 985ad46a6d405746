// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreModel
import FirestoreQuery

/// The part of a collection that the browser holds: about two screens of documents in the order of their names. Moving
/// past its edge opens another window, so a collection of a million documents costs as much as one of fifty.
struct CollectionWindow: Sendable {
  /// Where a window lies.
  enum Place: Hashable, Sendable {
    case start
    case end
    /// From this document on.
    case from(DocumentKey)
    /// Up to and including this document.
    case until(DocumentKey)
  }

  /// Where the cursor goes when a window has arrived.
  enum Landing: Hashable, Sendable {
    case stay
    case after(DocumentKey)
    case before(DocumentKey)
    case first
    case last
    /// At so many documents from the window's first.
    case at(Int)
  }

  struct Request: Sendable {
    var tag: WindowTag
    var place: Place
    var limit: Int
    var landing: Landing
    /// How many documents lie before it, where that was asked for.
    var offset: Int?
  }

  var path: ResourcePath
  var filter: BrowserFilter? { didSet { sift() } }
  /// A filter that is being typed: what is loaded is looked at, and nothing is asked for.
  var preview: RowFilter? { didSet { sift() } }
  /// The window whose documents are shown; `nil` until the first has arrived.
  var shown: Request?
  /// The window that was asked for last and has not arrived.
  var requested: Request?
  /// What the window's query has found.
  var loaded: [Document] = [] { didSet { sift() } }
  /// Those of them that are shown.
  private(set) var documents: [Document] = []
  var isFromCache = true
  /// How many documents the whole collection has.
  var total: Int?
  var failure: RPCStatus?
  /// How many documents lie before the window; `nil` where that is not known.
  var offset: Int? = 0

  init(path: ResourcePath) { self.path = path }

  var isLoading: Bool { requested != nil }

  private mutating func sift() {
    documents = loaded
    if let filter, filter.searches { documents = documents.filter(filter.passes) }
    if let preview { documents = documents.filter { preview.matches($0.rowText, in: [$0]) } }
  }

  /// How many documents pass the filter, as far as they were looked for.
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

  /// The query that reads a window and nothing else.
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
      // No id with the prefix sorts after the prefix and the last code point there is.
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
  /// Counting a collection from the cache reads it; larger ones have to wait for the server.
  static let largestCountedOffline = 10_000

  /// Documents came or went, so that the collection has to be counted again: once a second at most, however many do.
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
  /// A snapshot says how many documents a collection has if it is of the whole collection; otherwise, that there are
  /// others now.
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

  /// Takes what was counted elsewhere, unless a listener knows better, or a window that shows the whole collection:
  /// unlike a server's count, these have the writes that wait.
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
