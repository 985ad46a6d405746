// SPDX-License-Identifier: Apache-2.0

/// A type that is an object in the SDK for Apple platforms, with the spellings that it has there from `NSObject`. Here
/// it is a value, for which `==` and an assignment say the same.
public protocol FirestoreObject: Equatable {}

extension FirestoreObject {
  /// Whether the other is of this type and equal (`==`).
  public func isEqual(_ object: Any?) -> Bool { object as? Self == self }

  /// The value itself, since nobody can change it for others.
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
  /// Whether the other is a query that asks the same of the same database.
  public func isEqual(_ object: Any?) -> Bool { (object as? any Query).map { $0 == self } ?? false }

  /// The value itself, since nobody can change it for others.
  public func copy() -> Any { self }
}

extension DocumentSnapshot {
  /// Whether the other shows the same document with the same data; metadata does not matter.
  public func isEqual(_ object: Any?) -> Bool { (object as? any DocumentSnapshot).map { $0 == self } ?? false }

  /// The value itself, since nobody can change it for others.
  public func copy() -> Any { self }
}

// Objects here as well, which can be changed.

extension FirestoreSettings {
  /// Whether the other are settings with which a client would be the same.
  public func isEqual(_ object: Any?) -> Bool { object as? FirestoreSettings == self }

  /// Settings of their own that say the same.
  public func copy() -> Any { FirestoreSettings(values) }
}

extension TransactionOptions {
  /// Whether the other are options that say the same.
  public func isEqual(_ object: Any?) -> Bool { object as? TransactionOptions == self }

  /// Options of their own that say the same.
  public func copy() -> Any {
    let options = TransactionOptions()
    options.maxAttempts = maxAttempts
    return options
  }
}
