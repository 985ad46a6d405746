// SPDX-License-Identifier: Apache-2.0
package import ClientPort
import FirestoreClientState
package import FirestoreModel
package import FirestoreQuery

/// The loaded part of a collection: about two screens of documents, sorted by name or by a field. Moving past its edge
/// opens another window, so a large collection costs no more than a small one. The client sorts small collections in
/// any order. During a search, the window contains the matches.
package struct CollectionWindow: Sendable {
  /// The position of a window in its collection.
  package enum Place: Hashable, Sendable {
    case start
    case end
    /// A window that starts with this document.
    case from(DocumentKey)
    /// A window that ends with this document.
    case until(DocumentKey)
  }

  /// The row that is selected when a window has arrived.
  package enum Landing: Hashable, Sendable {
    case stay
    case after(DocumentKey)
    case before(DocumentKey)
    case first
    case last
    /// The row at this index, counted from the window's first document.
    case at(Int)
  }

  package struct Request: Sendable {
    package var tag: WindowTag
    package var place: Place
    package var limit: Int
    package var landing: Landing
    /// The count of documents before the window, if it was requested.
    package var offset: Int?
    /// The sort order that was requested.
    package var order = RowOrder.id
    /// The filter that was requested.
    package var filter: BrowserFilter?
  }

  package var path: ResourcePath
  package var filter: BrowserFilter? { didSet { sift() } }
  /// The filter while you type it. It applies to loaded documents and sends no query.
  package var preview: RowFilter? { didSet { sift() } }
  /// The order in which the documents are shown, unless the filter determines the order.
  package var order = RowOrder.id { didSet { sift() } }
  /// The search through the whole collection, if the filter needs one.
  package internal(set) var search: CollectionSearch?
  /// The window whose documents are shown; `nil` until the first window has arrived.
  package var shown: Request?
  /// The last requested window, until it arrives.
  package var requested: Request?
  /// The documents that the window's query has returned.
  package var loaded: [Document] = [] { didSet { sift() } }
  /// The loaded documents that pass the filters.
  package private(set) var documents: [Document] = []
  package var isFromCache = true
  /// The known document count of the whole collection.
  package var count = CollectionCount()
  package var failure: RPCStatus?
  /// The count of documents before the window; `nil` if unknown.
  package var offset: Int? = 0

  package init(path: ResourcePath) { self.path = path }

  package var isLoading: Bool { requested != nil }

  package var total: Int? { count.number }

  /// Whether the loaded documents were requested with a filter other than the current one.
  package var isOfAnotherFilter: Bool { shown.map { $0.filter != filter } ?? false }

  /// The order in which the documents are shown. If the filter has a range, the documents are sorted by the field of
  /// the range.
  package var shownOrder: RowOrder {
    guard let range = filter?.range else { return filter?.prefix.isEmpty == false && order.isField ? .id : order }
    return order.key == .field(range) ? order : RowOrder(.field(range))
  }

  /// Whether only the loaded documents are sorted, not the whole collection.
  package var isSortedHere: Bool {
    shown != nil && search == nil && !isOfAnotherFilter && shown?.order != shownOrder
  }

  /// The order to request. This is by id if the client sorts the documents.
  func orderToAsk(limit: Int) -> RowOrder {
    let order = shownOrder
    if filter?.range != nil || order == RowOrder(.id, isDescending: true) { return order }
    guard order.isField else { return .id }
    let count = filter == nil ? total : nil
    let isAllLoaded = failure == nil && shown?.order.isField == false && !hasBefore && !hasAfter
    let isSmall = count.map { $0 <= RowOrder.mostSortedHere } ?? isAllLoaded
    return isSmall && !isOutgrown ? .id : order
  }

  /// Whether the collection has more documents than the client can sort.
  package var isOutgrown: Bool { isSortedHere && shownOrder.isField && (hasBefore || hasAfter) }

  /// The document at which a window starts or ends. A query that sorts by a field needs the value of the field in this
  /// document.
  func anchor(of place: Place) -> Document? {
    switch place {
    case .start, .end: nil
    case .from(let key), .until(let key): loaded.first { $0.key == key }
    }
  }

  mutating func begin(_ search: CollectionSearch) {
    self.search = search
    (shown, requested, failure, loaded, offset) = (nil, nil, nil, [], 0)
  }

  private mutating func sift() {
    documents = loaded
    if isOfAnotherFilter {
      // The loaded documents that pass are shown until the answer arrives.
      if let filter { documents = documents.filter(filter.passesAll) }
    } else if let filter, filter.searches, search == nil {
      documents = documents.filter(filter.passes)
    }
    let order = shownOrder
    if search != nil || shown.map({ $0.order != order }) ?? false, !(search != nil && order == .id) {
      documents.sort(by: order.isBefore)
    }
    if let preview { documents = documents.filter { preview.matches($0.rowText, in: [$0]) } }
  }

  /// The count of documents that match the filter, among the documents that were searched so far.
  package var found: (count: Int, isAll: Bool)? {
    if let search { return (search.found, search.isComplete) }
    guard filter != nil, shown != nil, !isOfAnotherFilter, let offset else { return nil }
    return (documents.count + offset, !hasAfter)
  }

  package var hasBefore: Bool {
    guard let shown, !isOfAnotherFilter else { return false }
    switch shown.place {
    case .start: return false
    case .from: return true
    case .end, .until: return loaded.count >= shown.limit
    }
  }

  package var hasAfter: Bool {
    guard let shown, !isOfAnotherFilter else { return false }
    switch shown.place {
    case .end: return false
    case .until: return true
    case .start, .from: return loaded.count >= shown.limit
    }
  }

  /// Whether the window shows every document of the collection.
  package var isWhole: Bool {
    shown != nil && filter == nil && !isOfAnotherFilter && failure == nil && !hasBefore && !hasAfter
      && shown?.order.isField == false
  }

  /// The query whose result is exactly one window.
  package static func query(
    _ path: ResourcePath, filter: BrowserFilter?, order: RowOrder = .id, at place: Place, anchor: Document? = nil,
    limit: Int, in database: DatabaseID
  ) -> Query {
    func bound(_ id: String) -> Bound {
      Bound(values: [.reference(database, DocumentKey(unchecked: path.appending(id)))], isInclusive: true)
    }
    /// The query bound at a document. If the query sorts by a field, the bound contains the document's value of that
    /// field.
    func bound(at key: DocumentKey) -> Bound? {
      guard case .field(let path) = order.key else { return bound(key.documentID) }
      guard let value = anchor?.data?[path] else { return nil }
      return Bound(values: [value, .reference(database, key)], isInclusive: true)
    }
    var query = Query(
      path: path, filters: filter?.filters ?? [], explicitOrderBy: order.orderBy, limit: max(1, limit))
    if let prefix = filter?.prefix, !prefix.isEmpty {
      // Every id with the prefix sorts before the prefix followed by the last code point.
      let ends = [bound(prefix), bound(prefix + "\u{10FFFF}")]
      (query.start, query.end) = order.isDescending ? (ends[1], ends[0]) : (ends[0], ends[1])
    }
    switch place {
    case .start: break
    case .end: query.limitType = .last
    case .from(let key): query.start = bound(at: key) ?? query.start
    case .until(let key):
      query.end = bound(at: key) ?? query.end
      query.limitType = .last
    }
    return query
  }
}

