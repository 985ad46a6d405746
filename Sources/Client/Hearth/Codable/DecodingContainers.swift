// SPDX-License-Identifier: Apache-2.0
import FirestoreModel

/// Reads the fields of a map.
struct KeyedDecoder<Key: CodingKey>: KeyedDecodingContainerProtocol {
  private let decoder: StructureDecoder
  /// The fields, keyed by the names of their properties.
  private let map: DecodedMap

  init(decoder: StructureDecoder, map: DecodedMap) {
    self.decoder = decoder
    guard decoder.convertsKeys, decoder.options.keys.convert else {
      self.map = map
      return
    }
    let path = decoder.codingPath
    self.map = map.renamed { decoder.options.keys.name(of: $0, in: path) }
  }

  var codingPath: [any CodingKey] { decoder.codingPath }
  var allKeys: [Key] { map.names.compactMap { Key(stringValue: $0) } }

  func contains(_ key: Key) -> Bool { map.contains(key.stringValue) }

  func decodeNil(forKey key: Key) throws -> Bool { try child(key).isNil }

  func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
    guard type is any DecodedInItsWay.Type else { return try child(key).ordinaryValue(as: type) }
    if type is any DocumentIdentity.Type {
      if contains(key) {
        throw FirestoreDecodingError.fieldNameConflict(
          "The document has a field \(path(key)), which is also the name of a @DocumentID property; "
            + "rename one of them.")
      }
      return try type.init(from: decoder.child(.null, at: key))
    }
    if type is any AbsenceTolerant.Type, !contains(key) {
      return try type.init(from: decoder.child(.null, at: key))
    }
    return try child(key).value(as: type)
  }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<Nested> {
    try child(key).container(keyedBy: type)
  }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    try child(key).unkeyedContainer()
  }

  func superDecoder() throws -> any Swift.Decoder {
    decoder.child(decoder.context.content(of: "super", in: map) ?? .null, at: NameKey("super"))
  }

  func superDecoder(forKey key: Key) throws -> any Swift.Decoder { try child(key) }

  private func child(_ key: Key) throws -> StructureDecoder {
    guard let content = decoder.context.content(of: key.stringValue, in: map) else {
      throw DecodingError.keyNotFound(
        key, DecodingError.Context(codingPath: codingPath, debugDescription: "The document has no field \(path(key))."))
    }
    return decoder.child(content, at: key)
  }

  private func path(_ key: Key) -> String {
    (codingPath.map(\.stringValue) + [key.stringValue]).joined(separator: ".")
  }
}

// Fields of plain types are read without a separate decoder. Only errors need one.
extension KeyedDecoder {
  func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool {
    switch map {
    case .encoded(let entries): if let value = entries.boolean(key.stringValue) { return value }
    case .stored(let fields): if case .boolean(let value)? = fields[key.stringValue] { return value }
    case .given: break
    }
    return try child(key).bool()
  }

  func decode(_ type: String.Type, forKey key: Key) throws -> String {
    switch map {
    case .encoded(let entries): if let value = entries.text(key.stringValue) { return value }
    case .stored(let fields): if case .string(let value)? = fields[key.stringValue] { return value }
    case .given: break
    }
    return try child(key).string()
  }

  func decode(_ type: Double.Type, forKey key: Key) throws -> Double {
    switch map {
    case .encoded(let entries): if let value = entries.double(key.stringValue), value.isFinite { return value }
    case .stored(let fields):
      if case .double(let value)? = fields[key.stringValue], value.isFinite { return value }
    case .given: break
    }
    return try child(key).float(type)
  }

  func decode(_ type: Float.Type, forKey key: Key) throws -> Float { try child(key).float(type) }
  func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try integer(key) }
  func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { try integer(key) }
  func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 { try integer(key) }
  func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 { try integer(key) }
  func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try integer(key) }
  func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { try integer(key) }
  func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 { try integer(key) }
  func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 { try integer(key) }
  func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 { try integer(key) }
  func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 { try integer(key) }

  private func integer<T: FixedWidthInteger>(_ key: Key) throws -> T {
    switch map {
    case .encoded(let entries):
      if let value = entries.integer(key.stringValue), let value = T(exactly: value) { return value }
    case .stored(let fields):
      if case .integer(let value)? = fields[key.stringValue], let value = T(exactly: value) { return value }
    case .given: break
    }
    return try child(key).integer(T.self)
  }
}

/// Reads the elements of an array.
struct UnkeyedDecoder: UnkeyedDecodingContainer {
  private let decoder: StructureDecoder
  private let elements: DecodedArray
  private(set) var currentIndex = 0

  init(decoder: StructureDecoder, elements: DecodedArray) {
    self.decoder = decoder
    self.elements = elements
  }

  var codingPath: [any CodingKey] { decoder.codingPath }
  var count: Int? { elements.count }
  var isAtEnd: Bool { currentIndex == elements.count }

  mutating func decodeNil() throws -> Bool {
    guard try current().isNil else { return false }
    currentIndex += 1
    return true
  }

  mutating func decode<T: Decodable>(_ type: T.Type) throws -> T { try next { try $0.value(as: type) } }

  mutating func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) throws -> KeyedDecodingContainer<Nested> {
    try next { try $0.container(keyedBy: type) }
  }

  mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
    try next { try $0.unkeyedContainer() }
  }

  mutating func superDecoder() throws -> any Swift.Decoder { try next { $0 } }

  /// Reads the next element. If the element cannot be read, the position does not change.
  private mutating func next<Content>(_ read: (StructureDecoder) throws -> Content) throws -> Content {
    let content = try read(try current())
    currentIndex += 1
    return content
  }

  private func current() throws -> StructureDecoder {
    guard !isAtEnd else {
      throw DecodingError.valueNotFound(
        Any.self,
        DecodingError.Context(
          codingPath: codingPath + [NameKey(index: currentIndex)],
          debugDescription: "The array has only \(elements.count) elements."))
    }
    return decoder.child(
      decoder.context.content(at: currentIndex, in: elements), at: NameKey(index: currentIndex))
  }
}

/// Reads the single value of a decoder.
struct SingleValueDecoder: SingleValueDecodingContainer {
  let decoder: StructureDecoder

  var codingPath: [any CodingKey] { decoder.codingPath }

  func decodeNil() -> Bool { decoder.isNil }
  func decode(_ type: Bool.Type) throws -> Bool { try decoder.bool() }
  func decode(_ type: String.Type) throws -> String { try decoder.string() }
  func decode(_ type: Double.Type) throws -> Double { try decoder.float(type) }
  func decode(_ type: Float.Type) throws -> Float { try decoder.float(type) }
  func decode(_ type: Int.Type) throws -> Int { try decoder.integer(type) }
  func decode(_ type: Int8.Type) throws -> Int8 { try decoder.integer(type) }
  func decode(_ type: Int16.Type) throws -> Int16 { try decoder.integer(type) }
  func decode(_ type: Int32.Type) throws -> Int32 { try decoder.integer(type) }
  func decode(_ type: Int64.Type) throws -> Int64 { try decoder.integer(type) }
  func decode(_ type: UInt.Type) throws -> UInt { try decoder.integer(type) }
  func decode(_ type: UInt8.Type) throws -> UInt8 { try decoder.integer(type) }
  func decode(_ type: UInt16.Type) throws -> UInt16 { try decoder.integer(type) }
  func decode(_ type: UInt32.Type) throws -> UInt32 { try decoder.integer(type) }
  func decode(_ type: UInt64.Type) throws -> UInt64 { try decoder.integer(type) }
  func decode<T: Decodable>(_ type: T.Type) throws -> T { try decoder.value(as: type) }
}
