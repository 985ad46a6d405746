// SPDX-License-Identifier: Apache-2.0

/// A type that is a value type in Hearth, but a class in the SDK for Apple platforms. In the SDK, the class inherits
/// two methods from `NSObject`. Hearth defines both: `isEqual` corresponds to `==`, and `copy` to an assignment.
public protocol FirestoreObject: Equatable {}

extension FirestoreObject {
  /// Whether the other value has the same type and is equal (`==`).
  public func isEqual(_ object: Any?) -> Bool { object as? Self == self }

  /// The value itself, which needs no copy because it is immutable.
  public func copy() -> Any { self }
}

extension Timestamp: FirestoreObject {}
extension GeoPoint: FirestoreObject {}
extension VectorValue: FirestoreObject {}
extension FieldPath: FirestoreObject {}
extension FieldValue: FirestoreObject {}
extension DocumentReference: FirestoreObject {}
extension Filter: FirestoreObject {}
extension AggregateField: FirestoreObject {}
extension AggregateQuery: FirestoreObject {}
extension AggregateQuerySnapshot: FirestoreObject {}
extension QuerySnapshot: FirestoreObject {}
extension DocumentChange: FirestoreObject {}
extension SnapshotMetadata: FirestoreObject {}
extension SnapshotListenOptions: FirestoreObject {}
extension PersistentCacheSettings: FirestoreObject {}

extension Query {
  /// Whether the other value is the same query of the same database.
  public func isEqual(_ object: Any?) -> Bool { (object as? any Query).map { $0 == self } ?? false }

  /// The value itself, which needs no copy because it is immutable.
  public func copy() -> Any { self }
}

extension DocumentSnapshot {
  /// Whether the other value shows the same document with the same data, regardless of metadata.
  public func isEqual(_ object: Any?) -> Bool { (object as? any DocumentSnapshot).map { $0 == self } ?? false }

  /// The value itself, which needs no copy because it is immutable.
  public func copy() -> Any { self }
}

// Settings and options are mutable objects here as well.

extension FirestoreSettings {
  /// Whether clients with these settings behave the same.
  public func isEqual(_ object: Any?) -> Bool { object as? FirestoreSettings == self }

  /// A new settings object with the same values.
  public func copy() -> Any { FirestoreSettings(values) }
}

extension TransactionOptions {
  /// Whether the other object has the type `TransactionOptions` and the same values.
  public func isEqual(_ object: Any?) -> Bool { object as? TransactionOptions == self }

  /// A new options object with the same values.
  public func copy() -> Any {
    let options = TransactionOptions()
    options.maxAttempts = maxAttempts
    return options
  }
}
