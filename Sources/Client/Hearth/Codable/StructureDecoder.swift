// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import Foundation

/// Decodes one value of a document's data.
///
/// Each decoder refers to its parent, so that it can build coding paths, including those in errors.
final class StructureDecoder: Swift.Decoder {
  let content: DecodedContent
  let context: DecodingContext
  /// Whether the key strategy applies. It applies to property names, but not to the keys of a dictionary, because these
  /// are data.
  let convertsKeys: Bool
  private let parent: StructureDecoder?
  private let key: (any CodingKey)?

  init(_ content: DecodedContent, in context: DecodingContext) {
    self.content = content
    self.context = context
    convertsKeys = true
    parent = nil
    key = nil
  }

  private init(_ content: DecodedContent, in parent: StructureDecoder, at key: (any CodingKey)?, convertsKeys: Bool) {
    self.content = content
    context = parent.context
    self.convertsKeys = convertsKeys
    self.parent = parent
    self.key = key
  }

  var options: Firestore.Decoder.Options { context.options }
  var userInfo: [CodingUserInfoKey: Any] { context.userInfo }

  var codingPath: [any CodingKey] {
    var path: [any CodingKey] = []
    var decoder: StructureDecoder? = self
    while let next = decoder {
      if let key = next.key { path.append(key) }
      decoder = next.parent
    }
    return path.reversed()
  }

