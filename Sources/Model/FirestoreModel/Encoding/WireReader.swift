// SPDX-License-Identifier: Apache-2.0

/// The error for bytes that are not well-formed protobuf or do not contain the expected message.
package struct WireError: Error, Hashable, Sendable {
  package var reason: String
  /// The text that should be a document's name but is not; `nil` for other errors.
  package var referenceName: String?
  package init(_ reason: String, referenceName: String? = nil) {
    self.reason = reason
    self.referenceName = referenceName
  }

  /// The error for a `Value` without a type. Servers report it with a special message.
  package static let untypedValue = WireError("a value has no type")
}

/// Reads protobuf wire format without copying. Never reads beyond the end, even if the bytes are malformed.
package struct WireReader {
  private let bytes: UnsafeRawBufferPointer
  private var position = 0

  package init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

  /// Reads a whole message.
  package static func read<Result>(
    _ bytes: [UInt8], _ body: (inout WireReader) throws(WireError) -> Result
  ) throws(WireError) -> Result {
    let result: Swift.Result<Result, WireError> = bytes.withUnsafeBytes { buffer in
      var reader = WireReader(buffer)
      do throws(WireError) { return .success(try body(&reader)) } catch { return .failure(error) }
    }
    return try result.get()
  }

  package var isAtEnd: Bool { position >= bytes.count }
  package var remaining: Int { bytes.count - position }
  var unread: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: bytes[position...]) }

  /// Continues at another position.
  mutating func move(to position: Int) { self.position = min(position, bytes.count) }

  @inline(__always)
  package mutating func varint() throws(WireError) -> UInt64 {
    if position < bytes.count, bytes[position] < 0x80 {
      defer { position += 1 }
      return UInt64(bytes[position])
    }
    return try longVarint()
  }

  private mutating func longVarint() throws(WireError) -> UInt64 {
    var result: UInt64 = 0
    var shift: UInt64 = 0
    while shift < 64 {
      guard position < bytes.count else { throw WireError("a number is cut short") }
      let byte = bytes[position]
      position += 1
      result |= UInt64(byte & 0x7f) << shift
      if byte < 0x80 { return result }
      shift += 7
    }
    throw WireError("a number is longer than ten bytes")
  }

  /// Reads the tag of the next field, and returns the field's number and type; `nil` at the end.
  @inline(__always)
  package mutating func tag() throws(WireError) -> (field: Int, type: WireType)? {
    if isAtEnd { return nil }
    let key = try varint()
    guard let type = WireType(rawValue: UInt8(key & 7)), key >> 3 > 0, key >> 3 < 1 << 29 else {
      throw WireError("a field has an impossible number or type")
    }
    return (Int(key >> 3), type)
  }

  @inline(__always)
  package mutating func lengthDelimited() throws(WireError) -> UnsafeRawBufferPointer {
    let length = try varint()
    guard length <= UInt64(bytes.count - position) else { throw WireError("a field is longer than its message") }
    let slice = UnsafeRawBufferPointer(rebasing: bytes[position..<(position + Int(length))])
    position += Int(length)
    return slice
  }

  /// Reads the content of the next field if it looks like a map entry with a short name. Such an entry has the given
  /// one-byte tag and a length below 16384. Its content begins with a field 1 whose length is encoded in one byte. For
  /// anything else, returns `nil` and reads nothing.
  @inline(__always)
  mutating func canonicalEntry(_ tag: UInt8) -> UnsafeRawBufferPointer? {
    guard position + 4 <= bytes.count, bytes[position] == tag else { return nil }
    var length = Int(bytes[position + 1])
    var start = position + 2
    if length >= 0x80 {
      guard bytes[start] < 0x80 else { return nil }
      length = length & 0x7f | Int(bytes[start]) << 7
      start += 1
    }
    guard length >= 2, length <= bytes.count - start, bytes[start] == 0x0a, bytes[start + 1] < 0x80 else { return nil }
    position = start + length
    return UnsafeRawBufferPointer(rebasing: bytes[start..<(start + length)])
  }

  package mutating func message() throws(WireError) -> WireReader { WireReader(try lengthDelimited()) }

  package mutating func fixed64() throws(WireError) -> UInt64 {
    guard remaining >= 8 else { throw WireError("a fixed-width number is cut short") }
    defer { position += 8 }
    return UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: position, as: UInt64.self))
  }

  package mutating func double() throws(WireError) -> Double { Double(bitPattern: try fixed64()) }
  package mutating func integer() throws(WireError) -> Int64 { Int64(bitPattern: try varint()) }
  package mutating func boolean() throws(WireError) -> Bool { try varint() != 0 }

  /// Reads a length-delimited field as text.
  /// - Throws: an error if the bytes are not UTF-8.
  package mutating func string() throws(WireError) -> String {
    let bytes = try lengthDelimited().assumingMemoryBound(to: UInt8.self)
    // Most texts are ASCII, which needs no validation. The validating initializer is not specialized for buffers and
    // costs a few hundred nanoseconds.
    if bytes.allSatisfy({ $0 < 0x80 }) { return String(decoding: bytes, as: UTF8.self) }
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw WireError("a string is not valid UTF-8")
    }
    return text
  }

  package mutating func byteArray() throws(WireError) -> [UInt8] { Array(try lengthDelimited()) }

  package mutating func timestamp() throws(WireError) -> Timestamp {
    var reader = try message()
    var result = Timestamp(seconds: 0)
    while let tag = try reader.tag() {
      switch (tag.field, tag.type) {
      case (1, .varint): result.seconds = try reader.integer()
      case (2, .varint): result.nanoseconds = Int32(truncatingIfNeeded: try reader.integer())
      default: try reader.skip(tag.type)
      }
    }
    guard (0..<1_000_000_000).contains(result.nanoseconds) else {
      throw WireError("a timestamp has impossible nanoseconds")
    }
    return result
  }

  /// Skips the content of a field. Used for fields with an unknown number.
  package mutating func skip(_ type: WireType) throws(WireError) {
    switch type {
    case .varint: _ = try varint()
    case .fixed64: _ = try fixed64()
    case .lengthDelimited: _ = try lengthDelimited()
    case .fixed32:
      guard remaining >= 4 else { throw WireError("a fixed-width number is cut short") }
      position += 4
    case .startGroup, .endGroup: throw WireError("groups are not used by Firestore")
    }
  }
}
