// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
public import Foundation
import Synchronization

extension Firestore {
  /// Decodes documents' data into `Decodable` values.
  ///
  /// Errors are instances of `DecodingError`, whose coding path identifies the field, or of `FirestoreDecodingError`.
  public final class Decoder: Sendable {
    struct Options: Sendable {
      var dates: DateDecodingStrategy = .timestamp
      var data = DataDecodingStrategy.blob
      var floats = NonConformingFloatDecodingStrategy.throw
      var keys = KeyDecodingStrategy.useDefaultKeys
      var userInfo: [CodingUserInfoKey: any Sendable] = [:]

      /// The default strategies.
      static let standard = Options()
    }

    private let options = Mutex(Options.standard)

    /// A decoder with the default strategies.
    public init() {}

    /// Decodes a value.
    /// - Parameter data: the value that `DocumentSnapshot.data()` returns, or the value of a field.
    public func decode<T: Decodable>(_ t: T.Type, from data: Any) throws -> T {
      try decode(t, from: data, in: nil)
    }

    /// Decodes a value from the data of a document.
    /// - Parameter reference: the document that contains the data, for `@DocumentID`.
    public func decode<T: Decodable>(_ t: T.Type, from data: Any, in reference: DocumentReference?) throws -> T {
      let context = DecodingContext(options: options.withLock { $0 }, reference: reference)
      return try StructureDecoder(.given(data), in: context).value(as: t)
    }

    /// Decodes a document directly from its stored form, without converting its values to `Any`.
    func decode<T: Decodable>(
      _ type: T.Type, from data: DocumentData, in reference: DocumentReference, by values: ValueDecoder
    ) throws -> T {
      let context = DecodingContext(options: options.withLock { $0 }, reference: reference, values: values)
      let content: DecodedContent =
        switch data.storage {
        case .decoded(let fields): .stored(.map(fields))
        case .encoded(let encoded): .encoded(EncodedEntries(encoded))
        }
      return try StructureDecoder(content, in: context).value(as: type)
    }

    /// The strategy for decoding `Date`s; `timestamp` by default.
    public var dateDecodingStrategy: DateDecodingStrategy {
      get { options.withLock { $0.dates } }
      set { options.withLock { $0.dates = newValue } }
    }

    /// The strategy for decoding `Data`; `blob` by default.
    public var dataDecodingStrategy: DataDecodingStrategy {
      get { options.withLock { $0.data } }
      set { options.withLock { $0.data = newValue } }
    }

    /// The strategy for decoding infinities and NaN; `throw` by default.
    public var nonConformingFloatDecodingStrategy: NonConformingFloatDecodingStrategy {
      get { options.withLock { $0.floats } }
      set { options.withLock { $0.floats = newValue } }
    }

    /// The strategy for converting field names to property names; `useDefaultKeys` by default.
    public var keyDecodingStrategy: KeyDecodingStrategy {
      get { options.withLock { $0.keys } }
      set { options.withLock { $0.keys = newValue } }
    }

    /// The dictionary that `init(from:)` of each decoded value can read from its decoder.
    public var userInfo: [CodingUserInfoKey: any Sendable] {
      get { options.withLock { $0.userInfo } }
      set { options.withLock { $0.userInfo = newValue } }
    }
  }
}

extension Firestore.Decoder {
  /// A strategy for decoding a `Date`.
  public indirect enum DateDecodingStrategy: Sendable {
    /// A Firestore timestamp. Fields of other types use the fallback strategy.
    case timestamp(fallback: DateDecodingStrategy)
    /// The format of `Date`'s `Decodable` conformance: seconds since 2001-01-01 UTC.
    case deferredToDate
    /// A number of seconds since 1970-01-01 UTC.
    case secondsSince1970
    /// A number of milliseconds since 1970-01-01 UTC.
    case millisecondsSince1970
    /// A string such as `2026-01-31T12:00:00Z`.
    case iso8601
    /// A string in the formatter's format.
    case formatted(DateFormatter)
    /// The value that the closure reads from the field's decoder.
    case custom(@Sendable (any Swift.Decoder) throws -> Date)

    /// A Firestore timestamp, or seconds since 2001-01-01 UTC.
    public static var timestamp: DateDecodingStrategy { .timestamp(fallback: .deferredToDate) }
  }

