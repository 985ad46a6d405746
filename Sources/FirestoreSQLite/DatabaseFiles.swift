// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A database file with the files that belong to it: SQLite's log and its index, and the mark of damage.
package struct DatabaseFiles: Hashable, Sendable {
  /// Absolute.
  package let path: String

  package init(path: String) { self.path = path }

  package var log: String { path + "-wal" }
  private var logIndex: String { path + "-shm" }
  private var mark: String { path + ".damaged" }

  package var exists: Bool { access(path, F_OK) == 0 }

  /// Looks at the files before SQLite opens them, and makes them private.
  /// - Precondition: the directory is locked.
  /// - Returns: what was changed, for people.
  /// - Throws: `corrupt` where SQLite would silently go without what is stored; `notWritable`, `notPrivate`.
  package func prepare() throws(StoreError) -> [String] {
    var notices: [String] = []
    for file in [path, log, logIndex] {
      if let notice = try PrivateFile.secure(file) { notices.append(notice) }
    }
    try LogInspection.check(self)
    // A file that SQLite makes would follow the umask.
    if !exists, let notice = try PrivateFile.secure(path, creating: true) { notices.append(notice) }
    return notices
  }

  /// Whether damage was met while the database was in use, and nobody has looked at it since.
  package var isMarkedDamaged: Bool { access(mark, F_OK) == 0 }

  package func markDamaged() {
    let descriptor = open(mark, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    if descriptor >= 0 { close(descriptor) }
  }

  package func clearDamage() { unlink(mark) }

  /// Renames the database with its log to the first free name with a number behind it; nothing is deleted.
  /// - Parameter suffix: such as `damaged` for `….damaged-1`.
  /// - Returns: the new path of the database.
  package func moveAside(_ suffix: String) throws(StoreError) -> String {
    var number = 1
    while access("\(path).\(suffix)-\(number)", F_OK) == 0 || access("\(path).\(suffix)-\(number)-wal", F_OK) == 0 {
      number += 1
    }
    let aside = "\(path).\(suffix)-\(number)"
    for companion in ["-wal", "-shm", ""] where access(path + companion, F_OK) == 0 {
      guard rename(path + companion, aside + companion) == 0 else {
        throw StoreError(
          .notWritable, "\(path + companion) is damaged and cannot be moved aside: \(StoreError.reason(errno)).")
      }
    }
    clearDamage()
    return aside
  }
}
