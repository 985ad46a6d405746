// SPDX-License-Identifier: Apache-2.0

extension Value {
  /// The rank of the value's type in Firestore's total order. Range and equality filters match only values with the
  /// same rank. All ranks are even, except some ranks of `BSONValue`.
  package var typeRank: Int {
    switch self {
    case .null: 0
    case .boolean: 2
    case .integer, .double: 4
    case .timestamp: 6
    case .serverTimestamp: 8
    case .string: 10
    case .bytes: 12
    case .reference: 14
    case .geoPoint: 16
    case .array: 18
    case .vector: 20
    case .map(let fields): fields.isInternalMaximum ? 24 : BSONValue(fields)?.typeRank ?? 22
    }
  }

  /// Compares two values in Firestore's total order. The integer 1 and the double 1.0 compare as equal. So do 0.0 and
  /// -0.0, and all NaNs. Integers and doubles are compared exactly, as in the native SDK and the backend.
  /// - Parameter numericIDs: determines how numeric ids in references are ordered. By default, they are ordered as in
  ///   the client SDKs.
  package func compare(_ other: Value, _ numericIDs: NumericIDOrder = .asText) -> Ordering {
    switch (self, other) {
    case (.null, .null): return .equal
    case (.boolean(let left), .boolean(let right)): return Ordering(left ? 1 : 0, right ? 1 : 0)
    case (.integer(let left), .integer(let right)): return Ordering(left, right)
    case (.double(let left), .double(let right)): return Ordering.numeric(left, right)
    case (.integer(let left), .double(let right)): return Ordering.numeric(left, right)
    case (.double(let left), .integer(let right)): return Ordering.numeric(right, left).reversed
    case (.timestamp(let left), .timestamp(let right)): return Ordering(left, right)
    case (.serverTimestamp(let left), .serverTimestamp(let right)):
      return Ordering(left.localWriteTime, right.localWriteTime)
    case (.string(let left), .string(let right)): return left.compareUTF8(right)
    case (.bytes(let left), .bytes(let right)):
      return left.withUnsafeBufferPointer { left in right.withUnsafeBufferPointer { Ordering.lexicographic(left, $0) } }
    case (.reference(let leftDatabase, let left), .reference(let rightDatabase, let right)):
      return leftDatabase.project.compareUTF8(rightDatabase.project)
        .then(leftDatabase.database.compareUTF8(rightDatabase.database))
        .then(left.path.compare(right.path, numericIDs))
    case (.geoPoint(let left), .geoPoint(let right)):
      return Ordering.numeric(left.latitude, right.latitude).then(Ordering.numeric(left.longitude, right.longitude))
    case (.array(let left), .array(let right)): return Ordering.pairwise(left, right) { $0.compare($1, numericIDs) }
    case (.vector(let left), .vector(let right)):
      return Ordering(left.count, right.count).then(Ordering.pairwise(left, right) { Ordering.numeric($0, $1) })
    case (.map(let left), .map(let right)):
      let byType = Ordering(typeRank, other.typeRank)
      if byType != .equal { return byType }
      if let left = BSONValue(left), let right = BSONValue(right) { return left.compare(right) }
      return Ordering.pairwise(left.entries, right.entries) { left, right in
        left.name.compareUTF8(right.name).then(left.value.compare(right.value, numericIDs))
      }
    default:
      let byType = Ordering(typeRank, other.typeRank)
      if byType == .equal, let left = orderedNumber, let right = other.orderedNumber { return left.compare(right) }
      return byType
    }
  }
}

extension BSONValue {
  /// Compares two values of the same type.
  /// - Precondition: both values have the same type.
  fileprivate func compare(_ other: BSONValue) -> Ordering {
    Ordering.pairwise(parts, other.parts) { $0.compare($1) }
  }
}

extension Fields {
  /// Whether this is the map that SDKs use as an upper bound for every value in an index (VALUE-ORDER, rank 12).
  fileprivate var isInternalMaximum: Bool {
    guard count == 1, entries[0].name == "__type__", case .string("__max__") = entries[0].value else { return false }
    return true
  }
}

extension Ordering {
  /// Compares two doubles. NaN comes before all other doubles, and 0.0 and -0.0 compare as equal.
  package static func numeric(_ left: Double, _ right: Double) -> Ordering {
    if left < right { return .ascending }
    if left > right { return .descending }
    if left == right { return .equal }
    return Ordering(left.isNaN ? 0 : 1, right.isNaN ? 0 : 1)
  }

