// SPDX-License-Identifier: Apache-2.0

/// The checksum beside a document. Its lower half is that of the fields, its upper half is of what says whose they are,
/// and of when: a changed bit there would show another document, another version, or none.
///
/// An upper half of zero is that of a row which an earlier version of this program stored; it is trusted.
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
    let upper = UInt64(bitPattern: stored) >> 32
    return upper == 0 || upper == self.upper(header, named: name)
  }

  private static func upper(_ header: Header, named name: UnsafeRawBufferPointer) -> UInt64 {
    let parts = (
      StoredFields.checksum(name), header.number.rawValue, header.collection.rawValue, header.version ?? .min,
      header.createTime ?? .min,
      header.state
    )
    return max(withUnsafeBytes(of: parts) { UInt64(StoredFields.checksum($0)) }, 1)
  }
}
