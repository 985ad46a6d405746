// SPDX-License-Identifier: Apache-2.0

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
