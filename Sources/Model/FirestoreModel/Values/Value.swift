// SPDX-License-Identifier: Apache-2.0

/// A field's value: every type that Firestore stores, and the unresolved server timestamp of local views.
///
/// `==` is Firestore's strict equality: integer 1 differs from double 1.0 and 0.0 from -0.0, but NaN equals NaN
/// (document contents, `in`, `array-contains`). `compare` is the total order of queries, in which these numbers tie.
///
/// Only the recursive and the largest case are boxed, so that decoding a document of plain values allocates little.
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

/// A `FieldValue.serverTimestamp()` that the backend has not resolved yet. Exists in local views only.
package struct ServerTimestamp: Codable, Sendable {
  /// The time of the write, by this device's clock; orders the value and serves as its estimate.
  package var localWriteTime: Timestamp
  /// The value that the field held before, for `ServerTimestampBehavior.previous`; never itself a server timestamp.
  package var previous: Value?

  package init(localWriteTime: Timestamp, previous: Value?) {
    self.localWriteTime = localWriteTime
    self.previous = previous
  }
}

/// A place on Earth in degrees. Compared as plain numbers, latitude first.
package struct GeoPoint: Hashable, Sendable {
  package var latitude: Double
  package var longitude: Double

  package init(latitude: Double, longitude: Double) {
    self.latitude = latitude
    self.longitude = longitude
  }
}

extension Document {
  /// The size that Firestore accounts for a document (PROTOCOL §3.10), in bytes: name, fields and 32.
  package var byteSize: Int { key.byteSize + (data?.fields.byteSize ?? 0) + 32 }
}

extension DocumentKey {
  /// The size accounted for a name: each segment's bytes and 1, and 16.
  package var byteSize: Int { path.segments.reduce(16) { $0 + $1.utf8.count + 1 } }
}

extension Fields {
  /// The size accounted for all entries, names included.
  package var byteSize: Int { entries.reduce(0) { $0 + $1.name.utf8.count + 1 + $1.value.byteSize } }
}

extension Value {
  /// The size accounted for a value (PROTOCOL §3.10), in bytes. An unresolved server timestamp counts as the timestamp
  /// that it will be.
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
