// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
public import Foundation
import Synchronization

extension Firestore {
  /// Turns the data of documents into `Decodable` values.
  ///
  /// Errors are `DecodingError`s whose coding path leads to the field, or `FirestoreDecodingError`s.
  public final class Decoder: Sendable {
    struct Options: Sendable {
      var dates: DateDecodingStrategy = .timestamp
      var data = DataDecodingStrategy.blob
      var floats = NonConformingFloatDecodingStrategy.throw
      var keys = KeyDecodingStrategy.useDefaultKeys
      var userInfo: [CodingUserInfoKey: any Sendable] = [:]

      /// The strategies that a decoder has until others are set; made once.
      static let standard = Options()
    }

    private let options = Mutex(Options.standard)

    /// A decoder with the default strategies.
    public init() {}

    /// Decodes a value.
    /// - Parameter data: the value of `DocumentSnapshot.data()` or of a field.
    public func decode<T: Decodable>(_ t: T.Type, from data: Any) throws -> T {
      try decode(t, from: data, in: nil)
    }

    /// Decodes a value, with the document that it is from.
    /// - Parameter reference: the document that the data is from, for `@DocumentID`.
    public func decode<T: Decodable>(_ t: T.Type, from data: Any, in reference: DocumentReference?) throws -> T {
      let context = DecodingContext(options: options.withLock { $0 }, reference: reference)
      return try StructureDecoder(.given(data), in: context).value(as: t)
    }

    /// Decodes a document as it is stored, without making `Any`s of its values.
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

    /// The way in which `Date`s are read; `timestamp` by default.
    public var dateDecodingStrategy: DateDecodingStrategy {
      get { options.withLock { $0.dates } }
      set { options.withLock { $0.dates = newValue } }
    }

    /// The way in which `Data` is read; `blob` by default.
    public var dataDecodingStrategy: DataDecodingStrategy {
      get { options.withLock { $0.data } }
      set { options.withLock { $0.data = newValue } }
    }

    /// The way in which infinities and NaN are read; `throw` by default.
    public var nonConformingFloatDecodingStrategy: NonConformingFloatDecodingStrategy {
      get { options.withLock { $0.floats } }
      set { options.withLock { $0.floats = newValue } }
    }

    /// The way in which names of fields become names of properties; `useDefaultKeys` by default.
    public var keyDecodingStrategy: KeyDecodingStrategy {
      get { options.withLock { $0.keys } }
      set { options.withLock { $0.keys = newValue } }
    }

    /// The information that the `init(from:)` of the values finds in its decoder.
    public var userInfo: [CodingUserInfoKey: any Sendable] {
      get { options.withLock { $0.userInfo } }
      set { options.withLock { $0.userInfo = newValue } }
    }
  }
}

extension Firestore.Decoder {
  /// A way to read a `Date`.
  public indirect enum DateDecodingStrategy: Sendable {
    /// A Firestore timestamp; a field that is none is read by another strategy.
    case timestamp(fallback: DateDecodingStrategy)
    /// The form in which `Date` decodes itself: seconds since 2001.
    case deferredToDate
    /// A number of seconds.
    case secondsSince1970
    /// A number of milliseconds.
    case millisecondsSince1970
    /// A text such as `2026-01-31T12:00:00Z`.
    case iso8601
    /// A text as the formatter reads it.
    case formatted(DateFormatter)
    /// The value that the closure reads from the field's decoder.
    case custom(@Sendable (any Swift.Decoder) throws -> Date)

    /// A Firestore timestamp, or seconds since 2001.
    public static var timestamp: DateDecodingStrategy { .timestamp(fallback: .deferredToDate) }
  }

  /// A way to read `Data`.
  public enum DataDecodingStrategy: Sendable {
    /// Firestore bytes.
    case blob
    /// The form in which `Data` decodes itself: an array of numbers.
    case deferredToData
    /// A text in Base64.
    case base64
    /// The value that the closure reads from the field's decoder.
    case custom(@Sendable (any Swift.Decoder) throws -> Data)
  }

  /// A way to read infinities and NaN.
  public enum NonConformingFloatDecodingStrategy: Sendable {
    /// Firestore's own infinities and NaN are refused.
    case `throw`
    /// The texts that stand for infinities and NaN in the document.
    case convertFromString(positiveInfinity: String, negativeInfinity: String, nan: String)
  }

  /// A way to turn names of fields into names of properties.
  public enum KeyDecodingStrategy: Sendable {
    /// Fields have the names of the properties.
    case useDefaultKeys
    /// `one_two` becomes `oneTwo`.
    case convertFromSnakeCase
    /// A closure gives the name.
    /// - Parameter 0: given the path from the outside in, gives the last key's name.
    case custom(@Sendable ([any CodingKey]) -> any CodingKey)

    /// Whether names of properties may differ from names of fields.
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
