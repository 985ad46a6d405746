// SPDX-License-Identifier: Apache-2.0
import CPageChecksums

/// Databases whose every page ends with a checksum, which is compared whenever SQLite reads the page: a bit that
/// changed on disk, wherever it is, ends a read with an error instead of another document, or none.
package enum PageChecksums {
  /// The number of bytes for the checksum at the end of each page; to be set before a database has its first page.
  package static let reservedBytes = Int32(CPC_RESERVED_BYTES)

  /// The application id in the header of files with checksums.
  package static let applicationID = UInt32(CPC_APPLICATION_ID)

  /// The URI by which SQLite opens a file with checksums.
  /// - Parameters:
  ///   - mayLackChecksums: whether the file may be one of an earlier version, without them.
  ///   - notesEnd: whether the end of the file's log is noted beside it (`LogEnd`).
  /// - Throws: `notWritable` if SQLite was built without URIs.
  package static func uri(
    of path: String, mayLackChecksums: Bool = false, notesEnd: Bool = false
  ) throws(StoreError) -> String {
    guard cpc_register() == 0 else {
      throw StoreError(
        .notWritable, "\(path) cannot be opened: this SQLite knows no URIs (SQLITE_USE_URI), which checksums need.")
    }
    var uri = "file:"
    for byte in path.utf8 {
      let character = Character(Unicode.Scalar(byte))
      let isPlain = byte < 128 && (character.isLetter || character.isNumber || "/-_.~".contains(character))
      let digits = String(byte, radix: 16)
      uri += isPlain ? String(character) : "%" + (digits.count < 2 ? "0" : "") + digits
    }
    uri += "?vfs=" + CPC_NAME
    if mayLackChecksums { uri += "&" + CPC_MAY_LACK_CHECKSUMS + "=1" }
    return notesEnd ? uri + "&" + CPC_NOTES_END + "=1" : uri
  }

  /// Whether a page is unchanged since it was written as page `number`, the first being 1.
  package static func isIntact(_ page: UnsafeRawBufferPointer, number: UInt32) -> Bool {
    guard let start = page.baseAddress, page.count > Int(CPC_RESERVED_BYTES) else { return false }
    let count = page.count - Int(CPC_RESERVED_BYTES)
    return cpc_checksum(start, count, number) == page.loadUnaligned(fromByteOffset: count, as: UInt64.self)
  }
}
