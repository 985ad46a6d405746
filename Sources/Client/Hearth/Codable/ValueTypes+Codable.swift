// SPDX-License-Identifier: Apache-2.0

// `Firestore.Encoder` and `Firestore.Decoder` pass Firestore's own types through. Other coders get an error for those
// that mean nothing without a database.

extension DocumentReference: Codable {
  /// Always throws: a reference is nothing without its `Firestore`.
  public init(from decoder: any Swift.Decoder) throws {
    throw FirestoreDecodingError.decodingIsNotSupported(
      "A DocumentReference can only be decoded by Firestore.Decoder.")
  }

  /// Always throws.
  public func encode(to encoder: any Swift.Encoder) throws {
    throw FirestoreEncodingError.encodingIsNotSupported(
      "A DocumentReference can only be encoded by Firestore.Encoder.")
  }
}

extension FieldValue: Encodable {
  /// Always throws.
  public func encode(to encoder: any Swift.Encoder) throws {
    throw FirestoreEncodingError.encodingIsNotSupported("A FieldValue can only be encoded by Firestore.Encoder.")
  }
}

/// Types that the coders of this module hand on as they are.
enum FirestoreOwnTypes {
  static func contain(_ value: Any) -> Bool {
    switch value {
    case is Timestamp, is GeoPoint, is VectorValue, is DocumentReference, is FieldValue: true
    default: false
    }
  }

  static func contain<T>(type: T.Type) -> Bool {
    type == Timestamp.self || type == GeoPoint.self || type == VectorValue.self || type == DocumentReference.self
  }
}
