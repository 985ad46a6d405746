// SPDX-License-Identifier: Apache-2.0
import CPageChecksums

/// Databases whose every page ends with a checksum, in the form that SQLite publishes (sqlite.org/cksumvfs.html). SQLite
/// compares it whenever it reads the page, so a bit that changed on disk makes the read fail instead of returning
/// another document, or none.
package enum PageChecksums {
  /// The number of bytes for the checksum at the end of each page. Set it before a database has its first page.
  package static let reservedBytes = Int32(CPC_RESERVED_BYTES)

  /// The application id in the header of Hearth's databases: "Hear".
  package static let applicationID: UInt32 = 0x4865_6172

  /// Returns the URI by which SQLite opens a file with checksums.
  /// - Throws: `notWritable` if SQLite was built without URIs.
  package static func uri(of path: String) throws(StoreError) -> String {
    guard cpc_register() == 0 else {
      throw StoreError(
        .notWritable,
        "\(path) cannot be opened: checksums need a SQLite that was built with SQLITE_USE_URI, and this one was not.")
    }
    var uri = "file:"
    for byte in path.utf8 {
      let character = Character(Unicode.Scalar(byte))
      let isPlain = byte < 128 && (character.isLetter || character.isNumber || "/-_.~".contains(character))
      let digits = String(byte, radix: 16)
      uri += isPlain ? String(character) : "%" + (digits.count < 2 ? "0" : "") + digits
    }
    return uri + "?vfs=" + CPC_NAME
  }

  /// Whether a page is unchanged since it was written.
  package static func isIntact(_ page: UnsafeRawBufferPointer) -> Bool {
    guard let start = page.baseAddress, page.count > Int(CPC_RESERVED_BYTES), page.count % 8 == 0 else { return false }
    return cpc_is_intact(start, page.count) != 0
  }
}
