// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreSQLite

/// The checksum of a document. The lower half covers the fields. The upper half covers the key, the version and the
/// state: a flipped bit in these would turn the row into a different document, a different version or a tombstone.
enum DocumentChecksum {
  struct Header {
    var number: DocumentNumber
    var collection: CollectionNumber
    var version: Int64?
    var createTime: Int64?
    var state: Int64
  }

  static func of(_ fields: [UInt8]?, _ header: Header, named name: String) -> Int64 {
    var name = name
    let upper = name.withUTF8 { self.upper(header, named: UnsafeRawBufferPointer($0)) }
    let lower = fields.map { UInt64($0.withUnsafeBytes(StoredFields.checksum)) } ?? 0
    return Int64(bitPattern: upper << 32 | lower)
  }

  static func holds(_ stored: Int64, for header: Header, named name: UnsafeRawBufferPointer) -> Bool {
    UInt64(bitPattern: stored) >> 32 == upper(header, named: name)
  }

  private static func upper(_ header: Header, named name: UnsafeRawBufferPointer) -> UInt64 {
    let parts = (
      StoredFields.checksum(name), header.number.rawValue, header.collection.rawValue, header.version ?? .min,
      header.createTime ?? .min,
      header.state
    )
    return withUnsafeBytes(of: parts) { UInt64(StoredFields.checksum($0)) }
  }
}

/// The checksum of a row that contains a pending write's mutations, an overlay's mutation or a target's resume
/// position. SQLite does not protect these rows from damage.
enum RowChecksum {
  static func of(_ bytes: [UInt8], _ more: [UInt8] = [], numbers: (Int64, Int64) = (0, 0)) -> Int64 {
    bytes.withUnsafeBytes { bytes in more.withUnsafeBytes { more in of(bytes, more, numbers: numbers) } }
  }

  /// - Parameter stored: the stored checksum; `nil` if the row has none, in which case the result is false.
  static func holds(
    _ stored: Int64?, for bytes: UnsafeRawBufferPointer,
    _ more: UnsafeRawBufferPointer = UnsafeRawBufferPointer(start: nil, count: 0), numbers: (Int64, Int64) = (0, 0)
  ) -> Bool {
    stored == of(bytes, more, numbers: numbers)
  }

  private static func of(_ bytes: UnsafeRawBufferPointer, _ more: UnsafeRawBufferPointer, numbers: (Int64, Int64))
    -> Int64
  {
    let sums = (StoredFields.checksum(bytes), StoredFields.checksum(more), numbers.0, numbers.1)
    return withUnsafeBytes(of: sums) { StoredFields.checksum($0) }
  }
}

/// Fields in the form that the cache stores: canonical bytes and a checksum. The checksum is needed because SQLite does
/// not detect that the bytes of a value were altered on disk.
enum StoredFields {
  /// - Throws: `corrupt` if the bytes do not match the checksum.
  static func read(_ bytes: UnsafeRawBufferPointer, checksum: Int64) throws(StoreError) -> EncodedFields {
    guard holds(checksum, for: bytes) else { throw changedOnDisk }
    return EncodedFields(trusted: [UInt8](bytes))
  }

  static let changedOnDisk = StoreError.damaged("a document has changed on disk")

  /// - Parameter checksum: the document's checksum (`DocumentChecksum`).
  static func holds(_ checksum: Int64, for bytes: UnsafeRawBufferPointer) -> Bool {
    self.checksum(bytes) == checksum & 0xffff_ffff
  }

  /// A 32-bit checksum. It multiplies and folds eight bytes at a time, which takes about 0.1 ns per byte. It detects
  /// accidental damage, but not intentional changes.
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
    // Includes `value`, because a product of zero would discard the earlier bytes.
    return product.high ^ product.low ^ value
  }
}
