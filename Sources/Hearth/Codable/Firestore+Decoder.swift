// SPDX-License-Identifier: Apache-2.0
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
    }

    private let options = Mutex(Options())

    public init() {}

    /// - Parameter data: what `DocumentSnapshot.data()` or a field gives.
    public func decode<T: Decodable>(_ t: T.Type, from data: Any) throws -> T {
      try decode(t, from: data, in: nil)
    }

    /// - Parameter reference: the document that the data is from, for `@DocumentID`.
    public func decode<T: Decodable>(_ t: T.Type, from data: Any, in reference: DocumentReference?) throws -> T {
      var options = options.withLock { $0 }
      if let reference { options.userInfo[.documentReference] = reference }
      return try StructureDecoder(data, options: options, path: []).value(as: t)
    }

    public var dateDecodingStrategy: DateDecodingStrategy {
      get { options.withLock { $0.dates } }
      set { options.withLock { $0.dates = newValue } }
    }

    public var dataDecodingStrategy: DataDecodingStrategy {
      get { options.withLock { $0.data } }
      set { options.withLock { $0.data = newValue } }
    }

    public var nonConformingFloatDecodingStrategy: NonConformingFloatDecodingStrategy {
      get { options.withLock { $0.floats } }
      set { options.withLock { $0.floats = newValue } }
    }

    public var keyDecodingStrategy: KeyDecodingStrategy {
      get { options.withLock { $0.keys } }
      set { options.withLock { $0.keys = newValue } }
    }

    /// What the `init(from:)` of the values finds in its decoder.
    public var userInfo: [CodingUserInfoKey: any Sendable] {
      get { options.withLock { $0.userInfo } }
      set { options.withLock { $0.userInfo = newValue } }
    }
  }
}

extension Firestore.Decoder {
  public indirect enum DateDecodingStrategy: Sendable {
    /// A Firestore timestamp, or what another strategy reads where the field is none.
    case timestamp(fallback: DateDecodingStrategy)
    /// As `Date` decodes itself: seconds since 2001.
    case deferredToDate
    case secondsSince1970
    case millisecondsSince1970
    /// A text such as `2026-01-31T12:00:00Z`.
    case iso8601
    case formatted(DateFormatter)
    case custom(@Sendable (any Swift.Decoder) throws -> Date)

    /// A Firestore timestamp, or seconds since 2001.
    public static var timestamp: DateDecodingStrategy { .timestamp(fallback: .deferredToDate) }
  }

  public enum DataDecodingStrategy: Sendable {
    /// Firestore bytes.
    case blob
    /// As `Data` decodes itself: an array of numbers.
    case deferredToData
    case base64
    case custom(@Sendable (any Swift.Decoder) throws -> Data)
  }

  /// What infinities and what is not a number were written as.
  public enum NonConformingFloatDecodingStrategy: Sendable {
    /// Firestore's own infinities and not-a-number are refused.
    case `throw`
    case convertFromString(positiveInfinity: String, negativeInfinity: String, nan: String)
  }

  public enum KeyDecodingStrategy: Sendable {
    case useDefaultKeys
    /// `one_two` becomes `oneTwo`.
    case convertFromSnakeCase
    /// - Parameter 0: given the path from the outside in, gives the last key's name.
    case custom(@Sendable ([any CodingKey]) -> any CodingKey)

    /// Whether names of properties may differ from those of fields.
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
