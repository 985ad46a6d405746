// SPDX-License-Identifier: Apache-2.0
public import Foundation
import Synchronization

extension Firestore {
  /// Encodes `Encodable` values into the data of a write.
  ///
  /// `Timestamp`, `GeoPoint`, `VectorValue`, `DocumentReference` and `FieldValue` remain unchanged. A `URL` becomes a
  /// string, and a `Decimal` becomes a double. Errors are instances of `EncodingError` that contain the field's coding
  /// path.
  public final class Encoder: Sendable {
    struct Options: Sendable {
      var dates = DateEncodingStrategy.timestamp
      var data = DataEncodingStrategy.blob
      var floats = NonConformingFloatEncodingStrategy.throw
      var keys = KeyEncodingStrategy.useDefaultKeys
      var userInfo: [CodingUserInfoKey: any Sendable] = [:]
    }

    private let options = Mutex(Options())

    /// An encoder with the default strategies.
    public init() {}

    /// Encodes a value as the data of a write.
    /// - Throws: `EncodingError.invalidValue` if the value does not encode as a map of fields.
    public func encode<T: Encodable>(_ value: T) throws -> [String: Any] {
      let encoder = StructureEncoder(options: options.withLock { $0 }, path: [])
      guard let data = try encoder.result(of: value) as? [String: Any] else {
        throw EncodingError.invalidValue(
          value,
          EncodingError.Context(
            codingPath: [], debugDescription: "A document is a map of fields, but \(T.self) is not encoded as a map."))
      }
      return data
    }

    /// The strategy for encoding `Date`s; `timestamp` by default.
    public var dateEncodingStrategy: DateEncodingStrategy {
      get { options.withLock { $0.dates } }
      set { options.withLock { $0.dates = newValue } }
    }

    /// The strategy for encoding `Data`; `blob` by default.
    public var dataEncodingStrategy: DataEncodingStrategy {
      get { options.withLock { $0.data } }
      set { options.withLock { $0.data = newValue } }
    }

    /// The strategy for encoding infinities and NaN; `throw` by default.
    public var nonConformingFloatEncodingStrategy: NonConformingFloatEncodingStrategy {
      get { options.withLock { $0.floats } }
      set { options.withLock { $0.floats = newValue } }
    }

    /// The strategy for converting property names to field names; `useDefaultKeys` by default.
    public var keyEncodingStrategy: KeyEncodingStrategy {
      get { options.withLock { $0.keys } }
      set { options.withLock { $0.keys = newValue } }
    }

    /// The dictionary that `encode(to:)` of each encoded value can read from its encoder.
    public var userInfo: [CodingUserInfoKey: any Sendable] {
      get { options.withLock { $0.userInfo } }
      set { options.withLock { $0.userInfo = newValue } }
    }
  }
}

extension Firestore.Encoder {
  /// A strategy for encoding a `Date`.
  public enum DateEncodingStrategy: Sendable {
    /// A Firestore timestamp.
    case timestamp
    /// The format of `Date`'s `Encodable` conformance: seconds since 2001-01-01 UTC.
    case deferredToDate
    /// A number of seconds since 1970-01-01 UTC.
    case secondsSince1970
    /// A number of milliseconds since 1970-01-01 UTC.
    case millisecondsSince1970
    /// A string such as `2026-01-31T12:00:00Z`.
    case iso8601
    /// A string in the format of the formatter.
    case formatted(DateFormatter)
    /// The data that the closure writes into the field's encoder.
    case custom(@Sendable (Date, any Swift.Encoder) throws -> Void)
  }

  /// A strategy for encoding `Data`.
  public enum DataEncodingStrategy: Sendable {
    /// Firestore bytes.
    case blob
    /// The format of `Data`'s `Encodable` conformance: an array of numbers.
    case deferredToData
    /// A string in Base64.
    case base64
    /// The data that the closure writes into the field's encoder.
    case custom(@Sendable (Data, any Swift.Encoder) throws -> Void)
  }

  /// A strategy for encoding infinities and NaN.
  public enum NonConformingFloatEncodingStrategy: Sendable {
    /// Infinities and NaN are rejected with an `EncodingError`.
    case `throw`
    /// The strings that represent infinities and NaN.
    case convertToString(positiveInfinity: String, negativeInfinity: String, nan: String)
  }

  /// A conversion of property names to field names.
  public enum KeyEncodingStrategy: Sendable {
    /// Fields have the same names as their properties.
    case useDefaultKeys
    /// `oneTwo` becomes `one_two`.
    case convertToSnakeCase
    /// The closure returns the field name.
    /// - Parameter 0: receives the path of keys, outermost first, and returns the new name of the last key.
    case custom(@Sendable ([any CodingKey]) -> any CodingKey)

    func name(of key: any CodingKey, in path: [any CodingKey]) -> String {
      switch self {
      case .useDefaultKeys: key.stringValue
      case .convertToSnakeCase: SnakeCase.from(key.stringValue)
      case .custom(let convert): convert(path + [key]).stringValue
      }
    }
  }
}

/// Converts property names to field names and back, with the same rules as `JSONEncoder`.
enum SnakeCase {
  /// Converts `oneTwoURL` to `one_two_url`. Leading and trailing underscores remain.
  static func from(_ name: String) -> String {
    var result = ""
    let characters = Array(name)
    for (index, character) in characters.enumerated() {
      guard character.isUppercase, index > 0, characters[index - 1] != "_" else {
        result += character.lowercased()
        continue
      }
      // A word begins at an uppercase letter that follows a lowercase letter or precedes one, as `U` and `L` in
      // `oneURLList`.
      let follows = !characters[index - 1].isUppercase
      let leads = index + 1 < characters.count && characters[index + 1].isLowercase
      result += (follows || leads ? "_" : "") + character.lowercased()
    }
    return result
  }

  /// Converts `one_two` to `oneTwo`. Leading and trailing underscores remain.
  static func toCamelCase(_ name: String) -> String {
    let core = name.drop { $0 == "_" }
    guard let end = core.lastIndex(where: { $0 != "_" }) else { return name }
    let words = core[...end].split(separator: "_")
    guard words.count > 1 else { return name }
    let joined = words[0].lowercased() + words.dropFirst().map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
    return name.prefix { $0 == "_" } + joined + core[core.index(after: end)...]
  }
}

// `Firestore.Encoder` and `Firestore.Decoder` do not convert Firestore's own types. With other coders, the types that
// only make sense with a database throw an error.

extension DocumentReference: Codable {
  /// Always throws, because a reference cannot be decoded without its `Firestore` instance.
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

/// The types that this module's coders leave unchanged.
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
