// SPDX-License-Identifier: Apache-2.0

/// A field's value: any type that Firestore stores, or the unresolved server timestamp of a local view.
///
/// The operator `==` is Firestore's strict equality, used for document contents, `in` and `array-contains`. The integer
/// 1 does not equal the double 1.0, and 0.0 does not equal -0.0, but NaN equals NaN. The function `compare` implements
/// the total order of queries, in which 1 equals 1.0, and 0.0 equals -0.0.
///
/// Only the recursive case and the largest case are boxed (`indirect`), so that documents with simple values can be
/// decoded with few allocations.
package enum Value: Sendable {
  case null
  case boolean(Bool)
  case integer(Int64)
  case double(Double)
  case timestamp(Timestamp)
  indirect case serverTimestamp(ServerTimestamp)
  case string(String)
  case bytes([UInt8])
  indirect case reference(DatabaseID, DocumentKey)
  case geoPoint(GeoPoint)
  case array([Value])
  case vector([Double])
  case map(Fields)
}

/// A `FieldValue.serverTimestamp()` that the backend has not resolved yet. This value exists only in local views.
package struct ServerTimestamp: Sendable {
  /// The time of the write by this device's clock. It serves as the estimate of the value, and for ordering the value.
  package var localWriteTime: Timestamp
  /// The field's previous value, which `ServerTimestampBehavior.previous` shows. It is never a server timestamp itself.
  package var previous: Value?

  package init(localWriteTime: Timestamp, previous: Value?) {
    self.localWriteTime = localWriteTime
    self.previous = previous
  }
}

/// A location on Earth in degrees. Locations are ordered by latitude and then by longitude, as numbers.
package struct GeoPoint: Hashable, Sendable {
  package var latitude: Double
  package var longitude: Double

  package init(latitude: Double, longitude: Double) {
    self.latitude = latitude
    self.longitude = longitude
  }
}

extension Document {
  /// The document's size in bytes, calculated as Firestore does for its size limit (PROTOCOL §3.10). It is the sum of
  /// the sizes of its name and fields, plus 32.
  package var byteSize: Int { key.byteSize + (data?.fields.byteSize ?? 0) + 32 }
}

extension DocumentKey {
  /// The size of a name in bytes, calculated as Firestore does: the bytes of each segment plus 1, and 16 for the whole
  /// name.
  package var byteSize: Int { path.segments.reduce(16) { $0 + $1.utf8.count + 1 } }
}

extension Fields {
  /// The size of all entries in bytes, including their names, calculated as Firestore does.
  package var byteSize: Int { entries.reduce(0) { $0 + $1.name.utf8.count + 1 + $1.value.byteSize } }
}

extension Value {
  /// The size of a value in bytes, calculated as Firestore does (PROTOCOL §3.10). An unresolved server timestamp counts
  /// as a timestamp.
  package var byteSize: Int {
    switch self {
    case .null, .boolean: 1
    case .integer, .double, .timestamp, .serverTimestamp: 8
    case .string(let text): text.utf8.count + 1
    case .bytes(let bytes): bytes.count
    case .reference(_, let key): key.byteSize
    case .geoPoint: 16
    case .array(let values): values.reduce(0) { $0 + $1.byteSize }
    case .vector(let elements):
      TypedMap.type.utf8.count + 1 + TypedMap.vector.utf8.count + 1 + TypedMap.vectorElements.utf8.count + 1
        + 8 * elements.count
    case .map(let fields): fields.byteSize
    }
  }
}

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

  /// Whether the backend treats the values as equal in filters and array transforms (PROTOCOL §3.2, §3.7). This is the
  /// case if they compare as equal in the total order: the integer 1 equals the double 1.0, and 0.0 equals -0.0, even
  /// inside maps and arrays.
  package func equalsNumerically(_ other: Value) -> Bool { compare(other) == .equal }
}

extension Double {
  /// Whether both numbers are NaN, or are equal including the sign of zero.
  fileprivate func isIdentical(to other: Double) -> Bool { identityBits == other.identityBits }

  /// The bits of the number, with a single representation for all NaNs.
  var identityBits: UInt64 { isNaN ? Double.nan.bitPattern : bitPattern }
}

extension String {
  /// Hashes the UTF-8 bytes. Strings that are equal according to `equalsUTF8` have equal hashes.
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

/// A value of a BSON type. Newer clients write such a value as a map with one entry whose name is reserved. This
/// package treats the value as a map, except that it has a separate rank in the total order (firebase-js-sdk,
/// `TypeOrder`).
enum BSONValue {
  case minimumKey
  case timestamp(seconds: Int64, increment: Int64)
  case binary([UInt8])
  case objectID(String)
  case regularExpression(pattern: String, options: String)
  case maximumKey
  /// A 32-bit integer, or a decimal number. The nearest double represents a decimal number.
  case number(Value)

  init?(_ fields: Fields) {
    guard fields.count == 1, fields.entries[0].name.utf8.starts(with: "__".utf8) else { return nil }
    let (name, value) = fields.entries[0]
    switch (name, value) {
    case ("__min__", .null): self = .minimumKey
    case ("__max__", .null): self = .maximumKey
    case ("__int__", .integer): self = .number(value)
    case ("__decimal128__", .string(let text)): self = .number(.double(Double(text) ?? .nan))
    case ("__oid__", .string(let text)): self = .objectID(text)
    case ("__binary__", .bytes(let bytes)): self = .binary(bytes)
    case ("__request_timestamp__", .map(let parts)):
      guard case .integer(let seconds)? = parts["seconds"], case .integer(let increment)? = parts["increment"] else {
        return nil
      }
      self = .timestamp(seconds: seconds, increment: increment)
    case ("__regex__", .map(let parts)):
      guard case .string(let pattern)? = parts["pattern"], case .string(let options)? = parts["options"] else {
        return nil
      }
      self = .regularExpression(pattern: pattern, options: options)
    default: return nil
    }
  }

  /// The rank in the total order, comparable with `Value.typeRank`. It may equal the rank of another type, or be
  /// between the ranks of two other types.
  var typeRank: Int {
    switch self {
    case .minimumKey: 1
    case .number: 4
    case .timestamp: 7
    case .binary: 13
    case .objectID: 15
    case .regularExpression: 17
    case .maximumKey: 23
    }
  }

  /// The sort keys by which values of the same type are compared. The most significant key comes first.
  var parts: [Value] {
    switch self {
    case .minimumKey, .maximumKey: []
    case .number(let number): [number]
    case .timestamp(let seconds, let increment): [.integer(seconds), .integer(increment)]
    case .binary(let bytes): [.bytes(bytes)]
    case .objectID(let text): [.string(text)]
    case .regularExpression(let pattern, let options): [.string(pattern), .string(options)]
    }
  }
}

extension Value {
  var bson: BSONValue? { if case .map(let fields) = self { BSONValue(fields) } else { nil } }

  /// The name of the BSON type as used in pipelines; `nil` if the value has another type.
  package var bsonType: String? {
    switch bson {
    case .minimumKey?: "min_key"
    case .maximumKey?: "max_key"
    case .number(.integer)?: "int32"
    case .number?: "decimal128"
    case .timestamp?: "request_timestamp"
    case .binary?: "bytes"
    case .objectID?: "object_id"
    case .regularExpression?: "regex"
    case nil: nil
    }
  }

  /// The number by which the value is ordered, including BSON numbers; `nil` if the value is not a number.
  package var orderedNumber: Value? {
    switch self {
    case .integer, .double: self
    default: if case .number(let number)? = bson { number } else { nil }
    }
  }
}
