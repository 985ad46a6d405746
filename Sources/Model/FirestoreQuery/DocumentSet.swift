// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
import HashTreeCollections

/// The documents of a view in query order.
///
/// Copies of this value type share memory. Therefore a snapshot can contain the sets before and after a change, at a
/// cost proportional to the change. Documents are stored in sorted chunks (`SortedDocuments`). If the order does not
/// depend only on keys, a persistent hash tree finds documents by key. Finding, inserting or removing a document takes
/// O(log n) comparisons and copies one chunk.
package struct DocumentSet: Sendable {
  private let orderBy: [OrderBy]
  /// Whether documents are ordered only by key. If so, they are found by key in the chunks, and `byKey` is empty.
  private let isOrderedByKey: Bool
  private var sorted = SortedDocuments()
  private var byKey: TreeDictionary<DocumentKey, Document> = [:]

  package init(comparing query: Query) {
    orderBy = query.orderBy
    isOrderedByKey = orderBy.allSatisfy(\.path.isDocumentID)
  }

  /// Creates a set of documents.
  /// - Parameter documents: the documents in any order. If several documents have the same key, the last one is used.
  package init(comparing query: Query, documents: some Sequence<Document>) {
    var last: [DocumentKey: Document] = [:]
    for document in documents { last[document.key] = document }
    self.init(comparing: query, distinct: Array(last.values))
  }

  /// Creates a set of distinct documents.
  /// - Parameters:
  ///   - documents: documents in any order, with distinct keys. An array without other references is not copied.
  ///   - hints: the order hint for each document's id, if all documents are in one collection; empty if unknown.
  package init(comparing query: Query, distinct documents: consuming [Document], hints: [KeyHint] = []) {
    self.init(comparing: query)
    if !isOrderedByKey {
      for index in documents.indices { byKey[documents[index].key] = documents[index] }
    }
    let order = orderBy.order(of: documents, hints)
    sorted = SortedDocuments(count: documents.count) { Self.take(order[$0], from: &documents) }
  }

  /// Removes documents from an array, and leaves placeholders in their positions. Copying the documents would instead
  /// change reference counts.
  private static func take(_ places: ArraySlice<Int>, from documents: inout [Document]) -> [Document] {
    let nothing = Self.nothing
    return documents.withUnsafeMutableBufferPointer { documents in
      [Document](unsafeUninitializedCapacity: places.count) { chunk, initialized in
        for place in places {
          chunk.initializeElement(at: initialized, to: documents.moveElement(from: place))
          documents.initializeElement(at: place, to: nothing)
          initialized += 1
        }
      }
    }
  }

  /// A placeholder document without references.
  private static let nothing = Document(key: DocumentKey(unchecked: .root), version: nil, state: .missing)

  package var count: Int { sorted.count }
  package var isEmpty: Bool { sorted.count == 0 }
  package var first: Document? { sorted.first }
  package var last: Document? { sorted.last }

  package subscript(key: DocumentKey) -> Document? {
    guard isOrderedByKey else { return byKey[key] }
    return sorted[position(of: key)].flatMap { $0.key == key ? $0 : nil }
  }

  package func contains(_ key: DocumentKey) -> Bool { isOrderedByKey ? place(of: key) != nil : byKey[key] != nil }

  /// The document at a position in query order. Takes O(number of chunks) time.
  package subscript(index: Int) -> Document { sorted[index] }

  /// The document's position in query order. Takes O(log n) comparisons and O(number of chunks) additions.
  package func index(of key: DocumentKey) -> Int? { place(of: key).map { sorted.index(of: $0) } }

  /// The location of a document in the set, or the location for inserting it. With a location, a document can be looked
  /// up and then changed with a single search.
  package struct Location {
    /// The document at this location; `nil` if the set contains no document with the key.
    package let document: Document?
    /// The place, if the set is ordered only by keys; `nil` for other sets.
    fileprivate let place: SortedDocuments.Place?
  }

  /// Finds a document's location. The location is valid until the set changes.
  package func location(of key: DocumentKey) -> Location {
    guard isOrderedByKey else { return Location(document: byKey[key], place: nil) }
    let place = position(of: key)
    return Location(document: sorted[place].flatMap { $0.key == key ? $0 : nil }, place: place)
  }

  /// Adds a document, or replaces the document with the same key.
  package mutating func insert(_ document: Document) { insert(document, at: location(of: document.key)) }

  /// Adds a document, or replaces the document with the same key.
  /// - Parameter location: the location that was found for the document's key.
  package mutating func insert(_ document: Document, at location: Location) {
    if let place = location.place {
      if location.document != nil {
        sorted.replace(place, with: document)
      } else {
        sorted.insert(document, at: place)
      }
      return
    }
    let key = SortKey(document, orderBy)
    if let old = byKey.updateValue(document, forKey: document.key) {
      let place = position(of: old)
      if withUnsafePointer(to: old, key.compare) == .equal { return sorted.replace(place, with: document) }
      _ = sorted.remove(place)
    }
    sorted.insert(document, at: sorted.place { key.compare($0) == .ascending })
  }

  /// Adds many new documents. Finds the places of all of them in one pass.
  /// - Returns: the added documents in query order. If one of them was already present or the set was empty, returns
  ///   `nil` and changes nothing.
  package mutating func insertAbsent(_ documents: [Document]) -> [Document]? {
    if !isOrderedByKey, documents.contains(where: { byKey[$0.key] != nil }) { return nil }
    let ordered = orderBy.sorted(documents)
    let places: [SortedDocuments.Place]?
    if isOrderedByKey {
      let isDescending = orderBy.last?.direction == .descending
      places = ordered.withUnsafeBufferPointer { ordered in
        sorted.places(count: ordered.count) { document, index in
          let ordering = document.pointee.key.path.compare(ordered[index].key.path)
          return isDescending ? ordering.reversed : ordering
        }
      }
    } else {
      let keys = ordered.map { SortKey($0, orderBy) }
      places = sorted.places(count: ordered.count) { keys[$1].compare($0) }
    }
    guard let places else { return nil }
    sorted.insert(ordered, at: places)
    if !isOrderedByKey { for document in ordered { byKey[document.key] = document } }
    return ordered
  }

  @discardableResult
  package mutating func remove(_ key: DocumentKey) -> Document? {
    guard let place = place(of: key) else { return nil }
    if !isOrderedByKey { byKey[key] = nil }
    return sorted.remove(place)
  }

  /// The place of the document with this key; `nil` if there is no such document.
  private func place(of key: DocumentKey) -> SortedDocuments.Place? {
    if !isOrderedByKey { return byKey[key].map { position(of: $0) } }
    let place = position(of: key)
    return holds(key, at: place) ? place : nil
  }

  private func holds(_ key: DocumentKey, at place: SortedDocuments.Place) -> Bool { sorted[place]?.key == key }

  /// The place of the document, or the place for inserting it.
  private func position(of document: Document) -> SortedDocuments.Place {
    let key = SortKey(document, orderBy)
    return sorted.place { key.compare($0) == .ascending }
  }

  /// The place of the document with this key, or the place for inserting it. Only for sets that are ordered only by
  /// keys.
  private func position(of key: DocumentKey) -> SortedDocuments.Place {
    let before: Ordering = orderBy.last?.direction == .descending ? .descending : .ascending
    return sorted.place { $0.pointee.key.path.compare(key.path) == before }
  }
}

