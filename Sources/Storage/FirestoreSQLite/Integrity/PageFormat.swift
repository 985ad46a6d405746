// SPDX-License-Identifier: Apache-2.0
import Glibc

/// The format of a database file's pages, by its first bytes.
package enum PageFormat: Hashable, Sendable {
  case absent
  /// Pages of earlier versions, without checksums.
  case unchecked
  case checked
  case unknown

  /// - Precondition: nothing in this process has the file open: closing it again drops the locks of all.
  package init(path: String) {
    var header = [UInt8](repeating: 0, count: 100)
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    let count = descriptor < 0 ? 0 : pread(descriptor, &header, header.count, 0)
    if descriptor >= 0 { close(descriptor) }
    let applicationID = header[68..<72].reduce(0 as UInt32) { $0 << 8 | UInt32($1) }
    switch (count, header[20], applicationID) {
    case (0, _, _): self = .absent
    case (100, UInt8(PageChecksums.reservedBytes), PageChecksums.applicationID): self = .checked
    case (100, 0, 0): self = .unchecked
    default: self = .unknown
    }
  }
}

extension PageChecksums {
  /// Replaces a file without checksums by a copy with them, whole or not at all.
  /// - Precondition: no process has the file open.
  /// - Parameters:
  ///   - name: the name of the data in errors.
  ///   - check: looks at the data before.
  package static func add(
    to files: DatabaseFiles, called name: String, _ check: (Connection) throws(StoreError) -> Void
  ) throws(StoreError) {
    let copy = files.path + ".new"
    // An interrupted attempt may have left these files. The note of the log's end would be wrong once the log is
    // written back below.
    for file in [copy, copy + "-journal", files.logEnd] { unlink(file) }
    do throws(StoreError) {
      let old = try Connection(path: files.path, called: name)
      try check(old)
      old.reserve(reservedBytes)
      try old.run("VACUUM INTO ?", uri(of: copy))
      let new = try Connection(path: uri(of: copy), called: name)
      try new.execute("PRAGMA application_id = \(applicationID)")
      new.close()
      // Brings its log back and removes it: it must not be found beside the new file.
      old.close()
      try files.install(copy)
    } catch {
      unlink(copy)
      throw error
    }
  }
}
