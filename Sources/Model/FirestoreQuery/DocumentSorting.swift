// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

extension [OrderBy] {
  /// Sorts the documents in this order. The sort is stable.
  ///
  /// Instead of the documents, small records are sorted, because moving a document changes several reference counts.
  /// Each record contains the first bits of its document's sort value, so that most comparisons compare only two
  /// numbers.
  package func sorted(_ documents: some Sequence<Document>) -> [Document] {
    var sorted = [Document](documents)
    sort(&sorted)
    return sorted
  }

  /// The indexes of the documents, sorted in this order.
  /// - Parameter hints: the order hint for each document's id, if all documents are in one collection; empty if
  ///   unknown.
  func order(of documents: [Document], _ hints: [KeyHint]) -> [Int] { places(of: documents, hints).map(\.index) }

  /// Sorts documents in place. If there is no other reference to the array, nothing is copied.
  func sort(_ documents: inout [Document]) {
    var places = places(of: documents)
    // Follows each cycle of the permutation and swaps every document to its place.
    for start in places.indices {
      var current = start
      while places[current].index != start {
        let source = places[current].index
        documents.swapAt(current, source)
        places[current].index = current
        current = source
      }
      places[current].index = current
    }
  }

  /// One `Place` for each document, sorted in this order.
  private func places(of documents: [Document], _ hints: [KeyHint] = []) -> [Place] {
    let fields = filter { !$0.path.isDocumentID }
    // `__name__` ends every complete list of orderings.
    let isKeyDescending = last?.direction == .descending
    let values = fields.isEmpty ? [] : documents.map { document in fields.map { document[$0.path] } }
    var places: [Place]
    if let first = fields.first {
      places = values.enumerated().map { index, values in
        Place(hint: values[0]?.orderHint ?? 0, index: index, descending: first.direction == .descending)
      }
    } else if hints.count == documents.count {
      places = hints.enumerated().map { Place(hint: $1.bytes, index: $0, descending: isKeyDescending) }
    } else {
      places = Self.keyPlaces(documents, descending: isKeyDescending)
    }
    places.sort { left, right in
      if left.hint != right.hint { return left.hint < right.hint }
      for (index, order) in fields.enumerated() {
        let ordering = Self.compare(values[left.index][index], values[right.index][index])
        if ordering != .equal { return ordering == (order.direction == .descending ? .descending : .ascending) }
      }
      let ordering = documents[left.index].key.path.compare(documents[right.index].key.path)
      if ordering == .equal { return left.index < right.index }
      return ordering == (isKeyDescending ? .descending : .ascending)
    }
    return places
  }

  /// Unsorted places for an order by key. If all documents are in one collection and their ids are ordered by bytes,
  /// each place contains a hint, the first bytes of the id.
  private static func keyPlaces(_ documents: [Document], descending: Bool) -> [Place] {
    var places: [Place] = []
    places.reserveCapacity(documents.count)
    guard let first = documents.first else { return places }
    let collection = first.key.collection.text + "/"
    let allHaveHints = collection.withUTF8Bytes { collection in
      // Reads the elements of the buffer in place, because even a short-lived copy of a document changes reference
      // counts.
      documents.withUnsafeBufferPointer { documents in
        for index in documents.indices {
          let hint = documents[index].key.path.text.withUTF8Bytes { Place.hint(ofPath: $0, below: collection) }
          guard let hint else { return false }
          places.append(Place(hint: hint, index: index, descending: descending))
        }
        return true
      }
    }
    return allHaveHints ? places : documents.indices.map { Place(hint: 0, index: $0, descending: false) }
  }
}

/// The first bytes of a document's id. They are a hint for ordering the document within its collection.
package struct KeyHint: Sendable {
  fileprivate let bytes: UInt64

  /// - Returns: `nil` if the id may be numeric, because numeric ids are not ordered by their bytes.
  package init?(ofID id: UnsafeRawBufferPointer) {
    if id.count > 1, id[0] == UInt8(ascii: "_"), id[1] == UInt8(ascii: "_") { return nil }
    bytes = Place.firstBytes(id.assumingMemoryBound(to: UInt8.self))
  }
}

