// SPDX-License-Identifier: Apache-2.0

/// The elements of an array.
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
    return decoder.child(
      decoder.context.content(at: currentIndex, in: elements), at: NameKey(index: currentIndex))
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
