// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import Foundation

/// Decodes one value of a document's data.
struct StructureDecoder: Swift.Decoder {
  let content: Any
  let options: Firestore.Decoder.Options
  let codingPath: [any CodingKey]
  /// Whether keys are names of properties, to which the strategy applies; the keys of a dictionary are data.
  var convertsKeys = true

  init(_ content: Any, options: Firestore.Decoder.Options, path: [any CodingKey]) {
    self.content = content
    self.options = options
    codingPath = path
  }

  var userInfo: [CodingUserInfoKey: Any] { options.userInfo }

  func container<Key>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    guard let map = content as? [String: Any] else { throw mismatch([String: Any].self, "a map") }
    return KeyedDecodingContainer(KeyedDecoder(decoder: self, map: map))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    guard let array = content as? [Any] else { throw mismatch([Any].self, "an array") }
    return UnkeyedDecoder(decoder: self, elements: array)
  }

  func singleValueContainer() throws -> any SingleValueDecodingContainer { SingleValueDecoder(decoder: self) }

  func child(_ content: Any, at key: any CodingKey) -> StructureDecoder {
    StructureDecoder(content, options: options, path: codingPath + [key])
  }

  // MARK: Errors

  func mismatch(_ type: any Any.Type, _ wanted: String) -> DecodingError {
    if isNil {
      return .valueNotFound(
        type,
        DecodingError.Context(
          codingPath: codingPath, debugDescription: "\(place) is null, but \(wanted) is needed."))
    }
    return .typeMismatch(
      type,
      DecodingError.Context(
        codingPath: codingPath, debugDescription: "\(place) must be \(wanted), not \(kind)."))
  }

  func corrupted(_ reason: String) -> DecodingError {
    .dataCorrupted(DecodingError.Context(codingPath: codingPath, debugDescription: "\(place) \(reason)"))
  }

  private var place: String {
    codingPath.isEmpty ? "The document" : "Field " + codingPath.map(\.stringValue).joined(separator: ".")
  }

  private var kind: String {
    switch content {
    case is [String: Any]: return "a map"
    case is [Any]: return "an array"
    default: break
    }
    switch scalar {
    case .boolean?: return "a truth value"
    case .integer?: return "an integer"
    case .double?: return "a double"
    case .timestamp?: return "a timestamp"
    case .string?: return "a string"
    case .bytes?: return "bytes"
    case .reference?: return "a reference"
    case .geoPoint?: return "a geographical point"
    case .vector?: return "a vector"
    default: return "\(type(of: content))"
    }
  }

  // MARK: Scalars

  /// The content as Firestore would store it, which distinguishes truth values and the kinds of numbers; `nil` for
  /// maps, arrays, and types that Firestore does not store.
  var scalar: Value? { try? ValueEncoder.scalar(content, at: []) }

  var isNil: Bool { if case .null? = scalar { true } else { false } }

  func bool() throws -> Bool {
    guard case .boolean(let value)? = scalar else { throw mismatch(Bool.self, "a truth value") }
    return value
  }

  func string() throws -> String {
    guard case .string(let value)? = scalar else { throw mismatch(String.self, "a string") }
    return value
  }

  /// The content as an integer; a double without a fraction is accepted.
  func integer<T: FixedWidthInteger>(_ type: T.Type) throws -> T {
    let value: T?
    switch scalar {
    case .integer(let integer)?: value = T(exactly: integer)
    case .double(let double)?: value = T(exactly: double)
    default: throw mismatch(type, "an integer")
    }
    guard let value else { throw corrupted("does not fit into \(type).") }
    return value
  }

  /// The content as a floating-point number; an integer that the type can hold is accepted.
  func float<T: BinaryFloatingPoint>(_ type: T.Type) throws -> T {
    switch (scalar, options.floats) {
    case (.double(let double)?, _):
      guard double.isFinite else {
        throw corrupted("is \(double); set nonConformingFloatDecodingStrategy, which reads such numbers from strings.")
      }
      return T(double)
    case (.integer(let integer)?, _):
      guard let value = T(exactly: integer) else { throw corrupted("does not fit into \(type).") }
      return value
    case (.string(let text)?, .convertFromString(let infinity, let negativeInfinity, let nan)):
      if text == infinity { return T.infinity }
      if text == negativeInfinity { return -T.infinity }
      if text == nan { return T.nan }
      throw mismatch(type, "a number")
    default: throw mismatch(type, "a number")
    }
  }
}

