// SPDX-License-Identifier: Apache-2.0

/// The result of a three-way comparison.
@frozen package enum Ordering: Int, Sendable {
  case ascending = -1
  case equal = 0
  case descending = 1

  /// Spares other modules the generic comparison of raw values.
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

  /// This ordering, or `next` if this one ties.
  package func then(_ next: @autoclosure () -> Ordering) -> Ordering {
    self == .equal ? next() : self
  }

  package init<T: Comparable>(_ left: T, _ right: T) {
    self = left < right ? .ascending : left == right ? .equal : .descending
  }
}

extension String {
  /// Compares the UTF-8 bytes, which is how Firestore orders strings, field names and path segments.
  /// (`String.<` compares normalised forms and `==` takes canonically equivalent strings for equal.)
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

  /// Calls `body` with the UTF-8 bytes, without copying if the string is stored as UTF-8.
  @inline(__always)
  package func withUTF8Bytes<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
    if let result = utf8.withContiguousStorageIfAvailable(body) { return result }
    var copy = self
    return copy.withUTF8(body)
  }
}

extension Ordering {
  /// Compares bytes as unsigned; a prefix comes first.
  package static func lexicographic(
    _ left: UnsafeBufferPointer<UInt8>, _ right: UnsafeBufferPointer<UInt8>
  ) -> Ordering {
    let index = firstDifference(left, right)
    if index < left.count, index < right.count { return left[index] < right[index] ? .ascending : .descending }
    return Ordering(left.count, right.count)
  }

  /// The first index at which the bytes differ, or where the shorter one ends; eight bytes at a time.
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
