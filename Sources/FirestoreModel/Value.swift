// SPDX-License-Identifier: Apache-2.0

/// A field's value: every type that Firestore stores, and the unresolved server timestamp of local views.
///
/// `==` is Firestore's strict equality: integer 1 differs from double 1.0 and 0.0 from -0.0, but NaN equals NaN
/// (document contents, `in`, `array-contains`). `compare` is the total order of queries, in which those tie.
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
package struct ServerTimestamp: Sendable {
  /// When the write was made, by this device's clock; orders the value and serves as its estimate.
  package var localWriteTime: Timestamp
  /// What the field held before, for `ServerTimestampBehavior.previous`; never itself a server timestamp.
  package var previous: Value?

  package init(localWriteTime: Timestamp, previous: Value?) {
    self.localWriteTime = localWriteTime
    self.previous = previous
  }
}
