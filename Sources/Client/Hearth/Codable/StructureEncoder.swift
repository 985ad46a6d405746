// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Encodes one value by collecting the data that its `encode(to:)` writes.
final class StructureEncoder: Swift.Encoder {
  let options: Firestore.Encoder.Options
  let codingPath: [any CodingKey]
  /// Whether the key strategy applies. It applies to property names, but not to the keys of a dictionary, because these
  /// are data.
  private let convertsKeys: Bool
  private var content: Content?

  private enum Content {
    case value(Any)
    case map(EncodedMap)
    case array(EncodedArray)
  }

  init(options: Firestore.Encoder.Options, path: [any CodingKey], convertsKeys: Bool = true) {
    self.options = options
    codingPath = path
    self.convertsKeys = convertsKeys
  }

  func name(of key: any CodingKey) -> String {
    convertsKeys ? options.keys.name(of: key, in: codingPath) : key.stringValue
  }

  var userInfo: [CodingUserInfoKey: Any] { options.userInfo }

  /// The data that was written; an empty map if the value wrote nothing.
  var result: Any {
    switch content {
    case nil: [String: Any]()
    case .value(let value): value
    case .map(let map): map.result
    case .array(let array): array.result
    }
  }

  // A second container of the same kind adds to the first one, for example when a subclass and its superclass encode.

  func container<Key>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    let map: EncodedMap
    if case .map(let open)? = content { map = open } else { map = EncodedMap() }
    content = .map(map)
    return KeyedEncodingContainer(KeyedEncoder(encoder: self, map: map))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    let array: EncodedArray
    if case .array(let open)? = content { array = open } else { array = EncodedArray() }
    content = .array(array)
    return UnkeyedEncoder(encoder: self, array: array)
  }

  func singleValueContainer() -> any SingleValueEncodingContainer { SingleValueEncoder(encoder: self) }

  func write(_ value: Any) { content = .value(value) }

  // MARK: Values

  /// Converts a value to Firestore data. Types without a direct conversion are encoded with `encode(to:)`.
  func result<T: Encodable>(of value: T) throws -> Any {
    switch value {
    case let date as Date: return try result(of: date)
    case let data as Data: return try result(of: data)
    case let url as URL: return url.absoluteString
    case let decimal as Decimal: return NSDecimalNumber(decimal: decimal).doubleValue
    case let number as Double: return try result(of: number)
    case let number as Float: return try result(of: Double(number))
    case _ where FirestoreOwnTypes.contain(value): return value
    default: return try result(ofEncoding: value)
    }
  }

  private func result(ofEncoding value: any Encodable) throws -> Any {
    try result(convertsKeys: !(value is any StringKeyedDictionary)) { try value.encode(to: $0) }
  }

  /// The data that the closure writes into an encoder.
  private func result(convertsKeys: Bool = true, of write: (any Swift.Encoder) throws -> Void) throws -> Any {
    let encoder = StructureEncoder(options: options, path: codingPath, convertsKeys: convertsKeys)
    try write(encoder)
    return encoder.result
  }

  private func result(of date: Date) throws -> Any {
    switch options.dates {
    case .timestamp: return Timestamp(date: date)
    case .deferredToDate: return try result(ofEncoding: date)
    case .secondsSince1970: return date.timeIntervalSince1970
    case .millisecondsSince1970: return date.timeIntervalSince1970 * 1000
    case .iso8601: return date.formatted(.iso8601)
    case .formatted(let formatter): return formatter.string(from: date)
    case .custom(let encode): return try result { try encode(date, $0) }
    }
  }

  private func result(of data: Data) throws -> Any {
    switch options.data {
    case .blob: return data
    case .deferredToData: return try result(ofEncoding: data)
    case .base64: return data.base64EncodedString()
    case .custom(let encode): return try result { try encode(data, $0) }
    }
  }

  private func result(of number: Double) throws -> Any {
    if number.isFinite { return number }
    guard case .convertToString(let infinity, let negativeInfinity, let nan) = options.floats else {
      throw EncodingError.invalidValue(
        number,
        EncodingError.Context(
          codingPath: codingPath,
          debugDescription: "\(number) is invalid. Set nonConformingFloatEncodingStrategy to write it as a string."))
    }
    return number.isNaN ? nan : number > 0 ? infinity : negativeInfinity
  }
}

/// A map whose entries are being written.
final class EncodedMap {
  var entries: [String: Any] = [:]
  /// The encoders of nested containers and of `super`, whose contents are added to the map later.
  var open: [String: StructureEncoder] = [:]