extension DocumentSet: Sequence {
  package struct Iterator: IteratorProtocol {
    private var base: SortedDocuments.Iterator

    fileprivate init(_ base: SortedDocuments.Iterator) { self.base = base }

    package mutating func next() -> Document? { base.next() }
  }

  /// An iterator over the documents in query order.
  package func makeIterator() -> Iterator { Iterator(sorted.makeIterator()) }
  package var underestimatedCount: Int { count }
  package var documents: [Document] { Array(self) }
  package var keys: [DocumentKey] { keys { _ in true } }

  /// The keys of the documents that include a local write, in query order.
  package var keysWithLocalMutations: [DocumentKey] {
    var keys: [DocumentKey] = []
    sorted.forEachChunk { chunk in
      chunk.withUnsafeBufferPointer { documents in
        // Reads documents in place, because a copy would change reference counts.
        for index in documents.indices where documents[index].pending == .local { keys.append(documents[index].key) }
      }
    }
    return keys
  }

  /// The keys of the documents for which the predicate is true, in query order.
  package func keys(where predicate: (Document) -> Bool) -> [DocumentKey] {
    var keys: [DocumentKey] = []
    sorted.forEachChunk { chunk in
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

/// A set of document keys. Copies share memory, so that a snapshot can contain the old set at no extra cost.
package struct DocumentKeySet: Sendable, Equatable {
  private var keys: TreeSet<DocumentKey>

  package init(_ keys: some Sequence<DocumentKey>) { self.keys = TreeSet(keys) }

  package var isEmpty: Bool { keys.isEmpty }
  package var count: Int { keys.count }
  package func contains(_ key: DocumentKey) -> Bool { !keys.isEmpty && keys.contains(key) }
  package mutating func insert(_ key: DocumentKey) { keys.insert(key) }
  package mutating func remove(_ key: DocumentKey) {
    if !keys.isEmpty { keys.remove(key) }
  }
}

extension DocumentKeySet: ExpressibleByArrayLiteral {
  package init(arrayLiteral elements: DocumentKey...) { self.init(elements) }
}

extension DocumentKeySet: CustomStringConvertible {
  package var description: String { keys.sorted().description }
}
