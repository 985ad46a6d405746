// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
import HashTreeCollections

/// The documents of a view in query order.
///
/// A value: copies share structure, so that a snapshot keeps the set before and after a change at the cost of the
/// change. Documents lie in sorted chunks; beside them, if they are ordered by more than their keys, is a persistent
/// hash tree by key. Finding, inserting and removing cost O(log n) comparisons and the copy of one chunk.
package struct DocumentSet: Sendable {
  /// The size beyond which chunks split; they vanish when empty. A change copies one chunk and the list of chunks, so
  /// that a large set has larger ones.
  private static func chunkCapacity(_ count: Int) -> Int { count < 16_384 ? 64 : 128 }

  private let orderBy: [OrderBy]
  /// Whether documents are found by their keys in the chunks; then `byKey` is empty.
  private let isOrderedByKey: Bool
  private var chunks: [[Document]] = []
  private var byKey: TreeDictionary<DocumentKey, Document> = [:]
  package private(set) var count = 0

  package init(comparing query: Query) {
    orderBy = query.orderBy
    isOrderedByKey = orderBy.allSatisfy(\.path.isDocumentID)
  }

  /// Makes a set of documents.
  /// - Parameter documents: in any order; the last of several with one key counts.
  package init(comparing query: Query, documents: some Sequence<Document>) {
    var last: [DocumentKey: Document] = [:]
    for document in documents { last[document.key] = document }
    self.init(comparing: query, distinct: Array(last.values))
  }

  /// Makes a set of distinct documents.
  /// - Parameter documents: in any order, no two with the same key. If nothing else holds the array, its documents are
  ///   moved.
  package init(comparing query: Query, distinct documents: consuming [Document]) {
    self.init(comparing: query)
    count = documents.count
    if !isOrderedByKey {
      for index in documents.indices { byKey[documents[index].key] = documents[index] }
    }
    orderBy.sort(&documents)
    let size = Self.chunkCapacity(count) / 2
    chunks = Array(repeating: [], count: (count + size - 1) / size)
    for chunk in chunks.indices.reversed() {
      chunks[chunk] = Self.removeLast(documents.count - chunk * size, from: &documents)
    }
  }

  /// Moves documents out of an array: copying a document would count its references.
  private static func removeLast(_ count: Int, from documents: inout [Document]) -> [Document] {
    [Document](unsafeUninitializedCapacity: count) { buffer, initialized in
      for index in (0..<count).reversed() { buffer.initializeElement(at: index, to: documents.removeLast()) }
      initialized = count
    }
  }

  package var isEmpty: Bool { count == 0 }
  package var first: Document? { chunks.first?.first }
  package var last: Document? { chunks.last?.last }

  package subscript(key: DocumentKey) -> Document? {
    guard isOrderedByKey else { return byKey[key] }
    return place(of: key).map { chunks[$0.chunk][$0.offset] }
  }

  package func contains(_ key: DocumentKey) -> Bool { isOrderedByKey ? place(of: key) != nil : byKey[key] != nil }

  /// The document at a position in query order; O(number of chunks).
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
    guard let (chunk, offset) = place(of: key) else { return nil }
    return chunks[..<chunk].reduce(offset) { $0 + $1.count }
  }

  /// Adds a document, in place of one with the same key.
  package mutating func insert(_ document: Document) {
    let place: (chunk: Int, offset: Int)
    if isOrderedByKey {
      place = position(of: document.key)
      if holds(document.key, at: place) {
        chunks[place.chunk][place.offset] = document
        return
      }
    } else {
      remove(document.key)
      byKey[document.key] = document
      place = position(of: document)
    }
    insert(document, at: place)
  }

  private mutating func insert(_ document: Document, at place: (chunk: Int, offset: Int)) {
    count += 1
    guard !chunks.isEmpty else {
      chunks = [[document]]
      return
    }
    var (chunk, offset) = place
    if chunk == chunks.count {
      chunk -= 1
      offset = chunks[chunk].count
    }
    chunks[chunk].insert(document, at: offset)
    if chunks[chunk].count > Self.chunkCapacity(count) {
      let half = chunks[chunk].count / 2
      let tail = Array(chunks[chunk][half...])
      chunks[chunk].removeSubrange(half...)
      chunks.insert(tail, at: chunk + 1)
    }
  }

  @discardableResult
  package mutating func remove(_ key: DocumentKey) -> Document? {
    guard let (chunk, offset) = place(of: key) else { return nil }
    byKey[key] = nil
    count -= 1
    let document = chunks[chunk].remove(at: offset)
    if chunks[chunk].isEmpty { chunks.remove(at: chunk) }
    return document
  }

  /// The place of the document with this key; `nil` if there is none.
  private func place(of key: DocumentKey) -> (chunk: Int, offset: Int)? {
    if !isOrderedByKey { return byKey[key].map { position(of: $0) } }
    let place = position(of: key)
    return holds(key, at: place) ? place : nil
  }

  private func holds(_ key: DocumentKey, at place: (chunk: Int, offset: Int)) -> Bool {
    place.chunk < chunks.count && place.offset < chunks[place.chunk].count
      && chunks[place.chunk][place.offset].key == key
  }

  /// The place of the document, or the place at which to insert it.
  private func position(of document: Document) -> (chunk: Int, offset: Int) {
    let chunk = chunks.indices.partitioningIndex {
      orderBy.compare(chunks[$0][chunks[$0].count - 1], document) != .ascending
    }
    guard chunk < chunks.count else { return (chunk, 0) }
    let documents = chunks[chunk]
    return (chunk, documents.indices.partitioningIndex { orderBy.compare(documents[$0], document) != .ascending })
  }

  /// The place of the key's document, or the place at which to insert it, in a set ordered by keys alone.
  private func position(of key: DocumentKey) -> (chunk: Int, offset: Int) {
    let before: Ordering = orderBy.last?.direction == .descending ? .descending : .ascending
    let chunk = chunks.indices.partitioningIndex {
      chunks[$0][chunks[$0].count - 1].key.path.compare(key.path) != before
    }
    guard chunk < chunks.count else { return (chunk, 0) }
    let documents = chunks[chunk]
    return (chunk, documents.indices.partitioningIndex { documents[$0].key.path.compare(key.path) != before })
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

  /// An iterator over the documents in query order.
  package func makeIterator() -> Iterator { Iterator(chunks: chunks) }
  package var underestimatedCount: Int { count }
  package var documents: [Document] { Array(self) }
  package var keys: [DocumentKey] { keys { _ in true } }

  /// The keys of the documents that satisfy the predicate, in query order.
  package func keys(where predicate: (Document) -> Bool) -> [DocumentKey] {
    var keys: [DocumentKey] = []
    for chunk in chunks {
      chunk.withUnsafeBufferPointer { documents in
        for index in documents.indices where predicate(documents[index]) { keys.append(documents[index].key) }
      }
    }
    return keys
  }
}

extension DocumentSet: Equatable {
  package static func == (left: DocumentSet, right: DocumentSet) -> Bool {
    left.count == right.count && left.elementsEqual(right)
  }
}

/// A set of document keys whose copies share structure: a snapshot keeps the set as it was, and a change costs no more
/// for that, however many keys there are.
package struct DocumentKeySet: Sendable, Equatable {
  private var keys: TreeSet<DocumentKey>

  package init(_ keys: some Sequence<DocumentKey>) { self.keys = TreeSet(keys) }

  package var isEmpty: Bool { keys.isEmpty }
  package var count: Int { keys.count }
  package func contains(_ key: DocumentKey) -> Bool { !keys.isEmpty && keys.contains(key) }
  package mutating func insert(_ key: DocumentKey) { keys.insert(key) }
  package mutating func remove(_ key: DocumentKey) { keys.remove(key) }
}

extension DocumentKeySet: ExpressibleByArrayLiteral {
  package init(arrayLiteral elements: DocumentKey...) { self.init(elements) }
}

extension DocumentKeySet: CustomStringConvertible {
  package var description: String { keys.sorted().description }
}
