// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
import HashTreeCollections

/// The documents of a view in query order.
///
/// A value: copies share structure, so that a snapshot keeps the set before and after a change at the cost of the
/// change. Documents lie in sorted chunks beside a persistent hash tree by key: finding, inserting and removing cost
/// O(log n) comparisons and the copy of one chunk.
package struct DocumentSet: Sendable {
  /// Chunks split when they grow beyond this and vanish when empty.
  private static let chunkCapacity = 256

  private let orderBy: [OrderBy]
  private var chunks: [[Document]] = []
  private var byKey: TreeDictionary<DocumentKey, Document> = [:]

  package init(comparing query: Query) { orderBy = query.orderBy }

  package init(comparing query: Query, documents: some Sequence<Document>) {
    self.init(comparing: query)
    for document in documents { byKey[document.key] = document }
    let sorted = orderBy.sorted(byKey.values)
    chunks.reserveCapacity(sorted.count / Self.chunkCapacity * 2 + 1)
    var start = 0
    while start < sorted.count {
      let end = Swift.min(start + Self.chunkCapacity / 2, sorted.count)
      chunks.append(Array(sorted[start..<end]))
      start = end
    }
  }

  package var count: Int { byKey.count }
  package var isEmpty: Bool { byKey.isEmpty }
  package var first: Document? { chunks.first?.first }
  package var last: Document? { chunks.last?.last }

  package subscript(key: DocumentKey) -> Document? { byKey[key] }

  package func contains(_ key: DocumentKey) -> Bool { byKey[key] != nil }

  /// O(number of chunks).
  package subscript(index: Int) -> Document {
    var index = index
    for chunk in chunks {
      if index < chunk.count { return chunk[index] }
      index -= chunk.count
    }
    preconditionFailure("index \(index) past the end of a set of \(count) documents")
  }

  /// The document's position in query order; O(log n) comparisons, O(number of chunks) additions.
  package func index(of key: DocumentKey) -> Int? {
    guard let document = byKey[key] else { return nil }
    let (chunk, offset) = position(of: document)
    return chunks[..<chunk].reduce(offset) { $0 + $1.count }
  }

  /// Adds a document, in place of one with the same key.
  package mutating func insert(_ document: Document) {
    remove(document.key)
    byKey[document.key] = document
    guard !chunks.isEmpty else {
      chunks = [[document]]
      return
    }
    var (chunk, offset) = position(of: document)
    if chunk == chunks.count {
      chunk -= 1
      offset = chunks[chunk].count
    }
    chunks[chunk].insert(document, at: offset)
    if chunks[chunk].count > Self.chunkCapacity {
      let half = chunks[chunk].count / 2
      let tail = Array(chunks[chunk][half...])
      chunks[chunk].removeSubrange(half...)
      chunks.insert(tail, at: chunk + 1)
    }
  }

  @discardableResult
  package mutating func remove(_ key: DocumentKey) -> Document? {
    guard let document = byKey[key] else { return nil }
    let (chunk, offset) = position(of: document)
    byKey[key] = nil
    chunks[chunk].remove(at: offset)
    if chunks[chunk].isEmpty { chunks.remove(at: chunk) }
    return document
  }

  /// Where the document is, or where it belongs.
  private func position(of document: Document) -> (chunk: Int, offset: Int) {
    let chunk = chunks.partitioningIndex { chunk in
      guard let last = chunk.last else { return false }
      return orderBy.compare(last, document) != .ascending
    }
    guard chunk < chunks.count else { return (chunk, 0) }
    return (chunk, chunks[chunk].partitioningIndex { orderBy.compare($0, document) != .ascending })
  }
}

extension DocumentSet: Sequence {
  package struct Iterator: IteratorProtocol {
    fileprivate let chunks: [[Document]]
    private var chunk = 0
    private var offset = 0

    fileprivate init(chunks: [[Document]]) { self.chunks = chunks }

    package mutating func next() -> Document? {
      guard chunk < chunks.count else { return nil }
      let document = chunks[chunk][offset]
      offset += 1
      if offset == chunks[chunk].count {
        chunk += 1
        offset = 0
      }
      return document
    }
  }

  /// In query order.
  package func makeIterator() -> Iterator { Iterator(chunks: chunks) }
  package var underestimatedCount: Int { count }
  package var documents: [Document] { Array(self) }
  package var keys: [DocumentKey] { map(\.key) }
}

extension DocumentSet: Equatable {
  package static func == (left: DocumentSet, right: DocumentSet) -> Bool {
    left.count == right.count && left.elementsEqual(right)
  }
}

extension Array {
  /// The first index whose element satisfies the predicate, where all elements that do come last.
  fileprivate func partitioningIndex(where predicate: (Element) -> Bool) -> Int {
    var low = 0
    var high = count
    while low < high {
      let middle = (low + high) / 2
      if predicate(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
