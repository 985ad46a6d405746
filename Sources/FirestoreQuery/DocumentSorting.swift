// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

extension [OrderBy] {
  /// The documents in this order; documents that tie stay as they came.
  ///
  /// What is sorted are small places, not documents: moving a document costs several reference counts. Each place
  /// carries the first bits of what it is ordered by, so that most comparisons are of two numbers.
  package func sorted(_ documents: some Sequence<Document>) -> [Document] {
    var sorted = [Document](documents)
    sort(&sorted)
    return sorted
  }

  /// As `sorted`; nothing is copied if nothing else holds the array.
  func sort(_ documents: inout [Document]) {
    var places = places(of: documents)
    // Along each cycle of the permutation every document is swapped to its place.
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

  /// Where the first document in this order is, then the second, and so on.
  private func places(of documents: [Document]) -> [Place] {
    let fields = filter { !$0.path.isDocumentID }
    // `__name__` ends every complete list of orderings.
    let isKeyDescending = last?.direction == .descending
    let values = fields.isEmpty ? [] : documents.map { document in fields.map { document[$0.path] } }
    var places: [Place]
    if let first = fields.first {
      places = values.enumerated().map { index, values in
        Place(hint: values[0]?.orderHint ?? 0, index: index, descending: first.direction == .descending)
      }
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

  /// Places by the first bytes of the documents' ids, if the documents are neighbours in one collection, whose order
  /// is that of these bytes; without hints otherwise.
  private static func keyPlaces(_ documents: [Document], descending: Bool) -> [Place] {
    var places: [Place] = []
    places.reserveCapacity(documents.count)
    guard let first = documents.first else { return places }
    let collection = first.key.collection.text + "/"
    let allHaveHints = collection.withUTF8Bytes { collection in
      // Element by element in the buffer, since even a short-lived copy of a document counts references.
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

/// Where a document belongs, as far as one number can say, and where it is.
private struct Place {
  /// What is smaller comes first; what is equal must be compared in full.
  let hint: UInt64
  var index: Int

  init(hint: UInt64, index: Int, descending: Bool) {
    self.hint = descending ? ~hint : hint
    self.index = index
  }

  /// - Parameter collection: with the slash at its end.
  /// - Returns: `nil` for a path that is not directly below the collection, and for ids that could be numeric, which
  ///   are not ordered by their bytes.
  static func hint(ofPath path: UnsafeBufferPointer<UInt8>, below collection: UnsafeBufferPointer<UInt8>) -> UInt64? {
    guard path.count > collection.count else { return nil }
    for index in 0..<collection.count where path[index] != collection[index] { return nil }
    let id = UnsafeBufferPointer(rebasing: path[collection.count...])
    if id.count > 1, id[0] == UInt8(ascii: "_"), id[1] == UInt8(ascii: "_") { return nil }
    for byte in id where byte == UInt8(ascii: "/") { return nil }
    return firstBytes(id)
  }

  /// Big-endian, so that the numbers are ordered as the bytes are.
  static func firstBytes(_ bytes: UnsafeBufferPointer<UInt8>) -> UInt64 {
    var result: UInt64 = 0
    for index in 0..<8 { result = result << 8 | (index < bytes.count ? UInt64(bytes[index]) : 0) }
    return result
  }
}

extension Value {
  /// A number that never contradicts the total order: of two values the one with the smaller number comes first.
  fileprivate var orderHint: UInt64 {
    // The type's rank in the top byte, above zero, which stands for a missing value.
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

  /// The bits of a double, ordered as the numbers are; NaN first, and both zeros alike.
  private static func hint(of number: Double) -> UInt64 {
    if number.isNaN { return 0 }
    let bits = (number == 0 ? 0 : number).bitPattern
    return bits >> 63 == 1 ? ~bits : bits | 1 << 63
  }
}
