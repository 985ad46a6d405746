// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The fields of a map.
struct KeyedEncoder<Key: CodingKey>: KeyedEncodingContainerProtocol {
  let encoder: StructureEncoder
  let map: EncodedMap

  var codingPath: [any CodingKey] { encoder.codingPath }

  mutating func encodeNil(forKey key: Key) throws { map.entries[name(of: key)] = NSNull() }

  mutating func encode<T: Encodable>(_ value: T, forKey key: Key) throws {
    // No field of the document: it is the document's name.
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

/// The elements of an array.
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

/// The one value of an encoder.
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

/// A key that is no property: an index, `super`, or a name made by a strategy.
struct NameKey: CodingKey {
  let stringValue: String
  let intValue: Int?

  init(_ name: String) { (stringValue, intValue) = (name, nil) }
  init(index: Int) { (stringValue, intValue) = (String(index), index) }
  init?(stringValue: String) { self.init(stringValue) }
  init?(intValue: Int) { self.init(index: intValue) }
}