extension Browser {
  /// The maximum document count of a collection that is counted from the cache. Counting reads all documents, so larger
  /// collections are counted only by the server.
  static let largestCountedOffline = 10_000

  /// Schedules a recount after documents were added or removed, at most once a second.
  package mutating func noteChange(in path: ResourcePath, at now: Timestamp) {
    guard windows[path]?.total != nil, recounts[path] == nil else { return }
    recounts[path] = now.advanced(seconds: 1)
  }

  package var nextCount: Timestamp? { recounts.values.min() }

  /// The requests for the collections that must be counted now.
  package mutating func takeDueCounts(at now: Timestamp, isOffline: Bool) -> [Effect] {
    let due = recounts.filter { $0.value <= now }.keys.sorted()
    for path in due { recounts[path] = nil }
    // Reported commits cause their own requests.
    if hearsCommits, !isOffline { return [] }
    return due.filter { !isOffline || windows[$0]?.total ?? 0 <= Self.largestCountedOffline }.map {
      .client(.count($0))
    }
  }
}

/// The sort order of a collection's documents in the tree.
package struct RowOrder: Hashable, Sendable {
  package enum Key: Hashable, Sendable {
    case id
    case field(FieldPath)
    /// Sorted by the time of the last change or of the creation. Queries cannot sort by these times.
    case changed, created
  }

  package var key: Key
  package var isDescending: Bool

  package static let id = RowOrder(.id)
  /// Sorted by the time of the last change, newest first.
  package static let newest = RowOrder(.changed, isDescending: true)

  package init(_ key: Key, isDescending: Bool = false) {
    (self.key, self.isDescending) = (key, isDescending)
  }

  /// The maximum document count of a collection that the client reads completely and sorts. A larger collection is
  /// sorted by the query. If a query cannot sort it, only this many documents are loaded.
  package static let mostSortedHere = 1000

  /// Whether the order is by a field. A query in such an order omits documents that do not have the field.
  package var isField: Bool { if case .field = key { true } else { false } }
  /// Whether the order is by a time, which queries cannot sort by.
  package var isTime: Bool { key == .changed || key == .created }
  package var direction: OrderBy.Direction { isDescending ? .descending : .ascending }
  package var reversed: RowOrder { RowOrder(key, isDescending: !isDescending) }

  package var words: String {
    switch key {
    case .id: "id"
    case .field(let path): path.segments.joined(separator: ".")
    case .changed: "last changed"
    case .created: "created"
    }
  }

  /// The `orderBy` clauses of a query for this order. If queries cannot use the order, they sort by id.
  package var orderBy: [OrderBy] {
    switch key {
    case .id: [OrderBy(.documentID, direction)]
    case .field(let path): [OrderBy(path, direction), OrderBy(.documentID, direction)]
    case .changed, .created: [OrderBy(.documentID)]
    }
  }

  /// Whether one document precedes another. Equal documents are sorted by id.
  package func isBefore(_ left: Document, _ right: Document) -> Bool {
    switch key {
    case .id, .field: return orderBy.compare(left, right) == .ascending
    case .changed: return isBefore(left.changeTime, right.changeTime, left, right)
    case .created: return isBefore(left.creationTime, right.creationTime, left, right)
    }
  }

  private func isBefore(_ left: Int64, _ right: Int64, _ leftDocument: Document, _ rightDocument: Document) -> Bool {
    if left == right { return leftDocument.key < rightDocument.key }
    return isDescending ? left > right : left < right
  }
}

extension Document {
  /// The time of the last change. A pending change sorts as newer than all acknowledged changes.
  fileprivate var changeTime: Int64 { hasPendingWrites ? .max : version?.timestamp.microseconds ?? .min }
  fileprivate var creationTime: Int64 {
    createTime?.timestamp.microseconds ?? (hasPendingWrites ? .max : .min)
  }
}

extension DocumentKey {
  private static let automaticLength = 20

  /// Whether the id has the form of SDK-generated ids: 20 letters and digits.
  package var hasAutomaticID: Bool {
    let id = documentID.utf8
    return id.count == Self.automaticLength
      && id.allSatisfy { (48...57).contains($0) || (65...90).contains($0) || (97...122).contains($0) }
  }
}

/// A search for a row that is far from the loaded window of its collection. It first locates the document at which a
/// window around the row starts.
package struct RowSearch: Sendable {
  package var tag: WindowTag
  package var path: ResourcePath
  /// The row, counted from 0.
  package var row: Int
  /// The count of documents before the window.
  package var first: Int

  package init(tag: WindowTag, path: ResourcePath, row: Int, first: Int) {
    (self.tag, self.path, self.row, self.first) = (tag, path, row, first)
  }
}
