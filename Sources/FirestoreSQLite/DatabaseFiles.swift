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

  /// Whether there is a database, or the log of one.
  package var exists: Bool { access(path, F_OK) == 0 || access(log, F_OK) == 0 }

  /// Whether the database itself is there, and holds anything.
  package var hasContents: Bool {
    var information = stat()
    return stat(path, &information) == 0 && information.st_size > 0
  }

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
    if access(path, F_OK) != 0, let notice = try PrivateFile.secure(path, creating: true) { notices.append(notice) }
    return notices
  }

  /// Whether damage was met while the database was in use, and nobody has looked at it since.
  package var isMarkedDamaged: Bool { access(mark, F_OK) == 0 }

  package func markDamaged() {
    let descriptor = open(mark, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    if descriptor >= 0 { close(descriptor) }
  }

  package func clearDamage() { unlink(mark) }

  /// Renames the database with its log to `….damaged-N`, the first such name that is free; nothing is deleted.
  /// - Returns: the new path of the database.
  package func moveAside() throws(StoreError) -> String {
    // The log goes second: alone it is damage for the one who finds it after an interruption, a database without it is
    // not.
    let companions = ["", "-wal", "-shm"]
    var number = 1
    while companions.contains(where: { access("\(path).damaged-\(number)\($0)", F_OK) == 0 }) { number += 1 }
    let aside = "\(path).damaged-\(number)"
    for companion in companions where access(path + companion, F_OK) == 0 {
      guard rename(path + companion, aside + companion) == 0 else {
        throw StoreError(
          .notWritable, "\(path + companion) is damaged and cannot be moved aside: \(StoreError.reason(errno)).")
      }
    }
    clearDamage()
    return aside
  }

  /// Deletes the database with what belongs to it.
  /// - Precondition: it was closed, so that its log holds nothing.
  package func remove() throws(StoreError) {
    for file in [log, logIndex, path] where unlink(file) != 0 && errno != ENOENT {
      throw StoreError(.notWritable, "\(file) cannot be deleted: \(StoreError.reason(errno)).")
    }
    clearDamage()
  }
}