  var result: [String: Any] { entries.merging(open.mapValues(\.result)) { _, later in later } }
}

/// An array whose elements are being written.
final class EncodedArray {
  enum Element {
    case value(Any)
    case open(StructureEncoder)
  }

  var elements: [Element] = []

  var result: [Any] {
    elements.map { element in
      switch element {
      case .value(let value): value
      case .open(let encoder): encoder.result
      }
    }
  }
}

/// A dictionary whose keys are data rather than names of properties.
protocol StringKeyedDictionary: DecodedInItsWay {}
extension Dictionary: DecodedInItsWay where Key == String {}
extension Dictionary: StringKeyedDictionary where Key == String {}

/// Writes the fields of a map.
struct KeyedEncoder<Key: CodingKey>: KeyedEncodingContainerProtocol {
  let encoder: StructureEncoder
  let map: EncodedMap

  var codingPath: [any CodingKey] { encoder.codingPath }

  mutating func encodeNil(forKey key: Key) throws { map.entries[name(of: key)] = NSNull() }

  mutating func encode<T: Encodable>(_ value: T, forKey key: Key) throws {
    // A document's id is not a field of the document.
    if value is any DocumentIdentity { return }
    map.entries[name(of: key)] = try child(key).result(of: value)
  }

  mutating func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) -> KeyedEncodingContainer<Nested> {
    open(key).container(keyedBy: type)
  }

  mutating func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { open(key).unkeyedContainer() }

  mutating func superEncoder() -> any Swift.Encoder { open(NameKey("super")) }
  mutating func superEncoder(forKey key: Key) -> any Swift.Encoder { open(key) }

  private func name(of key: any CodingKey) -> String { encoder.name(of: key) }

  private func child(_ key: any CodingKey) -> StructureEncoder {
    StructureEncoder(options: encoder.options, path: codingPath + [key])
  }

  private func open(_ key: any CodingKey) -> StructureEncoder {
    let child = child(key)
    map.open[name(of: key)] = child
    return child
  }
}

/// Writes the elements of an array.
struct UnkeyedEncoder: UnkeyedEncodingContainer {
  let encoder: StructureEncoder
  let array: EncodedArray

  var codingPath: [any CodingKey] { encoder.codingPath }
  var count: Int { array.elements.count }

  mutating func encodeNil() throws { array.elements.append(.value(NSNull())) }

  mutating func encode<T: Encodable>(_ value: T) throws {
    array.elements.append(.value(try child().result(of: value)))
  }

  mutating func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
    open().container(keyedBy: type)
  }

  mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { open().unkeyedContainer() }
  mutating func superEncoder() -> any Swift.Encoder { open() }

  private func child() -> StructureEncoder {
    StructureEncoder(options: encoder.options, path: codingPath + [NameKey(index: count)])
  }

  private func open() -> StructureEncoder {
    let child = child()
    array.elements.append(.open(child))
    return child
  }
}

/// Writes the single value of an encoder.
struct SingleValueEncoder: SingleValueEncodingContainer {
  let encoder: StructureEncoder

  var codingPath: [any CodingKey] { encoder.codingPath }

  mutating func encodeNil() throws { encoder.write(NSNull()) }
  mutating func encode(_ value: Bool) throws { encoder.write(value) }
  mutating func encode(_ value: String) throws { encoder.write(value) }
  mutating func encode(_ value: Int) throws { encoder.write(value) }
  mutating func encode(_ value: Int8) throws { encoder.write(value) }
  mutating func encode(_ value: Int16) throws { encoder.write(value) }
  mutating func encode(_ value: Int32) throws { encoder.write(value) }
  mutating func encode(_ value: Int64) throws { encoder.write(value) }
  mutating func encode(_ value: UInt) throws { encoder.write(value) }
  mutating func encode(_ value: UInt8) throws { encoder.write(value) }
  mutating func encode(_ value: UInt16) throws { encoder.write(value) }
  mutating func encode(_ value: UInt32) throws { encoder.write(value) }
  mutating func encode(_ value: UInt64) throws { encoder.write(value) }
  mutating func encode<T: Encodable>(_ value: T) throws { encoder.write(try encoder.result(of: value)) }
}

/// A coding key that is not a property's name: an index, `super`, or a converted name.
struct NameKey: CodingKey {
  let stringValue: String
  let intValue: Int?

  init(_ name: String) { (stringValue, intValue) = (name, nil) }
  init(index: Int) { (stringValue, intValue) = (String(index), index) }
  init?(stringValue: String) { self.init(stringValue) }
  init?(intValue: Int) { self.init(index: intValue) }
}