  /// Compares an integer and a double exactly, even beyond 2^53, where doubles cannot represent every integer.
  package static func numeric(_ left: Int64, _ right: Double) -> Ordering {
    if right.isNaN { return .descending }
    if right < -0x1p63 { return .descending }
    if right >= 0x1p63 { return .ascending }
    let truncated = Int64(right)
    let ordering = Ordering(left, truncated)
    return ordering != .equal ? ordering : numeric(Double(truncated), right)
  }

  /// Compares element by element. If one array is a prefix of the other, the prefix comes first.
  static func pairwise<T>(_ left: [T], _ right: [T], _ compare: (T, T) -> Ordering) -> Ordering {
    for (left, right) in zip(left, right) {
      let ordering = compare(left, right)
      if ordering != .equal { return ordering }
    }
    return Ordering(left.count, right.count)
  }
}

/// The result of a three-way comparison.
@frozen package enum Ordering: Int, Sendable {
  case ascending = -1
  case equal = 0
  case descending = 1

  /// Whether two orderings are equal. Declared explicitly, because other modules would otherwise use the slower generic
  /// comparison of raw values.
  package static func == (left: Ordering, right: Ordering) -> Bool {
    switch (left, right) {
    case (.ascending, .ascending), (.equal, .equal), (.descending, .descending): true
    default: false
    }
  }

  package var reversed: Ordering {
    switch self {
    case .ascending: .descending
    case .equal: .equal
    case .descending: .ascending
    }
  }

  /// This ordering, or `next` if this ordering is `equal`.
  package func then(_ next: @autoclosure () -> Ordering) -> Ordering {
    self == .equal ? next() : self
  }

  package init<T: Comparable>(_ left: T, _ right: T) {
    self = left < right ? .ascending : left == right ? .equal : .descending
  }
}

extension String {
  /// Compares the UTF-8 bytes. Firestore orders strings, field names and path segments in this way. In contrast,
  /// `String.<` compares normalized forms, and `==` treats canonically equivalent strings as equal.
  package func compareUTF8(_ other: String) -> Ordering {
    withUTF8Bytes { left in other.withUTF8Bytes { right in Ordering.lexicographic(left, right) } }
  }

  /// Whether both strings consist of the same UTF-8 bytes.
  package func equalsUTF8(_ other: String) -> Bool {
    withUTF8Bytes { left in
      other.withUTF8Bytes { right in
        left.count == right.count
          && (left.baseAddress == right.baseAddress || Ordering.firstDifference(left, right) == left.count)
      }
    }
  }

  /// Calls `body` with the UTF-8 bytes. If the string is stored as UTF-8, the bytes are not copied.
  @inline(__always)
  package func withUTF8Bytes<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
    if let result = utf8.withContiguousStorageIfAvailable(body) { return result }
    var copy = self
    return copy.withUTF8(body)
  }
}

extension Ordering {
  /// Compares bytes as unsigned numbers. If one buffer is a prefix of the other, the prefix comes first.
  package static func lexicographic(
    _ left: UnsafeBufferPointer<UInt8>, _ right: UnsafeBufferPointer<UInt8>
  ) -> Ordering {
    let index = firstDifference(left, right)
    if index < left.count, index < right.count { return left[index] < right[index] ? .ascending : .descending }
    return Ordering(left.count, right.count)
  }

  /// The index of the first byte that differs. If there is none, the length of the shorter buffer. Compares eight bytes
  /// at a time.
  static func firstDifference(_ left: UnsafeBufferPointer<UInt8>, _ right: UnsafeBufferPointer<UInt8>) -> Int {
    let shared = min(left.count, right.count)
    let (a, b) = (UnsafeRawBufferPointer(left), UnsafeRawBufferPointer(right))
    var index = 0
    while index + 8 <= shared {
      let difference =
        UInt64(littleEndian: a.loadUnaligned(fromByteOffset: index, as: UInt64.self))
        ^ UInt64(littleEndian: b.loadUnaligned(fromByteOffset: index, as: UInt64.self))
      if difference != 0 { return index + difference.trailingZeroBitCount / 8 }
      index += 8
    }
    while index < shared, left[index] == right[index] { index += 1 }
    return index
  }
}

extension Range<Int> {
  /// The first index that satisfies the predicate, or the range's upper bound if there is none. Requires that all
  /// indexes that satisfy the predicate come after those that do not. Calls the predicate about log2(count) times.
  @inlinable
  package func partitioningIndex(where predicate: (Int) -> Bool) -> Int {
    var (low, high) = (lowerBound, upperBound)
    while low < high {
      let middle = low + (high - low) / 2
      if predicate(middle) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
