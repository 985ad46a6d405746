// SPDX-License-Identifier: Apache-2.0
public import Foundation
import Synchronization

extension Firestore {
  /// Turns `Encodable` values into the data of a write.
  ///
  /// `Timestamp`, `GeoPoint`, `VectorValue`, `DocumentReference` and `FieldValue` pass as they are; a `URL` becomes its
  /// text, a `Decimal` a double. Errors are `EncodingError`s whose coding path leads to the field.
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
    /// - Throws: `EncodingError.invalidValue` for a value that is not encoded as a map of fields.
    public func encode<T: Encodable>(_ value: T) throws -> [String: Any] {
      let encoder = StructureEncoder(options: options.withLock { $0 }, path: [])
      guard let data = try encoder.result(of: value) as? [String: Any] else {
        throw EncodingError.invalidValue(
          value,
          EncodingError.Context(
            codingPath: [], debugDescription: "A document is a map of fields, which \(T.self) is not encoded as."))
      }
      return data
    }

    /// The way in which `Date`s are written; `timestamp` by default.
    public var dateEncodingStrategy: DateEncodingStrategy {
      get { options.withLock { $0.dates } }
      set { options.withLock { $0.dates = newValue } }
    }

    /// The way in which `Data` is written; `blob` by default.
    public var dataEncodingStrategy: DataEncodingStrategy {
      get { options.withLock { $0.data } }
      set { options.withLock { $0.data = newValue } }
    }

    /// The way in which infinities and NaN are written; `throw` by default.
    public var nonConformingFloatEncodingStrategy: NonConformingFloatEncodingStrategy {
      get { options.withLock { $0.floats } }
      set { options.withLock { $0.floats = newValue } }
    }

    /// The way in which names of properties become names of fields; `useDefaultKeys` by default.
    public var keyEncodingStrategy: KeyEncodingStrategy {
      get { options.withLock { $0.keys } }
      set { options.withLock { $0.keys = newValue } }
    }

    /// The information that the `encode(to:)` of the values finds in its encoder.
    public var userInfo: [CodingUserInfoKey: any Sendable] {
      get { options.withLock { $0.userInfo } }
      set { options.withLock { $0.userInfo = newValue } }
    }
  }
}

extension Firestore.Encoder {
  /// A way to write a `Date`.
  public enum DateEncodingStrategy: Sendable {
    /// A Firestore timestamp.
    case timestamp
    /// The form in which `Date` encodes itself: seconds since 2001.
    case deferredToDate
    /// A number of seconds.
    case secondsSince1970
    /// A number of milliseconds.
    case millisecondsSince1970
    /// A text such as `2026-01-31T12:00:00Z`.
    case iso8601
    /// A text as the formatter writes it.
    case formatted(DateFormatter)
    /// The data that the closure writes into the field's encoder.
    case custom(@Sendable (Date, any Swift.Encoder) throws -> Void)
  }

  /// A way to write `Data`.
  public enum DataEncodingStrategy: Sendable {
    /// Firestore bytes.
    case blob
    /// The form in which `Data` encodes itself: an array of numbers.
    case deferredToData
    /// A text in Base64.
    case base64
    /// The data that the closure writes into the field's encoder.
    case custom(@Sendable (Data, any Swift.Encoder) throws -> Void)
  }

  /// A way to write infinities and NaN.
  public enum NonConformingFloatEncodingStrategy: Sendable {
    /// Infinities and NaN are refused with an `EncodingError`.
    case `throw`
    /// The texts that are written for infinities and NaN.
    case convertToString(positiveInfinity: String, negativeInfinity: String, nan: String)
  }

  /// A way to turn names of properties into names of fields.
  public enum KeyEncodingStrategy: Sendable {
    /// Fields have the names of the properties.
    case useDefaultKeys
    /// `oneTwo` becomes `one_two`.
    case convertToSnakeCase
    /// A closure gives the name.
    /// - Parameter 0: given the path from the outside in, gives the last key's name.
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

/// Names of properties as names of fields and back, by the rules of `JSONEncoder`.
enum SnakeCase {
  /// `oneTwoURL` as `one_two_url`. Underscores at either end stay.
  static func from(_ name: String) -> String {
    var result = ""
    let characters = Array(name)
    for (index, character) in characters.enumerated() {
      guard character.isUppercase, index > 0, characters[index - 1] != "_" else {
        result += character.lowercased()
        continue
      }
      // A word begins after a lowercase letter, and with the last capital of a run that a lowercase letter follows.
      let follows = !characters[index - 1].isUppercase
      let leads = index + 1 < characters.count && characters[index + 1].isLowercase
      result += (follows || leads ? "_" : "") + character.lowercased()
    }
    return result
  }

  /// `one_two` as `oneTwo`. Underscores at either end stay.
  static func toCamelCase(_ name: String) -> String {
    let core = name.drop { $0 == "_" }
    guard let end = core.lastIndex(where: { $0 != "_" }) else { return name }
    let words = core[...end].split(separator: "_")
    guard words.count > 1 else { return name }
    let joined = words[0].lowercased() + words.dropFirst().map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
    return name.prefix { $0 == "_" } + joined + core[core.index(after: end)...]
  }
}

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
