// SPDX-License-Identifier: Apache-2.0

extension ResourcePath: Comparable {
  package static func < (left: ResourcePath, right: ResourcePath) -> Bool { left.compare(right) == .ascending }

  /// Segment by segment: numeric ids (`__id7__`) first and by number, the others by UTF-8; fewer segments first.
  package func compare(_ other: ResourcePath) -> Ordering { compare(other, numericIDs: true) }

  /// The order inside reference *values*, where numeric ids are plain strings.
  package func compareAsText(_ other: ResourcePath) -> Ordering { compare(other, numericIDs: false) }

  private func compare(_ other: ResourcePath, numericIDs: Bool) -> Ordering {
    text.withUTF8Bytes { left in
      other.text.withUTF8Bytes { right in Self.compare(left, right, numericIDs: numericIDs) }
    }
  }

  private static func compare(
    _ left: UnsafeBufferPointer<UInt8>, _ right: UnsafeBufferPointer<UInt8>, numericIDs: Bool
  ) -> Ordering {
    let index = Ordering.firstDifference(left, right)
    if index == left.count && index == right.count { return .equal }
    var start = index
    while start > 0, left[start - 1] != UInt8(ascii: "/") { start -= 1 }
    let a = segment(of: left, from: start)
    let b = segment(of: right, from: start)
    if numericIDs {
      switch (numericID(a), numericID(b)) {
      case (let x?, let y?) where x != y: return Ordering(x, y)
      case (_?, nil): return .ascending
      case (nil, _?): return .descending
      default: break
      }
    }
    // Equal first segments happen where one path ends and the other goes on.
    return Ordering.lexicographic(a, b).then(Ordering(left.count, right.count))
  }

  private static func segment(of text: UnsafeBufferPointer<UInt8>, from start: Int) -> UnsafeBufferPointer<UInt8> {
    var end = start
    while end < text.count, text[end] != UInt8(ascii: "/") { end += 1 }
    return UnsafeBufferPointer(rebasing: text[start..<end])
  }

  /// The number in `__id<N>__`; `nil` for any other segment.
  fileprivate static func numericID(_ segment: UnsafeBufferPointer<UInt8>) -> Int64? {
    guard segment.count > 6, segment[0] == UInt8(ascii: "_"), segment[1] == UInt8(ascii: "_"),
      segment[2] == UInt8(ascii: "i"), segment[3] == UInt8(ascii: "d"),
      segment[segment.count - 1] == UInt8(ascii: "_"), segment[segment.count - 2] == UInt8(ascii: "_")
    else { return nil }
    let digits = segment[4..<(segment.count - 2)]
    guard digits.first != UInt8(ascii: "+") else { return nil }
    return Int64(String(decoding: digits, as: UTF8.self))
  }
}

extension StringProtocol {
  /// Whether the name has the form `__…__` with something in between, which Firestore keeps for itself.
  @inlinable package var isReservedName: Bool {
    utf8.count > 4 && utf8.starts(with: "__".utf8) && utf8.suffix(2).elementsEqual("__".utf8)
  }
}

extension String {
  /// Whether this is a numeric document id, `__id<int64>__`: reserved in form, but legal.
  package var isNumericID: Bool { withUTF8Bytes { ResourcePath.numericID($0) != nil } }
}
