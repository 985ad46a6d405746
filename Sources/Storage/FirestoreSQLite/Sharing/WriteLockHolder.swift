// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Finds out which process has a shared database locked for writing, for the message of one that waits in vain.
package enum WriteLockHolder {
  /// The byte of the log's index that SQLite locks to write (WAL_WRITE_LOCK).
  private static let byte = "120"

  /// - Parameter database: the path of the database.
  /// - Returns: `nil` if it is not known.
  package static func process(of database: String) -> Int32? {
    var information = stat()
    guard stat(database + "-shm", &information) == 0, let file = fopen("/proc/locks", "re") else { return nil }
    defer { fclose(file) }
    var line = [CChar](repeating: 0, count: 256)
    while fgets(&line, Int32(line.count), file) != nil {
      // "12: POSIX  ADVISORY  WRITE 4711 08:02:131 120 120"
      let end = line.firstIndex(of: 0) ?? line.endIndex
      let text = String(decoding: line[..<end].map { UInt8(bitPattern: $0) }, as: UTF8.self)
      let words = text.split { $0 == " " || $0 == "\n" }
      guard words.count >= 8, words[1] == "POSIX", words[3] == "WRITE", let process = Int32(words[4]), process > 0
      else { continue }
      let file = words[5].split(separator: ":").last.flatMap { UInt64($0) }
      guard file == UInt64(information.st_ino), words[6] <= byte, words[6] == byte || words[7] == byte else { continue }
      return process
    }
    return nil
  }
}
