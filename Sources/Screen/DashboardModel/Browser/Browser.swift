// SPDX-License-Identifier: Apache-2.0
package import ClientPort
package import FirestoreModel
import FirestoreQuery

/// The tree in pane 1: collections, their loaded documents, fields and subcollections.
package struct Browser: Sendable {
  package enum Item: Hashable, Sendable {
    case collection(ResourcePath)
    case document(DocumentKey)
    case field(DocumentKey, String)
    /// A row that represents the documents before or after the loaded part of the collection.
    case before(ResourcePath)
    case after(ResourcePath)
    /// The reason why a collection shows no documents.
    case note(ResourcePath)
  }

  package struct Row: Hashable, Sendable {
    package var item: Item
    package var depth: Int
  }

  /// The mark of a document that changed recently. Its tint fades.
  package struct Mark: Sendable {
    /// The fields that changed.
    package var names: Set<String>
    /// Whether the document is new.
    package var isNew = false
    package var until: Timestamp

    package init(names: Set<String>, isNew: Bool = false, until: Timestamp) {
      (self.names, self.isNew, self.until) = (names, isNew, until)
    }
  }

  package var cursor = Cursor<Item>()
  /// The document to select when its row appears. It is dropped if you move the cursor before that.
  package var destination: DocumentKey?
  /// The item where the selected range starts.
  package var anchor: Item?
  /// The root collections; `nil` until they are known.
  package var roots: [String]?
  /// The error of the backend's last attempt to list the root collections.
  package var rootsFailure: RPCStatus?
  /// The error in `rootsFailure` if it means that the server was unreachable, otherwise `nil`.
  package var rootsOutage: RPCStatus? {
    rootsFailure.flatMap { [.unavailable, .deadlineExceeded].contains($0.code) ? $0 : nil }
  }
  /// Another database of the same backend that has documents, while this one is empty.
  package var otherDatabase: OtherDatabase?
  package var windows: [ResourcePath: CollectionWindow] = [:]
  package var subcollections: [ResourcePath: [String]] = [:]
  /// Nonexistent documents that have subcollections, by collection and in key order.
  package var missing: [ResourcePath: [DocumentKey]] = [:]
  package var expanded: Set<ResourcePath> = []
  package var marks: [DocumentKey: Mark] = [:]
  /// The field statistics of each collection, from its loaded documents and from listeners.
  package var statistics: [ResourcePath: FieldStatistics] = [:]
  /// The columns of each collection that was opened.
  package var columns: [ResourcePath: TreeColumns] = [:]
  /// The collections in which documents were added or removed since the last count, and the times of their next counts.
  package var recounts: [ResourcePath: Timestamp] = [:]
  /// The time of the next refresh of data that other clients may have changed; `nil` while there was no change.
  package var nextReview: Timestamp?
  /// Whether the backend reports every commit.
  package var hearsCommits = false
  /// The requests to repeat after commits were reported.
  package var renewals = Renewals()
  /// A collection that you opened by its path and that is not listed as a root collection.
  package var visited: ResourcePath?
  /// Whether another client has changed data since the last refresh.
  package var hasNewsFromOthers = false
  /// The sort orders that you chose in this session.
  package private(set) var orders: [ResourcePath: RowOrder] = [:]
  /// The running search for a row's position. When it is found, a window around the row opens.
  package var search: RowSearch?
  /// The result that is shown instead of the tree.
  package var result: ResultView?

  package init() {}
  private var nextTag = 1

  /// All rows of the tree in order.
  package var rows: [Row] {
    var rows: [Row] = []
    for root in roots ?? [] { append(collection: ResourcePath(root), depth: 0, to: &rows) }
    if let visited, visited.count == 1, !isRoot(visited) { append(collection: visited, depth: 0, to: &rows) }
    return rows
  }

  /// Drops a visited collection without documents when the cursor leaves it, so that visiting a path leaves no row.
  package mutating func leaveEmptyVisit() -> [Effect] {
    guard let visited, !isRoot(visited), let window = windows[visited], window.shown != nil, !window.isLoading,
      window.loaded.isEmpty, missing[visited]?.isEmpty != false, window.filter == nil
    else { return [] }
    if cursor.id.map({ $0.isIn(visited) }) == true { return [] }
    return forgetVisit()
  }

  /// Drops the visited collection.
  package mutating func forgetVisit() -> [Effect] {
    guard let visited else { return [] }
    let effects = collapse(visited)
    self.visited = nil
    destination = nil
    windows[visited] = nil
    return effects
  }

  /// Whether a collection is listed as a root.
  package func isRoot(_ path: ResourcePath) -> Bool { roots?.contains { $0.equalsUTF8(path.text) } ?? false }

  private func append(collection path: ResourcePath, depth: Int, to rows: inout [Row]) {
    rows.append(Row(item: .collection(path), depth: depth))
    guard expanded.contains(path), let window = windows[path] else { return }
    if window.hasBefore { rows.append(Row(item: .before(path), depth: depth + 1)) }
    var missing = missing(in: window)[...]
    // Nonexistent documents are sorted only by id; in other orders they come last.
    let last = window.shownOrder == .id ? [] : missing
    if window.shownOrder != .id { missing = [] }
    for document in window.documents {
      while let key = missing.first, key < document.key { append(missing.removeFirst(), nil, depth: depth, to: &rows) }
      if missing.first == document.key { missing.removeFirst() }
      append(document.key, document, depth: depth, to: &rows)
    }
    for key in missing + last { append(key, nil, depth: depth, to: &rows) }
    let isEmpty = window.documents.isEmpty && self.missing(in: window).isEmpty
    if isEmpty || window.failure != nil
      || window.search.map({ !$0.isComplete || $0.found > window.documents.count }) ?? false
    {
      rows.append(Row(item: .note(path), depth: depth + 1))
    }
    if window.hasAfter { rows.append(Row(item: .after(path), depth: depth + 1)) }
  }

  /// - Parameter document: the document; `nil` for a nonexistent document with subcollections.
  private func append(_ key: DocumentKey, _ document: Document?, depth: Int, to rows: inout [Row]) {
    rows.append(Row(item: .document(key), depth: depth + 1))
    guard expanded.contains(key.path) else { return }
    for entry in document?.data?.fields.entries ?? [] {
      rows.append(Row(item: .field(key, entry.name), depth: depth + 2))
    }
    for id in subcollections[key.path] ?? [] {
      append(collection: key.path.appending(id), depth: depth + 2, to: &rows)
    }
  }

  /// The nonexistent documents in the key range of a collection window. Empty if the window has a filter, because only
  /// existing documents match a filter.
  private func missing(in window: CollectionWindow) -> [DocumentKey] {
    guard window.filter == nil, window.preview == nil, window.shown != nil, let missing = missing[window.path] else {
      return []
    }
    if window.shownOrder != .id { return window.isWhole ? missing : [] }
    let first = window.hasBefore ? window.documents.first?.key : nil
    let last = window.hasAfter ? window.documents.last?.key : nil
    return missing.filter { key in first.map { $0 < key } != false && last.map { key < $0 } != false }
  }

  package func document(_ key: DocumentKey) -> Document? {
    windows[key.collection]?.loaded.first { $0.key == key }
  }

  // MARK: Windows

  /// Shows a collection in another order. Loaded documents are sorted immediately.
  package mutating func choose(_ order: RowOrder, of path: ResourcePath) {
    orders[path] = order
    windows[path]?.order = order
  }

  package mutating func takeTag() -> WindowTag {
    defer { nextTag += 1 }
    return WindowTag(nextTag)
  }

  /// Requests the documents of a window. The current window stays on screen until they arrive.
  package mutating func open(
    _ path: ResourcePath, at place: CollectionWindow.Place, landing: CollectionWindow.Landing, limit: Int,
    offset: Int? = nil, in database: DatabaseID
  ) -> [Effect] {
    var window = windows[path] ?? CollectionWindow(path: path)
    if let order = orders[path], window.order != order { window.order = order }
    var effects = window.requested.map { [Effect.client(.closeWindow($0.tag))] } ?? []
    if let search = window.search, search.isRunning { effects.append(.client(.closeWindow(search.tag))) }
    if let filter = window.filter, filter.searches { return beginSearch(filter, of: path, effects, in: database) }
    window.search = nil
    let order = window.orderToAsk(limit: limit)
    let isSortedHere = order != window.shownOrder
    let isAnchored = place == .start || place == .end || !order.isField || window.anchor(of: place) != nil
    let limit = isSortedHere ? max(limit, RowOrder.mostSortedHere) : limit
    let place = isSortedHere || !isAnchored ? .start : place
    let tag = takeTag()
    window.requested = CollectionWindow.Request(
      tag: tag, place: place, limit: max(1, limit), landing: landing, offset: isSortedHere ? nil : offset,
      order: order, filter: window.filter)
    // Denied data stays denied until the rules allow it.
    if window.failure?.code != .permissionDenied { window.failure = nil }
    let query = CollectionWindow.query(
      path, filter: window.filter, order: order, at: place, anchor: window.anchor(of: place), limit: limit, in: database
    )
    windows[path] = window
    effects.append(.client(.openWindow(tag, query)))
    return effects
  }

  package mutating func expand(
    _ path: ResourcePath, at place: CollectionWindow.Place = .start, limit: Int, in database: DatabaseID
  ) -> [Effect] {
    guard expanded.insert(path).inserted else { return [] }
    if path.isDocument { return [.client(.listCollections(below: path))] }
    return open(path, at: place, landing: .stay, limit: limit, in: database) + [
      .client(.listMissing(in: path)), .client(.count(path)),
    ]
  }

  package mutating func collapse(_ path: ResourcePath) -> [Effect] {
    guard expanded.remove(path) != nil else { return [] }
    var effects: [Effect] = []
    for inner in expanded where path.isPrefix(of: inner) { expanded.remove(inner) }
    for (other, window) in windows where path.isPrefix(of: other) {
      effects += [window.shown, window.requested].compactMap { $0.map { .client(.closeWindow($0.tag)) } }
      if let search = window.search, search.isRunning { effects.append(.client(.closeWindow(search.tag))) }
      var closed = CollectionWindow(path: other)
      (closed.count, closed.order) = (window.count, window.order)
      windows[other] = closed
    }
    return effects.sorted { "\($0)" < "\($1)" }
  }

  /// Moves the window of a collection by half its size if the cursor is at the window's edge.
  package mutating func slide(_ item: Item, limit: Int, in database: DatabaseID) -> [Effect] {
    switch item {
    case .after(let path):
      guard let window = windows[path], !window.isLoading, !window.isSortedHere, let last = window.loaded.last else {
        return []
      }
      let middle = window.loaded[window.loaded.count / 2].key
      return open(path, at: .from(middle), landing: .after(last.key), limit: limit, in: database)
    case .before(let path):
      guard let window = windows[path], !window.isLoading, !window.isSortedHere, let first = window.loaded.first else {
        return []
      }
      let middle = window.loaded[window.loaded.count / 2].key
      return open(path, at: .until(middle), landing: .before(first.key), limit: limit, in: database)
    default: return []
    }
  }

  // MARK: Events

  /// The collection that a window shows or has requested.
  package func path(of tag: WindowTag) -> ResourcePath? {
    windows.first { $1.shown?.tag == tag || $1.requested?.tag == tag }?.key
  }

  package mutating func load(
    _ tag: WindowTag, _ documents: [Document], isFromCache: Bool, total: Int?, at now: Timestamp
  ) -> [Effect] {
    guard let path = path(of: tag), var window = windows[path] else { return [] }
    var effects: [Effect] = []
    var landing = CollectionWindow.Landing.stay
    if let request = window.requested, request.tag == tag {
      if let old = window.shown { effects.append(.client(.closeWindow(old.tag))) }
      window.offset = offset(of: request, documents, after: window, total: total ?? window.total)
      window.shown = request
      window.requested = nil
      landing = request.landing
      noteContents(documents, in: path)
    } else {
      let edge = window.loaded.count >= (window.shown?.limit ?? .max) ? window.shown : nil
      mark(changesFrom: window, to: documents, cutAt: edge, at: now)
      // A deleted document can have subcollections.
      let keys = Set(documents.map(\.key))
      let areGone = !window.loaded.allSatisfy { keys.contains($0.key) }
      if areGone { effects.append(.client(.listMissing(in: path))) }
      if areGone || keys.count > window.loaded.count { noteChange(in: path, at: now) }
    }
    window.loaded = documents
    window.isFromCache = isFromCache
    window.failure = nil
    if let total, !isFromCache { window.count.take(total, at: now) }
    if window.isWhole {
      // The cache may have only a part of the collection.
      if isFromCache { window.count.takeCached(documents.count) } else { window.count.take(documents.count, at: now) }
    }
    windows[path] = window
    land(landing, window.documents)
    return effects
  }

  package mutating func fail(_ tag: WindowTag, _ status: RPCStatus) {
    if let path = searchedPath(tag) {
      windows[path]?.search?.fail(status)
      return
    }
    guard let path = path(of: tag) else { return }
    windows[path]?.failure = status
    windows[path]?.requested = nil
    if windows[path]?.shown?.tag == tag { windows[path]?.shown = nil }
  }

  private mutating func land(_ landing: CollectionWindow.Landing, _ documents: [Document]) {
    switch landing {
    case .stay: break
    case .after(let key):
      let place = documents.firstIndex { $0.key == key }.map { $0 + 1 } ?? documents.firstIndex { key < $0.key }
      if let next = place.flatMap({ documents.dropFirst($0).first }) ?? documents.last {
        cursor.select(.document(next.key))
      }
    case .before(let key):
      let place = documents.firstIndex { $0.key == key } ?? documents.firstIndex { key <= $0.key } ?? documents.count
      if let previous = documents.prefix(place).last ?? documents.first {
        cursor.select(.document(previous.key))
      }
    case .first: if let first = documents.first { cursor.select(.document(first.key)) }
    case .last: if let last = documents.last { cursor.select(.document(last.key)) }
    case .at(let index):
      if let document = documents.dropFirst(index).first ?? documents.last { cursor.select(.document(document.key)) }
    }
  }

  private func offset(
    of request: CollectionWindow.Request, _ documents: [Document], after old: CollectionWindow, total: Int?
  ) -> Int? {
    if let offset = request.offset { return offset }
    switch request.place {
    case .start: return 0
    case .end: return old.filter == nil && !request.order.isField ? total.map { max(0, $0 - documents.count) } : nil
    case .from, .until:
      // An offset is valid only for one order and one filter.
      guard let offset = old.offset, let first = documents.first, old.shown?.order == request.order,
        old.shown?.filter == request.filter
      else { return nil }
      if let shared = old.loaded.firstIndex(where: { $0.key == first.key }) { return offset + shared }
      guard let oldFirst = old.loaded.first,
        let shared = documents.firstIndex(where: { $0.key == oldFirst.key })
      else { return nil }
      return max(0, offset - shared)
    }
  }
}

