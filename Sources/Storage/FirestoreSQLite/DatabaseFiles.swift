// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A database file and its companion files: SQLite's write-ahead log and the log's index, copies of damaged logs, and
/// two marker files. One marker means that the database is damaged, and the other that it is open.
package struct DatabaseFiles: Hashable, Sendable {
  /// The absolute path of the database.
  package let path: String

  package init(path: String) { self.path = path }

  /// The directory of the database file, and the file's name in this directory.
  var directory: String { String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)]) }
  var name: String { String(path[(path.lastIndex(of: "/").map(path.index(after:)) ?? path.startIndex)...]) }

  package var log: String { path + "-wal" }
  private var logIndex: String { path + "-shm" }
  private var damageMark: String { path + ".damaged" }
  var openMark: String { path + ".open" }

  /// Whether a database file or its write-ahead log exists.
  package var exists: Bool { access(path, F_OK) == 0 || access(log, F_OK) == 0 }

  /// Whether the database file exists and is not empty.
  package var hasContents: Bool {
    var information = stat()
    return stat(path, &information) == 0 && information.st_size > 0
  }

  /// Makes the files accessible only to this user, and inspects them before SQLite opens them.
  /// - Precondition: the directory is locked.
  /// - Parameter make: creates a new database at a path and closes it. Called if there is no database.
  /// - Returns: messages for the user.
  /// - Throws: `corrupt` for files that SQLite would treat as an empty database; `notWritable`, `notPrivate`.
  package func prepare(making make: (String) throws(StoreError) -> Void) throws(StoreError) -> [String] {
    var notices: [String] = []
    for file in [path, log, logIndex, openMark] {
      if let notice = try PrivateFile.secure(file) { notices.append(notice) }
    }
    notices += try LogInspection.prepare(self)
    if access(path, F_OK) != 0 { try create(make) }
    return notices
  }

  /// Creates a database under a temporary name, and then renames it. After an interruption, the file is therefore
  /// either complete or absent, and an empty file must have been damaged.
  private func create(_ make: (String) throws(StoreError) -> Void) throws(StoreError) {
    let new = path + ".creating"
    // An interrupted attempt may have left these files.
    for suffix in ["", "-journal", "-wal", "-shm"] { unlink(new + suffix) }
    do throws(StoreError) {
      // The permissions of a file that SQLite creates would depend on the umask.
      _ = try PrivateFile.secure(new, creating: true)
      try make(new)
      // An empty log may remain. SQLite would use it for the new database.
      for file in [log, logIndex] { unlink(file) }
      try install(new)
    } catch {
      for suffix in ["", "-journal", "-wal", "-shm"] { unlink(new + suffix) }
      throw error
    }
  }

  /// Makes a finished file durable, and renames it to the database's name.
  /// - Throws: `notWritable`, also if some of the data is only in the file's write-ahead log.
  package func install(_ finished: String) throws(StoreError) {
    var log = stat()
    guard stat(finished + "-wal", &log) != 0 || log.st_size == 0 else {
      throw StoreError(
        .notWritable, "\(path) cannot be created: its log could not be merged into it. Free some disk space.")
    }
    let descriptor = Glibc.open(finished, O_RDWR | O_CLOEXEC | O_NOFOLLOW)
    defer { if descriptor >= 0 { close(descriptor) } }
    guard descriptor >= 0, fchmod(descriptor, 0o600) == 0, fsync(descriptor) == 0, rename(finished, path) == 0 else {
      throw StoreError(.notWritable, "\(path) cannot be created: \(StoreError.reason(errno)).")
    }
    // A power failure could otherwise undo the renaming. Either file would be complete.
    syncDirectory()
  }

  func syncDirectory() {
    let directory = Glibc.open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard directory >= 0 else { return }
    fsync(directory)
    close(directory)
  }

  /// The paths of the copies of damaged logs, oldest first.
  package var keptLogs: [String] {
    var number = 1
    var paths: [String] = []
    while access("\(log).damaged-\(number)", F_OK) == 0 {
      paths.append("\(log).damaged-\(number)")
      number += 1
    }
    return paths
  }

  /// Copies the log to `…-wal.damaged-N`, and truncates the log after the last recoverable commit.
  /// - Returns: the path of the copy.
  func keepLog(upTo end: Int) throws(StoreError) -> String {
    let kept = "\(log).damaged-\(keptLogs.count + 1)"
    let source = Glibc.open(log, O_RDWR | O_CLOEXEC | O_NOFOLLOW)
    let copy = Glibc.open(kept, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
    defer { for file in [source, copy] where file >= 0 { close(file) } }
    guard source >= 0, copy >= 0, Self.copy(source, to: copy), fsync(copy) == 0, ftruncate(source, off_t(end)) == 0
    else {
      let reason = StoreError.reason(errno)
      unlink(kept)
      throw StoreError(.notWritable, "\(reason).")
    }
    syncDirectory()
    return kept
  }

  private static func copy(_ source: Int32, to copy: Int32) -> Bool {
    var offset: off_t = 0
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = pread(source, &buffer, buffer.count, offset)
      if count <= 0 { return count == 0 }
      guard pwrite(copy, buffer, count, offset) == count else { return false }
      offset += off_t(count)
    }
  }

  /// Whether damage was detected while the database was in use, and the database has not been verified since then.
  package var isMarkedDamaged: Bool { access(damageMark, F_OK) == 0 }

  package func markDamaged() {
    let descriptor = open(damageMark, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    if descriptor >= 0 { close(descriptor) }
  }

  package func clearDamage() { unlink(damageMark) }

  /// Renames the database and its log to the first unused name `….damaged-N`. Nothing is deleted.
  /// - Returns: the new path of the database.
  package func moveAside() throws(StoreError) -> String {
    // The log is renamed second: a database without a log is valid, but a log without its database counts as damage.
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
    for (index, kept) in keptLogs.enumerated() { rename(kept, "\(aside)-wal.damaged-\(index + 1)") }
    unlink(openMark)
    clearDamage()
    return aside
  }

  /// Deletes the database and its companion files.
  /// - Precondition: the database was closed, so its log is empty.
  package func remove() throws(StoreError) {
    for file in [log, logIndex, openMark, path] where unlink(file) != 0 && errno != ENOENT {
      throw StoreError(.notWritable, "\(file) cannot be deleted: \(StoreError.reason(errno)).")
    }
    clearDamage()
  }
}

