// SPDX-License-Identifier: Apache-2.0

/// Writes protobuf wire format. Nested messages are written in place: one byte is reserved for the length of the
/// message, and more bytes are inserted if necessary.
package struct WireWriter {
  package private(set) var bytes: [UInt8] = []

  package init() {}

  /// - Parameter capacity: the number of bytes to reserve.
  package init(capacity: Int) { bytes.reserveCapacity(capacity) }

  /// Writes one message and returns its bytes.
  package static func message(_ write: (inout WireWriter) -> Void) -> [UInt8] {
    var writer = WireWriter(capacity: 128)
    write(&writer)
    return writer.bytes
  }

  package mutating func varint(_ value: UInt64) {
    var value = value
    while value >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: value) | 0x80)
      value >>= 7
    }
    bytes.append(UInt8(truncatingIfNeeded: value))
  }

  package mutating func tag(_ field: Int, _ type: WireType) { varint(UInt64(field) << 3 | UInt64(type.rawValue)) }

  package mutating func field(_ number: Int, varint value: UInt64) {
    tag(number, .varint)
    varint(value)
  }

  package mutating func field(_ number: Int, integer value: Int64) { field(number, varint: UInt64(bitPattern: value)) }
  package mutating func field(_ number: Int, boolean value: Bool) { field(number, varint: value ? 1 : 0) }

  package mutating func field(_ number: Int, double value: Double) {
    tag(number, .fixed64)
    withUnsafeBytes(of: value.bitPattern.littleEndian) { bytes.append(contentsOf: $0) }
  }

  package mutating func field(_ number: Int, string value: String) {
    tag(number, .lengthDelimited)
    varint(UInt64(value.utf8.count))
    bytes.append(contentsOf: value.utf8)
  }

  package mutating func field(_ number: Int, bytes value: some Collection<UInt8>) {
    tag(number, .lengthDelimited)
    varint(UInt64(value.count))
    bytes.append(contentsOf: value)
  }

  package mutating func field(_ number: Int, _ write: (inout WireWriter) -> Void) {
    tag(number, .lengthDelimited)
    let start = bytes.count
    bytes.append(0)
    write(&self)
    let length = bytes.count - start - 1
    if length >= 0x80 { widenLength(at: start, to: length) } else { bytes[start] = UInt8(length) }
  }

  /// Inserts space for a length that does not fit into the reserved byte, and writes the length.
  private mutating func widenLength(at start: Int, to length: Int) {
    var (rest, more) = (length >> 7, 0)
    while rest > 0 { (rest, more) = (rest >> 7, more + 1) }
    bytes.insert(contentsOf: repeatElement(0, count: more), at: start)
    rest = length
    for place in start..<(start + more) {
      bytes[place] = UInt8(truncatingIfNeeded: rest) | 0x80
      rest >>= 7
    }
    bytes[start + more] = UInt8(rest)
  }

  /// Appends fields that are already in wire format.
  package mutating func raw(_ fields: some Collection<UInt8>) { bytes.append(contentsOf: fields) }

  package mutating func field(_ number: Int, timestamp value: Timestamp) {
    field(number) { writer in
      if value.seconds != 0 { writer.field(1, integer: value.seconds) }
      if value.nanoseconds != 0 { writer.field(2, integer: Int64(value.nanoseconds)) }
    }
  }
}

package enum WireType: UInt8, Sendable {
  case varint = 0
  case fixed64 = 1
  case lengthDelimited = 2
  case startGroup = 3
  case endGroup = 4
  case fixed32 = 5
}