/// The index of a document, and a hint for its position in the order.
private struct Place {
  /// The hint. Of two documents, the one with the lower hint comes first. If the hints are equal, a full comparison is
  /// needed.
  let hint: UInt64
  var index: Int

  init(hint: UInt64, index: Int, descending: Bool) {
    self.hint = descending ? ~hint : hint
    self.index = index
  }

  /// The order hint of a document's path, derived from its id.
  /// - Parameter collection: the path of the collection, with a trailing slash.
  /// - Returns: `nil` if the path is not directly below the collection. Also `nil` if the id may be numeric, because
  ///   numeric ids are not ordered by their bytes.
  static func hint(ofPath path: UnsafeBufferPointer<UInt8>, below collection: UnsafeBufferPointer<UInt8>) -> UInt64? {
    guard path.count > collection.count else { return nil }
    for index in 0..<collection.count where path[index] != collection[index] { return nil }
    let id = UnsafeBufferPointer(rebasing: path[collection.count...])
    if id.count > 1, id[0] == UInt8(ascii: "_"), id[1] == UInt8(ascii: "_") { return nil }
    for byte in id where byte == UInt8(ascii: "/") { return nil }
    return firstBytes(id)
  }

  /// The first bytes as a big-endian number. These numbers have the same order as the bytes.
  static func firstBytes(_ bytes: UnsafeBufferPointer<UInt8>) -> UInt64 {
    var result: UInt64 = 0
    for index in 0..<8 { result = result << 8 | (index < bytes.count ? UInt64(bytes[index]) : 0) }
    return result
  }
}

extension Value {
  /// A number that is consistent with the total order: of two values with different numbers, the one with the lower
  /// number comes first.
  fileprivate var orderHint: UInt64 {
    // The top byte is the type's rank plus one; zero means a missing value.
    UInt64(typeRank + 1) << 56 | contentHint >> 8
  }

  private var contentHint: UInt64 {
    switch self {
    case .integer(let number): Self.hint(of: Double(number))
    case .double(let number): Self.hint(of: number)
    case .string(let text): text.withUTF8Bytes { Place.firstBytes($0) }
    case .map: orderedNumber?.contentHint ?? 0
    default: 0
    }
  }

  /// The bits of a double, changed so that they have the same order as the numbers. NaN comes first, and 0.0 and -0.0
  /// are equal.
  private static func hint(of number: Double) -> UInt64 {
    if number.isNaN { return 0 }
    let bits = (number == 0 ? 0 : number).bitPattern
    return bits >> 63 == 1 ? ~bits : bits | 1 << 63
  }
}

/// The values by which a document is sorted. They are read once and then compared with many other documents.
struct SortKey {
  private let orderBy: [OrderBy]
  private let first: Value?
  private let rest: [Value?]
  private let key: DocumentKey

  init(_ document: Document, _ orderBy: [OrderBy]) {
    self.orderBy = orderBy
    first = orderBy.first.flatMap { document[$0.path] }
    // The second of two orderings is usually the key, which needs no value.
    let needsMore = orderBy.dropFirst().contains { !$0.path.isDocumentID }
    rest = needsMore ? orderBy.dropFirst().map { document[$0.path] } : []
    key = document.key
  }

  /// Compares another document with this one, without decoding its fields.
  @inline(__always)
  func compare(_ other: UnsafePointer<Document>) -> Ordering {
    for (index, order) in orderBy.enumerated() {
      let ordering: Ordering
      if order.path.isDocumentID {
        ordering = other.pointee.key.path.compare(key.path)
      } else {
        ordering = Self.compare(other, order.path, index == 0 ? first : rest[index - 1])
      }
      if ordering != .equal { return order.direction == .descending ? ordering.reversed : ordering }
    }
    return .equal
  }

  /// Compares a field with a value. If the field or the value is missing, it sorts first.
  private static func compare(_ document: UnsafePointer<Document>, _ path: FieldPath, _ value: Value?) -> Ordering {
    guard let value else { return document.pointee[path] == nil ? .equal : .descending }
    return document.pointee.data?.compare(path, with: value) ?? .ascending
  }
}
