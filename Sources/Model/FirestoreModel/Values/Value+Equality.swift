// SPDX-License-Identifier: Apache-2.0

extension Value: Hashable {
  package static func == (left: Value, right: Value) -> Bool {
    switch (left, right) {
    case (.null, .null): true
    case (.boolean(let left), .boolean(let right)): left == right
    case (.integer(let left), .integer(let right)): left == right
    case (.double(let left), .double(let right)): left.isIdentical(to: right)
    case (.timestamp(let left), .timestamp(let right)): left == right
    case (.serverTimestamp(let left), .serverTimestamp(let right)): left.localWriteTime == right.localWriteTime
    case (.string(let left), .string(let right)): left.equalsUTF8(right)
    case (.bytes(let left), .bytes(let right)): left == right
    case (.reference(let leftDatabase, let left), .reference(let rightDatabase, let right)):
      leftDatabase == rightDatabase && left == right
    case (.geoPoint(let left), .geoPoint(let right)):
      left.latitude.isIdentical(to: right.latitude) && left.longitude.isIdentical(to: right.longitude)
    case (.array(let left), .array(let right)): left == right
    case (.vector(let left), .vector(let right)):
      left.count == right.count && zip(left, right).allSatisfy { $0.isIdentical(to: $1) }
    case (.map(let left), .map(let right)): left == right
    default: false
    }
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(typeRank)
    switch self {
    case .null: break
    case .boolean(let value): hasher.combine(value)
    case .integer(let value): hasher.combine(value)
    case .double(let value): hasher.combine(value.identityBits)
    case .timestamp(let value): hasher.combine(value)
    case .serverTimestamp(let value): hasher.combine(value.localWriteTime)
    case .string(let value): value.hashUTF8(into: &hasher)
    case .bytes(let value): hasher.combine(value)
    case .reference(let database, let key):
      hasher.combine(database)
      hasher.combine(key)
    case .geoPoint(let value):
      hasher.combine(value.latitude.identityBits)
      hasher.combine(value.longitude.identityBits)
    case .array(let values): hasher.combine(values)
    case .vector(let values): for value in values { hasher.combine(value.identityBits) }
    case .map(let fields): hasher.combine(fields)
    }
  }

  /// Whether the backend takes the values for equal in filters and array transforms (PROTOCOL §3.2, §3.7): integer 1
  /// equals double 1.0 and 0.0 equals -0.0, also inside maps and arrays. That is, the values tie in the total order.
  package func equalsNumerically(_ other: Value) -> Bool { compare(other) == .equal }
}

extension Double {
  /// Whether both are NaN, or the same number with the same sign of zero.
  fileprivate func isIdentical(to other: Double) -> Bool { identityBits == other.identityBits }

  /// The bits, with all NaNs taken for one.
  var identityBits: UInt64 { isNaN ? Double.nan.bitPattern : bitPattern }
}

extension String {
  /// Hashes the UTF-8 bytes, consistent with `equalsUTF8`.
  package func hashUTF8(into hasher: inout Hasher) {
    hasher.combine(withUTF8Bytes { ByteHash.of(UnsafeRawBufferPointer($0)) })
  }
}

extension Fields: Hashable {
  package static func == (left: Fields, right: Fields) -> Bool {
    left.count == right.count
      && zip(left.entries, right.entries).allSatisfy { $0.name.equalsUTF8($1.name) && $0.value == $1.value }
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(count)
    for entry in entries {
      entry.name.hashUTF8(into: &hasher)
      hasher.combine(entry.value)
    }
  }
}