/// Moves the cursor to a document that may not be in the tree yet.
extension Browser {
  /// Selects a document. Opens its collection and its ancestors. The cursor moves when their rows have arrived.
  package mutating func go(to key: DocumentKey, limit: Int, in database: DatabaseID) -> [Effect] {
    destination = key
    var effects: [Effect] = []
    for document in key.ancestorsAndSelf {
      let path = document.collection
      // A collection that fits is shown whole, not from the document on.
      let fits = windows[path]?.total.map { $0 <= limit } ?? false
      let place = fits ? CollectionWindow.Place.start : .from(document)
      if expanded.contains(path) {
        let isHere = has(document) || windows[path]?.isWhole == true || windows[path]?.isLoading == true && fits
        if !isHere { effects += open(path, at: place, landing: .stay, limit: limit, in: database) }
      } else {
        effects += expand(path, at: place, limit: limit, in: database)
      }
      if document != key { effects += expand(document.path, limit: limit, in: database) }
    }
    return effects
  }

  /// Whether the tree contains a document. Nonexistent documents with subcollections count.
  private func has(_ key: DocumentKey) -> Bool {
    document(key) != nil || missing[key.collection]?.contains(key) ?? false
  }

  /// Selects the document in `destination` if its row is among the given rows.
  package mutating func reachDestination(in rows: some Sequence<Item>) {
    guard let key = destination, rows.contains(.document(key)) else { return }
    cursor.select(.document(key))
    destination = nil
  }
}

extension Browser.Item {
  /// Whether the row belongs to a collection.
  fileprivate func isIn(_ path: ResourcePath) -> Bool {
    switch self {
    case .collection(let other), .before(let other), .after(let other), .note(let other): path.isPrefix(of: other)
    case .document(let key), .field(let key, _): path.isPrefix(of: key.path)
    }
  }
}

extension DocumentKey {
  /// The document's ancestors, outermost first, then the document itself.
  fileprivate var ancestorsAndSelf: [DocumentKey] {
    var keys = [self]
    while let above = keys.last.flatMap({ DocumentKey($0.collection.parent) }) { keys.append(above) }
    return keys.reversed()
  }
}