  /// A strategy for decoding `Data`.
  public enum DataDecodingStrategy: Sendable {
    /// Firestore bytes.
    case blob
    /// The format of `Data`'s `Decodable` conformance: an array of numbers.
    case deferredToData
    /// A string in Base64.
    case base64
    /// The value that the closure reads from the field's decoder.
    case custom(@Sendable (any Swift.Decoder) throws -> Data)
  }

  /// A strategy for decoding infinities and NaN.
  public enum NonConformingFloatDecodingStrategy: Sendable {
    /// Firestore's infinities and NaN are rejected.
    case `throw`
    /// The strings that represent infinities and NaN in the document.
    case convertFromString(positiveInfinity: String, negativeInfinity: String, nan: String)
  }

  /// A conversion of field names to property names.
  public enum KeyDecodingStrategy: Sendable {
    /// Fields have the same names as their properties.
    case useDefaultKeys
    /// `one_two` becomes `oneTwo`.
    case convertFromSnakeCase
    /// The closure returns the property name.
    /// - Parameter 0: receives the path of keys, outermost first, and returns the new name of the last key.
    case custom(@Sendable ([any CodingKey]) -> any CodingKey)

    /// Whether property names may differ from field names.
    var convert: Bool { if case .useDefaultKeys = self { false } else { true } }

    func name(of key: String, in path: [any CodingKey]) -> String {
      switch self {
      case .useDefaultKeys: key
      case .convertFromSnakeCase: SnakeCase.toCamelCase(key)
      case .custom(let convert): convert(path + [NameKey(key)]).stringValue
      }
    }
  }
}

extension DocumentSnapshot {
  /// Decodes the document as a value.
  ///
  /// - Parameters:
  ///   - type: the type of the value. Use an optional type if the document may not exist; the result is then `nil`.
  ///   - serverTimestampBehavior: the value of a server timestamp until the backend has set it.
  /// - Throws: `DecodingError.valueNotFound` if the document does not exist and the type is not optional. This error
  ///   contains the document's name, and its underlying error is a `FirestoreError` with the code `notFound`. Other
  ///   failures throw a `DecodingError` with the field's coding path, or a `FirestoreDecodingError`.
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
          codingPath: [], debugDescription: "\(reason) If the document may be missing, decode an optional type.",
          underlyingError: FirestoreError(.notFound, reason)))
    }
  }
}

extension DocumentReference {
  /// Reads the document once and decodes it as a value.
  /// - Throws: the errors of `getDocument(source:)` and of `DocumentSnapshot.data(as:)`.
  public func getDocument<T: Decodable & Sendable>(
    as type: T.Type, with serverTimestampBehavior: ServerTimestampBehavior = .none,
    decoder: Firestore.Decoder = Firestore.Decoder(), source: FirestoreSource = .default
  ) async throws -> T {
    try await getDocument(source: source).data(as: type, with: serverTimestampBehavior, decoder: decoder)
  }

  /// Starts reading and decoding the document once, and returns immediately.
  /// - Parameter completion: called with the value or with an error.
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

/// The reason why a value could not be decoded, if `DecodingError` has no suitable case.
public enum FirestoreDecodingError: Error, Hashable, Sendable {
  /// The type can be decoded only by `Firestore.Decoder`, or only from a document.
  case decodingIsNotSupported(String)
  /// A `@DocumentID` property has the same name as a field of the document.
  case fieldNameConflict(String)
}

/// The reason why a value could not be encoded, if `EncodingError` has no suitable case.
public enum FirestoreEncodingError: Error, Hashable, Sendable {
  /// The type can be encoded only by `Firestore.Encoder`.
  case encodingIsNotSupported(String)
}
