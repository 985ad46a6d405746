// SPDX-License-Identifier: Apache-2.0
import FirestoreModel

/// Fields as the cache stores them: their canonical bytes, with a checksum beside them, since SQLite does not notice
/// when bytes inside a value change on disk.
enum StoredFields {
  /// - Throws: `corrupt` if the bytes are not those that were stored.
  static func read(_ bytes: UnsafeRawBufferPointer, checksum: Int64) throws(LocalStoreError) -> EncodedFields {
    guard holds(checksum, for: bytes) else { throw changedOnDisk }
    return EncodedFields(trusted: [UInt8](bytes))
  }

  static let changedOnDisk = LocalStoreError.damaged("a document has changed on disk")

  /// - Parameter checksum: of the document (`DocumentChecksum`).
  static func holds(_ checksum: Int64, for bytes: UnsafeRawBufferPointer) -> Bool {
    self.checksum(bytes) == checksum & 0xffff_ffff
  }

  /// 32 bits, from multiplying and folding eight bytes at a time: about 0.1 ns per byte. It guards against accidents,
  /// not against intent.
  static func checksum(_ bytes: UnsafeRawBufferPointer) -> Int64 {
    let multiplier: UInt64 = 0x9e37_79b9_7f4a_7c15
    var state = UInt64(bytes.count) ^ multiplier
    var offset = 0
    while offset + 8 <= bytes.count {
      state = mixed(state ^ bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self), multiplier)
      offset += 8
    }
    var tail: UInt64 = 0
    while offset < bytes.count {
      tail = tail << 8 | UInt64(bytes[offset])
      offset += 1
    }
    return Int64(mixed(state ^ tail, multiplier) & 0xffff_ffff)
  }

  private static func mixed(_ value: UInt64, _ multiplier: UInt64) -> UInt64 {
    let product = value.multipliedFullWidth(by: multiplier)
    // A product of zero would forget what came before.
    return product.high ^ product.low ^ value
  }
}
