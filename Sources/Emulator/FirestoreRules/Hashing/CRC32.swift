// SPDX-License-Identifier: Apache-2.0

/// A cyclic redundancy check of 32 bits.
struct CRC32: Sendable {
  /// The polynomial of Ethernet and zip files.
  static let ieee = CRC32(reversedPolynomial: 0xEDB8_8320)
  /// The polynomial of iSCSI.
  static let castagnoli = CRC32(reversedPolynomial: 0x82F6_3B78)

  private let table: [UInt32]

  private init(reversedPolynomial polynomial: UInt32) {
    table = (0..<256).map { byte in
      (0..<8).reduce(UInt32(byte)) { value, _ in value & 1 == 1 ? value >> 1 ^ polynomial : value >> 1 }
    }
  }

  func littleEndianBytes(of bytes: [UInt8]) -> [UInt8] {
    let sum = ~bytes.reduce(UInt32.max) { table[Int(($0 ^ UInt32($1)) & 0xFF)] ^ $0 >> 8 }
    return (0..<4).map { UInt8(truncatingIfNeeded: sum >> (8 * UInt32($0))) }
  }
}
