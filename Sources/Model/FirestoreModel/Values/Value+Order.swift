// SPDX-License-Identifier: Apache-2.0

extension Value {
  /// The rank of the type in the total order; range and equality filters only match values of one rank. Ranks are even,
  /// except some of `BSONValue`.
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

  /// Compares two values in Firestore's total order. Integer 1 and double 1.0 tie, as do 0.0 and -0.0 and all NaNs.
  /// Integers and doubles are compared exactly, as the native client and the backend do.
  package func compare(_ other: Value) -> Ordering {
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
        .then(left.path.compareAsText(right.path))
    case (.geoPoint(let left), .geoPoint(let right)):
      return Ordering.numeric(left.latitude, right.latitude).then(Ordering.numeric(left.longitude, right.longitude))
    case (.array(let left), .array(let right)): return Ordering.pairwise(left, right) { $0.compare($1) }
    case (.vector(let left), .vector(let right)):
      return Ordering(left.count, right.count).then(Ordering.pairwise(left, right) { Ordering.numeric($0, $1) })
    case (.map(let left), .map(let right)):
      let byType = Ordering(typeRank, other.typeRank)
      if byType != .equal { return byType }
      if let left = BSONValue(left), let right = BSONValue(right) { return left.compare(right) }
      return Ordering.pairwise(left.entries, right.entries) { left, right in
        left.name.compareUTF8(right.name).then(left.value.compare(right.value))
      }
    default:
      let byType = Ordering(typeRank, other.typeRank)
      if byType == .equal, let left = orderedNumber, let right = other.orderedNumber { return left.compare(right) }
      return byType
    }
  }
}

extension BSONValue {
  /// Compares two values of one type.
  /// - Precondition: both are of one type.
  fileprivate func compare(_ other: BSONValue) -> Ordering {
    Ordering.pairwise(parts, other.parts) { $0.compare($1) }
  }
}

extension Fields {
  /// Whether this is the map that SDKs use as a bound above every value of an index (VALUE-ORDER, rank 12).
  fileprivate var isInternalMaximum: Bool {
    guard count == 1, entries[0].name == "__type__", case .string("__max__") = entries[0].value else { return false }
    return true
  }
}

extension Ordering {
  /// Compares two doubles: NaN first, then by number; the two zeros tie.
  package static func numeric(_ left: Double, _ right: Double) -> Ordering {
    if left < right { return .ascending }
    if left > right { return .descending }
    if left == right { return .equal }
    return Ordering(left.isNaN ? 0 : 1, right.isNaN ? 0 : 1)
  }

  /// Compares exactly, also beyond 2^53, where a double cannot hold every integer.
  package static func numeric(_ left: Int64, _ right: Double) -> Ordering {
    if right.isNaN { return .descending }
    if right < -0x1p63 { return .descending }
    if right >= 0x1p63 { return .ascending }
    let truncated = Int64(right)
    let ordering = Ordering(left, truncated)
    return ordering != .equal ? ordering : numeric(Double(truncated), right)
  }

  /// Compares element by element; a prefix comes first.
  static func pairwise<T>(_ left: [T], _ right: [T], _ compare: (T, T) -> Ordering) -> Ordering {
    for (left, right) in zip(left, right) {
      let ordering = compare(left, right)
      if ordering != .equal { return ordering }
    }
    return Ordering(left.count, right.count)
  }
}
