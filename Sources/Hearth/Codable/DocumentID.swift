// SPDX-License-Identifier: Apache-2.0

/// What a `@DocumentID` property can hold.
public protocol DocumentIDWrappable: Sendable {
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

  /// What it holds until the value is read from a document.
  public init(wrappedValue: Value?) { self.wrappedValue = wrappedValue }

  public init(from decoder: any Swift.Decoder) throws {
    guard let reference = decoder.userInfo[.documentReference] as? DocumentReference else {
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

/// A property that is no field of the document.
protocol DocumentIdentity {}
extension DocumentID: DocumentIdentity {}

extension CodingUserInfoKey {
  /// Which document the data is from.
  static let documentReference = CodingUserInfoKey(rawValue: "hearth.documentReference")
}

extension Dictionary where Key == CodingUserInfoKey {
  /// With a key that might not have been possible to make.
  subscript(key: CodingUserInfoKey?) -> Value? {
    get { key.flatMap { self[$0] } }
    set { if let key { self[key] = newValue } }
  }
}