  func container<Key>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    switch content {
    case .stored(.map(let fields)): return KeyedDecodingContainer(KeyedDecoder(decoder: self, map: .stored(fields)))
    case .encoded(let entries): return KeyedDecodingContainer(KeyedDecoder(decoder: self, map: DecodedMap(entries)))
    case .given(let any as [String: Any]):
      return KeyedDecodingContainer(KeyedDecoder(decoder: self, map: .given(any)))
    default: throw mismatch([String: Any].self, "a map")
    }
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    guard let array else { throw mismatch([Any].self, "an array") }
    return UnkeyedDecoder(decoder: self, elements: array)
  }

  func singleValueContainer() throws -> any SingleValueDecodingContainer { SingleValueDecoder(decoder: self) }

  /// The decoder of a nested value.
  func child(_ content: DecodedContent, at key: any CodingKey) -> StructureDecoder {
    StructureDecoder(content, in: self, at: key, convertsKeys: true)
  }

  private var array: DecodedArray? {
    switch content {
    case .stored(.array(let values)): .stored(values)
    case .given(let any as [Any]): .given(any)
    default: nil
    }
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
        codingPath: codingPath, debugDescription: "\(place) must be \(wanted), not \(content.kind)."))
  }

  func corrupted(_ reason: String) -> DecodingError {
    .dataCorrupted(DecodingError.Context(codingPath: codingPath, debugDescription: "\(place) \(reason)"))
  }

  private var place: String {
    codingPath.isEmpty ? "The document" : "Field " + codingPath.map(\.stringValue).joined(separator: ".")
  }

  // MARK: Scalars

  /// The content as a Firestore value.
  private var scalar: Value? { content.scalar }

  var isNil: Bool { content.isNull }

  func bool() throws -> Bool {
    guard case .boolean(let value)? = scalar else { throw mismatch(Bool.self, "a Boolean") }
    return value
  }

  func string() throws -> String {
    guard case .string(let value)? = scalar else { throw mismatch(String.self, "a string") }
    return value
  }

  /// The content as an integer. Also accepts a double without a fraction.
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

  /// The content as a floating-point number. Also accepts an integer that the type can represent.
  func float<T: BinaryFloatingPoint>(_ type: T.Type) throws -> T {
    switch (scalar, options.floats) {
    case (.double(let double)?, _):
      guard double.isFinite else {
        throw corrupted("is \(double). Set nonConformingFloatDecodingStrategy to read such numbers from strings.")
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
  /// Decodes the content as a value. Types of Firestore and some types of Foundation are decoded directly; all other
  /// types are decoded with `init(from:)`.
  func value<T: Decodable>(as type: T.Type) throws -> T {
    if let plain = try plainValue(as: type) { return plain }
    if type is any DecodedInItsWay.Type, type is any StringKeyedDictionary.Type {
      return try type.init(from: StructureDecoder(content, in: self, at: nil, convertsKeys: false))
    }
    return try type.init(from: self)
  }

  /// Decodes a value with its type's `init(from:)`.
  func ordinaryValue<T: Decodable>(as type: T.Type) throws -> T {
    if let plain = try plainValue(as: type) { return plain }
    return try type.init(from: self)
  }

  /// - Returns: `nil` if the type must be decoded with `init(from:)`.
  private func plainValue<T: Decodable>(as type: T.Type) throws -> T? {
    if type == Date.self { return try cast(try date(), to: type) }
    if type == Data.self { return try cast(try data(), to: type) }
    if type == URL.self { return try cast(try url(), to: type) }
    if type == Decimal.self { return try cast(try decimal(), to: type) }
    if type == VectorValue.self, let array {
      // Older documents hold vectors as arrays.
      let numbers = try (0..<array.count).map { index in
        try child(context.content(at: index, in: array), at: NameKey(index: index)).float(Double.self)
      }
      return try cast(VectorValue(numbers), to: type)
    }
    if type == [String].self, case .stored(.array(let values)) = content, let texts = Self.texts(values) {
      return try cast(texts, to: type)
    }
    if FirestoreOwnTypes.contain(type: type) { return try cast(context.any(content), to: type) }
    return nil
  }

  /// The elements of an array if all of them are strings; otherwise `nil`.
  private static func texts(_ values: [Value]) -> [String]? {
    var texts: [String] = []
    texts.reserveCapacity(values.count)
    for value in values {
      guard case .string(let text) = value else { return nil }
      texts.append(text)
    }
    return texts
  }

  private func cast<T>(_ value: Any, to type: T.Type) throws -> T {
    guard let value = value as? T else { throw mismatch(type, "a \(type)") }
    return value
  }

  private func date(_ strategy: Firestore.Decoder.DateDecodingStrategy? = nil) throws -> Date {
    switch strategy ?? options.dates {
    case .timestamp(let fallback):
      switch content {
      case .stored(.timestamp(let timestamp)): return Timestamp(timestamp).dateValue()
      case .given(let timestamp as Timestamp): return timestamp.dateValue()
      case .given(let date as Date): return date
      default: break
      }
      if isNil { throw mismatch(Date.self, "a timestamp") }
      return try date(fallback)
    case .deferredToDate: return try Date(from: self)
    case .secondsSince1970: return Date(timeIntervalSince1970: try float(Double.self))
    case .millisecondsSince1970: return Date(timeIntervalSince1970: try float(Double.self) / 1000)
    case .iso8601:
      // Foundation's error would not contain the path in the document.
      guard let date = try? Date(try string(), strategy: .iso8601) else {
        throw corrupted("must be a time in ISO 8601, such as 2026-01-31T12:00:00Z.")
      }
      return date
    case .formatted(let formatter):
      guard let date = formatter.date(from: try string()) else { throw corrupted("does not match the date format.") }
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
    guard let url = URL(string: try string()) else { throw corrupted("is not a URL.") }
    return url
  }

  /// Decodes a number or a string of digits. A string can contain more digits than a double can represent.
  private func decimal() throws -> Decimal {
    switch scalar {
    case .integer(let integer)?: return Decimal(integer)
    case .double(let double)? where double.isFinite: return NSNumber(value: double).decimalValue
    case .string(let text)?:
      guard let decimal = Decimal(string: text, locale: Locale(identifier: "en_US_POSIX")) else {
        throw corrupted("is not a decimal number.")
      }
      return decimal
    default: throw mismatch(Decimal.self, "a number")
    }
  }
}