/// A regular file that belongs to this user and that only this user can read (mode 0600). Symbolic links are not
/// followed, because another user could have placed a link there to overwrite a file of this user.
package enum PrivateFile {
  /// Opens the file for reading and writing. The caller closes it.
  /// - Returns: the descriptor, and a message for the user if permissions were changed. `nil` if the file does not
  ///   exist and `creating` is false.
  /// - Throws: `notWritable`, `notPrivate`.
  static func open(
    _ path: String, creating: Bool
  ) throws(StoreError) -> (descriptor: Int32, notice: String?)? {
    let flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK
    let descriptor = creating ? Glibc.open(path, flags | O_CREAT, 0o600) : Glibc.open(path, flags)
    guard descriptor >= 0 else {
      switch errno {
      case ENOENT where !creating: return nil
      case ELOOP:
        throw StoreError(.notPrivate, "\(path) is a symbolic link. Replace it with the file itself.")
      case let code: throw StoreError(.notWritable, "\(path) cannot be opened: \(StoreError.reason(code)).")
      }
    }
    do throws(StoreError) { return (descriptor, try secure(descriptor, path)) } catch {
      close(descriptor)
      throw error
    }
  }

  /// Makes a file accessible only to this user, if it exists.
  /// - Precondition: this process does not have the file open. Closing the file here would release all its locks.
  /// - Returns: a message for the user if permissions were changed.
  package static func secure(_ path: String, creating: Bool = false) throws(StoreError) -> String? {
    guard let file = try open(path, creating: creating) else { return nil }
    close(file.descriptor)
    return file.notice
  }

  private static func secure(_ descriptor: Int32, _ path: String) throws(StoreError) -> String? {
    var information = stat()
    guard fstat(descriptor, &information) == 0 else {
      throw StoreError(.notWritable, "\(path) cannot be used: \(StoreError.reason(errno)).")
    }
    guard information.st_mode & S_IFMT == S_IFREG else {
      throw StoreError(.notPrivate, "\(path) is not a regular file. Move it away, or choose another directory.")
    }
    guard information.st_nlink == 1 else {
      throw StoreError(
        .notPrivate, "\(path) has a second hard link. Replace it with a copy, or choose another directory.")
    }
    guard information.st_uid == geteuid() || geteuid() == 0 else {
      throw StoreError(
        .notPrivate, "\(path) belongs to another user (\(information.st_uid)). Choose another directory.")
    }
    let mode = information.st_mode & 0o7777
    guard mode & 0o077 != 0 else { return nil }
    guard fchmod(descriptor, 0o600) == 0 else {
      throw StoreError(
        .notPrivate, "\(path) is open to other users and cannot be made private: \(StoreError.reason(errno)).")
    }
    return "\(path) was open to other users (mode \(DirectoryPermissions.text(mode))). Its mode is now 0600."
  }
}

