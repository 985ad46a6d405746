// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The fields of a map.
struct KeyedDecoder<Key: CodingKey>: KeyedDecodingContainerProtocol {
  private let decoder: StructureDecoder
  /// The fields by the names of their properties.
  private let map: [String: Any]

  init(decoder: StructureDecoder, map: [String: Any]) {
    self.decoder = decoder
    guard decoder.convertsKeys, decoder.options.keys.convert else {
      self.map = map
      return
    }
    // Two fields may become one property: then the first by name counts, so that the choice is always the same.
    let named = map.sorted { $0.key < $1.key }.map { field in
      (decoder.options.keys.name(of: field.key, in: decoder.codingPath), field.value)
    }
    self.map = Dictionary(named, uniquingKeysWith: { first, _ in first })
  }

  var codingPath: [any CodingKey] { decoder.codingPath }
  var allKeys: [Key] { map.keys.sorted().compactMap { Key(stringValue: $0) } }

  func contains(_ key: Key) -> Bool { map[key.stringValue] != nil }

  func decodeNil(forKey key: Key) throws -> Bool { try child(key).isNil }

  func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
    if type is any DocumentIdentity.Type {
      if contains(key) {
        throw FirestoreDecodingError.fieldNameConflict(
          "The document has a field \(path(key)), which is also the name of a @DocumentID property; "
            + "rename one of them.")
      }
      return try type.init(from: decoder.child(NSNull(), at: key))
    }
    if type is any AbsenceTolerant.Type, !contains(key) {
      return try type.init(from: decoder.child(NSNull(), at: key))
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
    decoder.child(map["super"] ?? NSNull(), at: NameKey("super"))
  }

  func superDecoder(forKey key: Key) throws -> any Swift.Decoder { try child(key) }

  private func child(_ key: Key) throws -> StructureDecoder {
    guard let content = map[key.stringValue] else {
      throw DecodingError.keyNotFound(
        key, DecodingError.Context(codingPath: codingPath, debugDescription: "The document has no field \(path(key))."))
    }
    return decoder.child(content, at: key)
  }

  private func path(_ key: Key) -> String {
    (codingPath.map(\.stringValue) + [key.stringValue]).joined(separator: ".")
  }
}

/// The elements of an array.
struct UnkeyedDecoder: UnkeyedDecodingContainer {
  private let decoder: StructureDecoder
  private let elements: [Any]
  private(set) var currentIndex = 0

  init(decoder: StructureDecoder, elements: [Any]) {
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

  /// Reads the next element; one that cannot be read stays the next.
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
    return decoder.child(elements[currentIndex], at: NameKey(index: currentIndex))
  }
}

/// The one value of a decoder.
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
