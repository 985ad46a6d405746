// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import Foundation

/// Firestore values as Swift values.
///
/// Numbers come as `NSNumber`, as on Apple platforms: then `as? Int`, `as? Int64` and `as? Double` all work,
/// whichever of Firestore's two number types the field holds.
struct ValueDecoder {
  var firestore: Firestore
  var behavior: ServerTimestampBehavior

  func dictionary(_ fields: Fields) -> [String: Any] {
    var dictionary: [String: Any] = [:]
    dictionary.reserveCapacity(fields.count)
    for entry in fields.entries { dictionary[entry.name] = any(entry.value) }
    return dictionary
  }

  func any(_ value: Value) -> Any {
    switch value {
    case .null: NSNull()
    case .boolean(let value): value
    case .integer(let value): NSNumber(value: value)
    case .double(let value): NSNumber(value: value)
    case .timestamp(let value): Timestamp(value)
    case .serverTimestamp(let pending): any(pending)
    case .string(let value): value
    case .bytes(let value): Data(value)
    case .reference(let database, let key): reference(database, key)
    case .geoPoint(let value): GeoPoint(latitude: value.latitude, longitude: value.longitude)
    case .array(let values): values.map(any)
    case .vector(let values): VectorValue(values)
    case .map(let fields): dictionary(fields)
    }
  }

  private func any(_ pending: FirestoreModel.ServerTimestamp) -> Any {
    switch behavior {
    case .none: NSNull()
    case .estimate: Timestamp(pending.localWriteTime)
    case .previous: pending.previous.map(any) ?? NSNull()
    }
  }

  /// A reference into another database keeps its path but cannot be followed from here.
  private func reference(_ database: DatabaseID, _ key: DocumentKey) -> Any {
    if database == firestore.database { return DocumentReference(firestore: firestore, key: .success(key)) }
    return DocumentReference(
      firestore: firestore,
      key: .failure(.invalidArgument("\(database.name(of: key)) lies in another database.")))
  }
}
