// SPDX-License-Identifier: Apache-2.0

/// Why a value could not be decoded, where `DecodingError` does not say it.
public enum FirestoreDecodingError: Error, Hashable, Sendable {
  /// The type can only be decoded by `Firestore.Decoder`, or needs to be told which document the data is from.
  case decodingIsNotSupported(String)
  /// A `@DocumentID` property has the name of a field that the document has.
  case fieldNameConflict(String)
}

/// Why a value could not be encoded, where `EncodingError` does not say it.
public enum FirestoreEncodingError: Error, Hashable, Sendable {
  /// The type can only be encoded by `Firestore.Encoder`.
  case encodingIsNotSupported(String)
}
