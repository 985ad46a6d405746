// SPDX-License-Identifier: Apache-2.0
public import Foundation

/// A type of the value of a `@DocumentID` property.
public protocol DocumentIDWrappable: Sendable {
  /// The value for a document.
  static func wrap(_ documentReference: DocumentReference) throws -> Self
}

extension String: DocumentIDWrappable {
  /// The document's id.
  public static func wrap(_ documentReference: DocumentReference) throws -> String { documentReference.documentID }
}

extension DocumentReference: DocumentIDWrappable {
  /// The reference itself.
  public static func wrap(_ documentReference: DocumentReference) throws -> DocumentReference { documentReference }
}

/// Holds the id (`String?`) or the reference (`DocumentReference?`) of the document that the value was read from.
///
/// It is never written into the document: encoding leaves the property out. Decoding fails with `fieldNameConflict` if
/// the document has a field of the property's name.
@propertyWrapper
public struct DocumentID<Value: DocumentIDWrappable & Codable>: Sendable, Codable {
  /// `nil` in a value that was not read from a document.
  public var wrappedValue: Value?

  /// Makes the property with the value that it has until it is read from a document.
  public init(wrappedValue: Value?) { self.wrappedValue = wrappedValue }

  /// The id or reference of the document that is decoded.
  /// - Throws: `FirestoreDecodingError` if the decoder knows no document.
  public init(from decoder: any Swift.Decoder) throws {
    // The decoder of this library is asked itself: its information would be made for each document.
    let known = (decoder as? StructureDecoder)?.context.reference
    guard let reference = known ?? decoder.userInfo[.documentReference] as? DocumentReference else {
      throw FirestoreDecodingError.decodingIsNotSupported(
        "@DocumentID needs a Firestore.Decoder that knows the document; use DocumentSnapshot.data(as:) or "
          + "Firestore.Decoder.decode(_:from:in:).")
    }
    wrappedValue = try Value.wrap(reference)
  }

  /// Writes nothing.
  public func encode(to encoder: any Swift.Encoder) throws {}
}

extension DocumentID: Equatable where Value: Equatable {}
extension DocumentID: Hashable where Value: Hashable {}

/// A type that the decoder does not treat like others: one question, which nearly every type denies, in place of three.
protocol DecodedInItsWay {}

/// A property that is no field of the document.
protocol DocumentIdentity: DecodedInItsWay {}
extension DocumentID: DocumentIdentity {}

extension CodingUserInfoKey {
  /// The key of the document that the data is from.
  static let documentReference = CodingUserInfoKey(rawValue: "hearth.documentReference")
}

extension Dictionary where Key == CodingUserInfoKey {
  /// Reads or writes the value of a key; an initializer of keys may fail, and `nil` has no value.
  subscript(key: CodingUserInfoKey?) -> Value? {
    get { key.flatMap { self[$0] } }
    set { if let key { self[key] = newValue } }
  }
}

/// A type of the value of a `@ServerTimestamp` property.
public protocol ServerTimestampWrappable: Sendable {
  /// The value for a time that was read.
  static func wrap(_ timestamp: Timestamp) throws -> Self
  /// The time to write for a value.
  static func unwrap(_ value: Self) throws -> Timestamp
}

extension Date: ServerTimestampWrappable {
  /// The time to the precision of a `Date`.
  public static func wrap(_ timestamp: Timestamp) throws -> Date { timestamp.dateValue() }
  /// The time to the microsecond.
  public static func unwrap(_ value: Date) throws -> Timestamp { Timestamp(date: value) }
}

extension Timestamp: ServerTimestampWrappable {
  /// The time itself.
  public static func wrap(_ timestamp: Timestamp) throws -> Timestamp { timestamp }
  /// The time itself.
  public static func unwrap(_ value: Timestamp) throws -> Timestamp { value }
}

/// A time that the backend sets when the property is `nil` as it is written. Read back before the backend has
/// answered, it is `nil` again.
@propertyWrapper
public struct ServerTimestamp<Value: ServerTimestampWrappable & Codable>: Sendable, Codable {
  /// `nil` for a time that the backend is to set.
  public var wrappedValue: Value?

  /// Makes the property with its first value; for `nil` the backend sets the time.
  public init(wrappedValue: Value?) { self.wrappedValue = wrappedValue }

  /// The time in the field; `nil` if the field is `null`.
  public init(from decoder: any Swift.Decoder) throws {
    let container = try decoder.singleValueContainer()
    wrappedValue = container.decodeNil() ? nil : try Value.wrap(try container.decode(Timestamp.self))
  }

  /// Writes the time; for `nil`, the server timestamp that the backend replaces by the time of its commit.
  public func encode(to encoder: any Swift.Encoder) throws {
    var container = encoder.singleValueContainer()
    if let wrappedValue {
      try container.encode(try Value.unwrap(wrappedValue))
    } else {
      try container.encode(FieldValue.serverTimestamp())
    }
  }
}

extension ServerTimestamp: Equatable where Value: Equatable {}
extension ServerTimestamp: Hashable where Value: Hashable {}

/// An optional that is written as `null` when it is `nil`; a plain optional that is `nil` is left out of the document.
@propertyWrapper
public struct ExplicitNull<Value> {
  /// `nil` for a field that is `null`.
  public var wrappedValue: Value?

  /// Makes the property with its first value.
  public init(wrappedValue: Value?) { self.wrappedValue = wrappedValue }
}

extension ExplicitNull: Encodable where Value: Encodable {
  /// Writes the value; `nil` as `null`.
  public func encode(to encoder: any Swift.Encoder) throws {
    var container = encoder.singleValueContainer()
    if let wrappedValue { try container.encode(wrappedValue) } else { try container.encodeNil() }
  }
}

extension ExplicitNull: Decodable where Value: Decodable {
  /// The value in the field; `nil` if the field is `null`.
  public init(from decoder: any Swift.Decoder) throws {
    let container = try decoder.singleValueContainer()
    wrappedValue = container.decodeNil() ? nil : try container.decode(Value.self)
  }
}

extension ExplicitNull: Equatable where Value: Equatable {}
extension ExplicitNull: Hashable where Value: Hashable {}
extension ExplicitNull: Sendable where Value: Sendable {}

/// A property whose field may be absent even though its type is no optional.
protocol AbsenceTolerant: DecodedInItsWay {}
extension ExplicitNull: AbsenceTolerant {}
extension ServerTimestamp: AbsenceTolerant {}
