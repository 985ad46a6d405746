// SPDX-License-Identifier: Apache-2.0

/// The checksum of a piece of a record: CRC-32C (RFC 3720, appendix B.4), masked as LevelDB's log format has it, so that a
/// checksum of data that holds checksums stays a good one.
enum RecordChecksum {
  /// `tables[k][byte]` is what a byte comes to that has `k` zeros behind it: eight bytes are then one step.
  private static let tables: [[UInt32]] = {
    // Castagnoli's polynomial, its bits in reverse.
    let polynomial: UInt32 = 0x82f6_3b78
    let first = (0..<256).map { byte in
      (0..<8).reduce(UInt32(byte)) { rest, _ in rest & 1 == 1 ? rest >> 1 ^ polynomial : rest >> 1 }
    }
    var tables = [first]
    for _ in 1..<8 { tables.append(tables[tables.count - 1].map { $0 >> 8 ^ first[Int($0 & 0xff)] }) }
    return tables
  }()
  private static let flat: [UInt32] = tables.flatMap(\.self)

  /// - Parameter type: the kind of piece, which is checked with its bytes.
  static func masked(_ type: UInt8, _ bytes: UnsafeRawBufferPointer) -> UInt32 {
    let crc = flat.withUnsafeBufferPointer { tables in
      ~update(UInt32.max >> 8 ^ tables[Int(~type)], bytes, tables)
    }
    return (crc >> 15 | crc << 17) &+ 0xa282_ead8
  }

  private static func update(
    _ crc: UInt32, _ bytes: UnsafeRawBufferPointer, _ tables: UnsafeBufferPointer<UInt32>
  ) -> UInt32 {
    var crc = crc
    var index = 0
    while index + 8 <= bytes.count {
      let word = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)) ^ UInt64(crc)
      crc = 0
      for step in 0..<8 {
        crc ^= tables[(7 - step) << 8 | Int(UInt8(truncatingIfNeeded: word >> UInt64(step * 8)))]
      }
      index += 8
    }
    while index < bytes.count {
      crc = crc >> 8 ^ tables[Int(UInt8(truncatingIfNeeded: crc) ^ bytes[index])]
      index += 1
    }
    return crc
  }
}