extension StructureDecoder {
  /// The content as a value. Firestore's own types and some of Foundation's are decoded here, all others by their own
  /// `init(from:)`.
  func value<T: Decodable>(as type: T.Type) throws -> T {
    if type == Date.self { return try cast(try date(), to: type) }
    if type == Data.self { return try cast(try data(), to: type) }
    if type == URL.self { return try cast(try url(), to: type) }
    if type == Decimal.self { return try cast(try decimal(), to: type) }
    if type == VectorValue.self, let array = content as? [Any] {
      // Older documents hold vectors as arrays.
      let numbers = try array.enumerated().map { try child($1, at: NameKey(index: $0)).float(Double.self) }
      return try cast(VectorValue(numbers), to: type)
    }
    if FirestoreOwnTypes.contain(type: type) { return try cast(content, to: type) }
    if type is any StringKeyedDictionary.Type {
      var decoder = self
      decoder.convertsKeys = false
      return try type.init(from: decoder)
    }
    return try type.init(from: self)
  }

  private func cast<T>(_ value: Any, to type: T.Type) throws -> T {
    guard let value = value as? T else { throw mismatch(type, "a \(type)") }
    return value
  }

  private func date(_ strategy: Firestore.Decoder.DateDecodingStrategy? = nil) throws -> Date {
    switch strategy ?? options.dates {
    case .timestamp(let fallback):
      if let timestamp = content as? Timestamp { return timestamp.dateValue() }
      if let date = content as? Date { return date }
      if isNil { throw mismatch(Date.self, "a timestamp") }
      return try date(fallback)
    case .deferredToDate: return try Date(from: self)
    case .secondsSince1970: return Date(timeIntervalSince1970: try float(Double.self))
    case .millisecondsSince1970: return Date(timeIntervalSince1970: try float(Double.self) / 1000)
    case .iso8601:
      // Foundation's error would not say where in the document the text is.
      guard let date = try? Date(try string(), strategy: .iso8601) else {
        throw corrupted("must be a time in ISO 8601, such as 2026-01-31T12:00:00Z.")
      }
      return date
    case .formatted(let formatter):
      guard let date = formatter.date(from: try string()) else { throw corrupted("is no date in the expected format.") }
      return date
    case .custom(let decode): return try decode(self)
    }
  }

  private func data() throws -> Data {
    switch options.data {
    case .blob:
      guard case .bytes(let bytes)? = scalar else { throw mismatch(Data.self, "bytes") }
      return Data(bytes)
    case .deferredToData: return try Data(from: self)
    case .base64:
      guard let data = Data(base64Encoded: try string()) else { throw corrupted("must be base64.") }
      return data
    case .custom(let decode): return try decode(self)
    }
  }

  private func url() throws -> URL {
    guard let url = URL(string: try string()) else { throw corrupted("is no URL.") }
    return url
  }

  /// Decodes a number, or digits in a string, which can hold more than a double.
  private func decimal() throws -> Decimal {
    switch scalar {
    case .integer(let integer)?: return Decimal(integer)
    case .double(let double)? where double.isFinite: return NSNumber(value: double).decimalValue
    case .string(let text)?:
      guard let decimal = Decimal(string: text, locale: Locale(identifier: "en_US_POSIX")) else {
        throw corrupted("is no decimal number.")
      }
      return decimal
    default: throw mismatch(Decimal.self, "a number")
    }
  }
}
