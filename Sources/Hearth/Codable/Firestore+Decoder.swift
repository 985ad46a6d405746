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

    /// A decoder with the default strategies.
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

    /// How `Date`s are read; `timestamp` by default.
    public var dateDecodingStrategy: DateDecodingStrategy {
      get { options.withLock { $0.dates } }
      set { options.withLock { $0.dates = newValue } }
    }

    /// How `Data` is read; `blob` by default.
    public var dataDecodingStrategy: DataDecodingStrategy {
      get { options.withLock { $0.data } }
      set { options.withLock { $0.data = newValue } }
    }

    /// How infinities and what is not a number are read; `throw` by default.
    public var nonConformingFloatDecodingStrategy: NonConformingFloatDecodingStrategy {
      get { options.withLock { $0.floats } }
      set { options.withLock { $0.floats = newValue } }
    }

    /// How names of fields become those of properties; `useDefaultKeys` by default.
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
  /// How a `Date` is read.
  public indirect enum DateDecodingStrategy: Sendable {
    /// A Firestore timestamp, or what another strategy reads where the field is none.
    case timestamp(fallback: DateDecodingStrategy)
    /// As `Date` decodes itself: seconds since 2001.
    case deferredToDate
    /// A number of seconds.
    case secondsSince1970
    /// A number of milliseconds.
    case millisecondsSince1970
    /// A text such as `2026-01-31T12:00:00Z`.
    case iso8601
    /// A text as the formatter reads it.
    case formatted(DateFormatter)
    /// What the closure reads from the field's decoder.
    case custom(@Sendable (any Swift.Decoder) throws -> Date)

    /// A Firestore timestamp, or seconds since 2001.
    public static var timestamp: DateDecodingStrategy { .timestamp(fallback: .deferredToDate) }
  }

  /// How `Data` is read.
  public enum DataDecodingStrategy: Sendable {
    /// Firestore bytes.
    case blob
    /// As `Data` decodes itself: an array of numbers.
    case deferredToData
    /// A text in Base64.
    case base64
    /// What the closure reads from the field's decoder.
    case custom(@Sendable (any Swift.Decoder) throws -> Data)
  }

  /// What infinities and what is not a number were written as.
  public enum NonConformingFloatDecodingStrategy: Sendable {
    /// Firestore's own infinities and not-a-number are refused.
    case `throw`
    /// These texts mean infinities and what is not a number.
    case convertFromString(positiveInfinity: String, negativeInfinity: String, nan: String)
  }

  /// How the names of fields become those of properties.
  public enum KeyDecodingStrategy: Sendable {
    /// They are the same.
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
