// SPDX-License-Identifier: Apache-2.0
public import Foundation

/// A type that `@DocumentID` properties can have.
public protocol DocumentIDWrappable: Sendable {
  /// Returns the property's value for a document.
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

/// A property with the id (`String?`) or the reference (`DocumentReference?`) of the document from which the value was
/// decoded.
///
/// The property is never a field of the document: encoding omits it. Decoding fails with `fieldNameConflict` if the
/// document has a field with the property's name.
@propertyWrapper
public struct DocumentID<Value: DocumentIDWrappable & Codable>: Sendable, Codable {
  /// The id or reference; `nil` if the value was not read from a document.
  public var wrappedValue: Value?

  /// Creates the property with an initial value, which decoding replaces.
  public init(wrappedValue: Value?) { self.wrappedValue = wrappedValue }

  /// Gets the id or reference of the decoded document.
  /// - Throws: `FirestoreDecodingError` if the decoder has no document.
  public init(from decoder: any Swift.Decoder) throws {
    // Checks for this library's decoder first, because its `userInfo` is slow to create for each document.
    let known = (decoder as? StructureDecoder)?.context.reference
    guard let reference = known ?? decoder.userInfo[.documentReference] as? DocumentReference else {
      throw FirestoreDecodingError.decodingIsNotSupported(
        "@DocumentID needs a Firestore.Decoder that knows the document. Use DocumentSnapshot.data(as:) or "
          + "Firestore.Decoder.decode(_:from:in:).")
    }
    wrappedValue = try Value.wrap(reference)
  }

  /// Writes nothing.
  public func encode(to encoder: any Swift.Encoder) throws {}
}

extension DocumentID: Equatable where Value: Equatable {}
extension DocumentID: Hashable where Value: Hashable {}

/// A type that needs special decoding or encoding. The coders first try to cast a value to this protocol. Nearly all
/// types fail this cast, so the casts to the more specific protocols are rarely needed.
protocol DecodedInItsWay {}

/// A property that is not a field of the document.
protocol DocumentIdentity: DecodedInItsWay {}
extension DocumentID: DocumentIdentity {}

extension CodingUserInfoKey {
  /// The key of the entry in `userInfo` that contains the reference of the decoded document.
  static let documentReference = CodingUserInfoKey(rawValue: "hearth.documentReference")
}

extension Dictionary where Key == CodingUserInfoKey {
  /// The value for a key; `nil` for a `nil` key. Accepts optional keys because the initializer of `CodingUserInfoKey`
  /// is failable.
  subscript(key: CodingUserInfoKey?) -> Value? {
    get { key.flatMap { self[$0] } }
    set { if let key { self[key] = newValue } }
  }
}

/// A type that `@ServerTimestamp` properties can have.
public protocol ServerTimestampWrappable: Sendable {
  /// Converts a decoded time to the property's value.
  static func wrap(_ timestamp: Timestamp) throws -> Self
  /// Converts the property's value to the time to write.
  static func unwrap(_ value: Self) throws -> Timestamp
}

extension Date: ServerTimestampWrappable {
  /// The time, with the precision of a `Date`.
  public static func wrap(_ timestamp: Timestamp) throws -> Date { timestamp.dateValue() }
  /// The time, rounded to microseconds.
  public static func unwrap(_ value: Date) throws -> Timestamp { Timestamp(date: value) }
}

extension Timestamp: ServerTimestampWrappable {
  /// The unchanged time.
  public static func wrap(_ timestamp: Timestamp) throws -> Timestamp { timestamp }
  /// The unchanged time.
  public static func unwrap(_ value: Timestamp) throws -> Timestamp { value }
}

/// A property that stores a time. If the property is `nil` when it is written, the backend sets the time. Until the
/// backend has acknowledged the write, the property is read as `nil`.
@propertyWrapper
public struct ServerTimestamp<Value: ServerTimestampWrappable & Codable>: Sendable, Codable {
  /// The time; `nil` to let the backend set it.
  public var wrappedValue: Value?

  /// Creates the property with its initial value. For `nil`, the backend sets the time.
  public init(wrappedValue: Value?) { self.wrappedValue = wrappedValue }

  /// Decodes the time in the field; `nil` if the field is `null`.
  public init(from decoder: any Swift.Decoder) throws {
    let container = try decoder.singleValueContainer()
    wrappedValue = container.decodeNil() ? nil : try Value.wrap(try container.decode(Timestamp.self))
  }

  /// Writes the time. For `nil`, writes a server timestamp, which the backend replaces with the commit time.
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

/// An optional property that is written as `null` if it is `nil`. A plain optional that is `nil` is omitted from the
/// document.
@propertyWrapper
public struct ExplicitNull<Value> {
  /// The value; `nil` if the field is `null`.
  public var wrappedValue: Value?

  /// Creates the property with its initial value.
  public init(wrappedValue: Value?) { self.wrappedValue = wrappedValue }
}

extension ExplicitNull: Encodable where Value: Encodable {
  /// Writes the value, or `null` if it is `nil`.
  public func encode(to encoder: any Swift.Encoder) throws {
    var container = encoder.singleValueContainer()
    if let wrappedValue { try container.encode(wrappedValue) } else { try container.encodeNil() }
  }
}

extension ExplicitNull: Decodable where Value: Decodable {
  /// Decodes the value in the field; `nil` if the field is `null`.
  public init(from decoder: any Swift.Decoder) throws {
    let container = try decoder.singleValueContainer()
    wrappedValue = container.decodeNil() ? nil : try container.decode(Value.self)
  }
}

extension ExplicitNull: Equatable where Value: Equatable {}
extension ExplicitNull: Hashable where Value: Hashable {}
extension ExplicitNull: Sendable where Value: Sendable {}

/// A property that can be decoded even if its field is absent, although its type is not optional.
protocol AbsenceTolerant: DecodedInItsWay {}
extension ExplicitNull: AbsenceTolerant {}
extension ServerTimestamp: AbsenceTolerant {}