/// The directory of a store with its database files. While this value exists, the directory is locked, exclusively or
/// shared.
package struct StoreDirectory: ~Copyable {
  package let files: DatabaseFiles
  private let lock: DirectoryLock
  private let report: @Sendable (String) -> Void

  /// The absolute path of the directory.
  package var path: String { lock.directory }

  /// Whether no other process was using the directory when this process locked it. Always true if the directory is not
  /// shared.
  package var isFirst: Bool { lock.isFirst }

  /// Creates the directory if necessary, makes it accessible only to this user, and locks it.
  /// - Parameters:
  ///   - name: the name of the directory in error messages, such as "data directory".
  ///   - database: the file name of the database in the directory.
  ///   - others: the name prefixes of other files that belong in the directory.
  ///   - use: whether other processes may use the directory at the same time.
  ///   - report: receives a message about permissions that were changed to protect the stored data.
  /// - Throws: `locked`, `notWritable`, `notPrivate`.
  package init(
    _ path: String, called name: String, database: String, others: [String] = [], use: DirectoryUse = .alone,
    report: @escaping @Sendable (String) -> Void
  ) throws(StoreError) {
    lock = try DirectoryLock(directory: path, called: name, own: [database] + others, use: use)
    files = DatabaseFiles(path: lock.directory + "/" + database)
    self.report = report
    lock.notices.forEach(report)
  }

  /// Inspects the files before SQLite opens them.
  /// - Parameter make: creates a new database at a path and closes it. Called if there is no database.
  /// - Throws: `corrupt` for files that SQLite would treat as an empty database; `notWritable`, `notPrivate`.
  package borrowing func prepare(making make: (String) throws(StoreError) -> Void) throws(StoreError) {
    // Only the first process inspects the files. Files in use must not be opened outside of SQLite, because closing
    // them would release this process's locks on them.
    if isFirst { try files.prepare(making: make).forEach(report) }
  }

  /// Allows other processes to share the directory. Call this after the database is open.
  package borrowing func share() throws(StoreError) { try lock.share() }
}

/// A marker file next to a database that does not fsync every commit (`synchronous=NORMAL`). The file exists from the
/// first change until the database is closed.
///
/// The marker contains the boot id of the system. If the id is from an earlier boot, the system stopped while the
/// database was open, so the last commits may be lost. If a process was killed, its marker contains the id of the
/// current boot. Its commits are in the system's cache and are not lost.
package struct OpenMark: Sendable {
  private let files: DatabaseFiles

  package init(_ files: DatabaseFiles) { self.files = files }

  /// Whether the system stopped while the database was open. Returns true only once, because it removes the marker.
  package func takeCrash() -> Bool {
    guard let marked = Self.contents(files.openMark), marked != Self.bootID else { return false }
    unlink(files.openMark)
    return true
  }

  /// Creates the marker and flushes it to disk. If this fails, the commit still succeeds, but a later crash is not
  /// reported.
  package func set() {
    guard let boot = Self.bootID, Self.contents(files.openMark) != boot else { return }
    let descriptor = open(files.openMark, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { return }
    let written = write(descriptor, boot, boot.count)
    let isSet = written == boot.count && fsync(descriptor) == 0
    close(descriptor)
    if isSet { files.syncDirectory() } else { unlink(files.openMark) }
  }

  /// Removes the marker and flushes the removal to disk. Call this after the database was closed.
  package func remove() {
    if unlink(files.openMark) == 0 { files.syncDirectory() }
  }

  private static let bootID = contents("/proc/sys/kernel/random/boot_id")

  private static func contents(_ path: String) -> [UInt8]? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: 64)
    let count = read(descriptor, &bytes, bytes.count)
    return count > 0 ? Array(bytes[..<count]) : nil
  }
}
