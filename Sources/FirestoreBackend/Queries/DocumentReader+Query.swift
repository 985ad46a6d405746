// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreQuery

extension DocumentReader {
  /// The documents that match, in the target's order, up to its limit.
  ///
  /// Ordered by `__name__` it reads in key order and stops at the limit; any other ordering scans the collection and
  /// keeps `limit` documents.
  /// - Parameter limit: instead of the target's own, to read beyond a window.
  func run(_ target: Target, limit: Int?) throws(BackendError) -> [Document] {
    if limit == 0 { return [] }
    let range = KeyRange(target)
    if target.orderBy.count == 1, target.orderBy[0].path.isDocumentID, range.keys == nil, !target.isDocumentTarget {
      return try runInKeyOrder(target, range, limit)
    }
    var top = TopDocuments(target, limit: limit)
    _ = try scanMatches(of: ServedQuery(target), after: nil, rows: .max) { document in
      top.add(document)
      return true
    }
    return top.finish().documents
  }

  private func runInKeyOrder(_ target: Target, _ range: KeyRange, _ limit: Int?) throws(BackendError) -> [Document] {
    let direction = target.orderBy[0].direction
    var found: [Document] = []
    func isFull() -> Bool { limit.map { found.count >= $0 } ?? false }
    for cluster in clusters(try collections(of: target), direction) where !isFull() {
      let isNested = cluster.count > 1
      let start = found.count
      for collection in cluster {
        guard let (first, last) = range.names(in: collection.path) else { continue }
        try scan(collection, from: first, through: last, direction) { _, document throws(BackendError) in
          if target.holds(document) { found.append(document) }
          return isNested || !isFull()
        }
      }
      if isNested {
        found[start...].sort { target.compare($0, $1) == .ascending }
        if let limit, found.count > limit { found.removeLast(found.count - limit) }
      }
    }
    return found
  }

  /// Groups collections so that each group's documents lie together in key order, and orders the groups. Only a
  /// collection inside a document of another one (`comments/c/comments`) interleaves with it.
  private func clusters(_ collections: [CollectionEntry], _ direction: OrderBy.Direction) -> [[CollectionEntry]] {
    var clusters: [[CollectionEntry]] = []
    for collection in collections.sorted(by: { $0.path < $1.path }) {
      if let root = clusters.last?.first, root.path.isPrefix(of: collection.path) {
        clusters[clusters.count - 1].append(collection)
      } else {
        clusters.append([collection])
      }
    }
    return direction == .ascending ? clusters : clusters.reversed()
  }
}

/// Keeps the first documents in a target's order out of any number: whole, or if that is too much to hold, with the
/// fields by which they are sorted.
struct TopDocuments {
  private let target: Target
  private let limit: Int?
  private let maximumBytes: Int
  private var documents: [Document] = []
  private var bytes = 0
  private var isThin = false
  /// The last of `limit` documents seen so far: what comes after it need not be kept.
  private var threshold: Document?

  /// - Parameter maximumBytes: what whole documents may hold.
  init(_ target: Target, limit: Int?, holding maximumBytes: Int = .max) {
    self.target = target
    self.limit = limit
    self.maximumBytes = maximumBytes
  }

  mutating func add(_ document: Document) {
    if let threshold, target.compare(document, threshold) != .ascending { return }
    documents.append(isThin ? document.thinned(for: target) : document)
    if !isThin { bytes += document.storedSize }
    if let limit, documents.count >= 2 * limit + 64 { compact(limit) }
    if !isThin, bytes > maximumBytes {
      isThin = true
      documents = documents.map { $0.thinned(for: target) }
    }
  }

  mutating func finish() -> (documents: [Document], isThin: Bool) {
    compact(limit ?? documents.count)
    return (documents, isThin)
  }

  private mutating func compact(_ limit: Int) {
    documents.sort { target.compare($0, $1) == .ascending }
    guard documents.count > limit else { return }
    documents.removeLast(documents.count - limit)
    threshold = documents.last
    if !isThin { bytes = documents.reduce(0) { $0 + $1.storedSize } }
  }
}
