// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import Foundation

extension DocumentSnapshot {
  /// The document, decoded as a value.
  ///
  /// - Parameters:
  ///   - type: an optional type if the document may not exist; then it is decoded as `nil`.
  ///   - serverTimestampBehavior: the value that a server timestamp reads as until the backend has set it.
  /// - Throws: `DecodingError.valueNotFound` that names the document, over a `FirestoreError` with the code `notFound`,
  ///   if it does not exist and the type is not optional; else a `DecodingError` whose coding path leads to the field,
  ///   or a `FirestoreDecodingError`.
  public func data<T: Decodable>(
    as type: T.Type, with serverTimestampBehavior: ServerTimestampBehavior = .none,
    decoder: Firestore.Decoder = Firestore.Decoder()
  ) throws -> T {
    if let data = content.document?.data {
      let values = ValueDecoder(firestore: content.firestore, behavior: serverTimestampBehavior)
      return try decoder.decode(type, from: data, in: reference, by: values)
    }
    do {
      return try decoder.decode(type, from: NSNull(), in: reference)
    } catch DecodingError.valueNotFound(let type, let context) where context.codingPath.isEmpty {
      let reason = "The document \(reference.path) does not exist."
      throw DecodingError.valueNotFound(
        type,
        DecodingError.Context(
          codingPath: [], debugDescription: "\(reason) Decode an optional type where it may be missing.",
          underlyingError: FirestoreError(.notFound, reason)))
    }
  }
}

extension DocumentReference {
  /// Reads the document once, as a value.
  /// - Throws: the errors of `getDocument(source:)` and `DocumentSnapshot.data(as:)`.
  public func getDocument<T: Decodable & Sendable>(
    as type: T.Type, with serverTimestampBehavior: ServerTimestampBehavior = .none,
    decoder: Firestore.Decoder = Firestore.Decoder(), source: FirestoreSource = .default
  ) async throws -> T {
    try await getDocument(source: source).data(as: type, with: serverTimestampBehavior, decoder: decoder)
  }

  /// Starts to read the document once, as a value, and returns at once.
  /// - Parameter completion: called with the value or with the error.
  public func getDocument<T: Decodable & Sendable>(
    as type: T.Type, with serverTimestampBehavior: ServerTimestampBehavior = .none,
    decoder: Firestore.Decoder = Firestore.Decoder(),
    completion: @escaping @Sendable (Result<T, any Error>) -> Void
  ) {
    getDocument { snapshot, error in
      completion(
        Result {
          guard let snapshot else { throw error ?? FirestoreError(.unknown, "The document could not be read.") }
          return try snapshot.data(as: type, with: serverTimestampBehavior, decoder: decoder)
        })
    }
  }
}

/// The reason why a value could not be decoded, if no `DecodingError` expresses it.
public enum FirestoreDecodingError: Error, Hashable, Sendable {
  /// The type can only be decoded by `Firestore.Decoder`, or only with the document that the data is from.
  case decodingIsNotSupported(String)
  /// A `@DocumentID` property has the name of a field that the document has.
  case fieldNameConflict(String)
}

/// The reason why a value could not be encoded, if no `EncodingError` expresses it.
public enum FirestoreEncodingError: Error, Hashable, Sendable {
  /// The type can only be encoded by `Firestore.Encoder`.
  case encodingIsNotSupported(String)
}
