// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The directory of a durable cache, held exclusively until `release` or the end of the process.
///
/// The lock is `flock` on a file beside the database: the kernel drops it however the process ends, and a second
/// open in the same process is refused like one from another.
struct StoreDirectory: ~Copyable {
  private static let databaseName = "cache.sqlite3"

  let path: String
  private let descriptor: Int32

  var databasePath: String { Self.databasePath(in: path) }
  static func databasePath(in path: String) -> String { path + "/" + databaseName }
  /// Present after damage was met while the cache was in use.
  private var damagePath: String { databasePath + ".damaged" }

  /// Makes the directory if necessary, and locks it.
  /// - Throws: `locked` or `notWritable`.
  init(_ path: String) throws(LocalStoreError) {
    try Self.make(path)
    let lockPath = path + "/lock"
    let descriptor = open(lockPath, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw Self.notWritable(path, errno) }
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      let reason = errno
      let holder = Self.readHolder(descriptor)
      close(descriptor)
      if reason == EWOULDBLOCK { throw Self.locked(path, holder) }
      throw Self.notWritable(path, reason)
    }
    let identity = Array("\(getpid())\n".utf8)
    // The number only serves the message that another process shows, so failing to store it is no failure.
    if ftruncate(descriptor, 0) == 0 { _ = write(descriptor, identity, identity.count) }
    self.path = path
    self.descriptor = descriptor
  }

  deinit {
    // A child process that is just being started shares the lock until it runs its program; closing alone would leave
    // it.
    _ = flock(descriptor, LOCK_UN)
    close(descriptor)
  }

  private static func make(_ path: String) throws(LocalStoreError) {
    var information = stat()
    if stat(path, &information) == 0, information.st_mode & S_IFMT == S_IFDIR { return }
    do {
      // By hand: Foundation on Linux traps on a relative path of one character.
      let parent = (path.hasPrefix("/") ? "/" : "") + path.split(separator: "/").dropLast().joined(separator: "/")
      if !parent.isEmpty { try FileManager.default.createDirectory(atPath: parent, withIntermediateDirectories: true) }
    } catch {
      throw LocalStoreError(.notWritable, "The cache directory \(path) cannot be made: \(error.localizedDescription)")
    }
    guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw notWritable(path, errno) }
  }

  private static func readHolder(_ descriptor: Int32) -> String? {
    var bytes = [UInt8](repeating: 0, count: 32)
    let count = pread(descriptor, &bytes, bytes.count, 0)
    guard count > 0 else { return nil }
    let digits = bytes.prefix(count).prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    return digits.isEmpty ? nil : String(decoding: digits, as: UTF8.self)
  }

  private static func locked(_ path: String, _ holder: String?) -> LocalStoreError {
    let who = holder.map { $0 == "\(getpid())" ? "this process" : "process \($0)" } ?? "another process"
    return LocalStoreError(
      .locked, "The cache is in use by \(who): \(path). Close it there, or use another cache directory.")
  }

  private static func notWritable(_ path: String, _ code: Int32) -> LocalStoreError {
    LocalStoreError(
      .notWritable,
      "The cache cannot be used (\(String(cString: strerror(code)))): \(path). "
        + "Check its permissions, or use another cache directory.")
  }

  /// What belongs to a database has its name and one of these.
  private static let suffixes = ["", "-wal", "-shm"]
  /// A log is more than its header.
  private static let emptyLog: Int64 = 32

  /// - Throws: `corrupt` for a log without a database, which SQLite would take for a new one and delete the log.
  borrowing func checkFiles() throws(LocalStoreError) {
    let log = Self.size(databasePath + "-wal") ?? 0
    let database = Self.size(databasePath)
    guard log > Self.emptyLog, database ?? 0 == 0 else { return }
    throw LocalStoreError(
      .corrupt,
      "The cache is damaged: \(Self.databaseName) is \(database == nil ? "missing" : "empty"), but its log of "
        + "\(log) bytes is there.")
  }

  /// - Returns: `nil` for what is no file; SQLite says what it is.
  private static func size(_ path: String) -> Int64? {
    var information = stat()
    let isFile = stat(path, &information) == 0 && information.st_mode & S_IFMT == S_IFREG
    return isFile ? Int64(information.st_size) : nil
  }

  /// Renames the database and its companions to `….corrupt-N`; nothing is deleted.
  /// - Returns: the new path of the database.
  borrowing func moveAside() throws(LocalStoreError) -> String {
    let database = databasePath
    var number = 1
    while Self.suffixes.contains(where: { access("\(database).corrupt-\(number)\($0)", F_OK) == 0 }) { number += 1 }
    let aside = "\(database).corrupt-\(number)"
    for suffix in Self.suffixes where access(database + suffix, F_OK) == 0 {
      guard rename(database + suffix, aside + suffix) == 0 else { throw Self.notWritable(path, errno) }
    }
    clearDamage()
    return aside
  }

  var isMarkedDamaged: Bool { access(damagePath, F_OK) == 0 }

  /// Makes the next start check the whole database before it is used.
  borrowing func markDamaged() {
    let marker = open(damagePath, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
    if marker >= 0 { close(marker) }
  }

  borrowing func clearDamage() { unlink(damagePath) }
}
