// SPDX-License-Identifier: Apache-2.0
import Glibc

/// The clients that share a database, by one small file in its directory that each client holds open, with a lock on a
/// place of its own.
///
/// The kernel frees a place when its holder ends in any way. A byte that is written there wakes the others, and so does
/// the kernel when a holder's file is closed (`watch`): no client has to look whether the others are still there.
package final class ClientPresence: Sendable {
  static let name = "clients"
  /// The bytes of a place, which hold the process's number in decimal.
  private static let size = 16
  /// The number of places; the first is not given out.
  private static let count = 1024
  // Linux has locks that belong to the open file and not to the process, so that two clients of one process are two.
  private static let setLock: Int32 = 37  // F_OFD_SETLK
  private static let getLock: Int32 = 36  // F_OFD_GETLK

  private let descriptor: Int32
  private let path: String
  /// The number of this client's place, from 1; no two present clients have the same.
  package let place: Int64

  /// - Throws: `notWritable`, `notPrivate`.
  package init(in directory: String) throws(StoreError) {
    path = directory + "/" + Self.name
    guard let file = try PrivateFile.open(path, creating: true) else {
      throw StoreError(.notWritable, "\(path) cannot be made, which tells who shares the directory.")
    }
    descriptor = file.descriptor
    for place in 1..<Self.count {
      var lock = Self.lock(place)
      guard fcntl(descriptor, Self.setLock, &lock) == 0 else {
        if errno == EAGAIN || errno == EACCES { continue }
        let reason = StoreError.reason(errno)
        close(descriptor)
        throw StoreError(.notWritable, "\(path) cannot be locked, so that the directory cannot be shared: \(reason).")
      }
      let text = Array("\(getpid())".utf8) + Array(repeating: UInt8(ascii: " "), count: Self.size)
      // The number only serves messages.
      _ = pwrite(descriptor, text, Self.size - 1, off_t(place * Self.size))
      self.place = Int64(place)
      return
    }
    close(descriptor)
    throw StoreError(.locked, "The directory \(directory) is shared by \(Self.count - 1) clients already. End some.")
  }

  deinit {
    // A child process that is just being started shares the lock until it runs its program; closing alone would leave it.
    var lock = Self.lock(Int(place))
    lock.l_type = Int16(F_UNLCK)
    _ = fcntl(descriptor, Self.setLock, &lock)
    close(descriptor)
  }

  /// Whether the client at this place still lives; a stopped process does.
  package func isTaken(_ place: Int64) -> Bool {
    if place == self.place { return true }
    guard (1..<Int64(Self.count)).contains(place) else { return false }
    return Self.isTaken(Int(place), descriptor)
  }

  /// The process of the client at this place, as it wrote it; `nil` if it wrote none.
  package func process(at place: Int64) -> Int32? {
    guard (1..<Int64(Self.count)).contains(place) else { return nil }
    return Self.text(at: Int(place), descriptor).flatMap(Self.process(in:))
  }

  /// Wakes all clients that watch.
  package func wakeOthers() {
    // A client that is not woken looks by itself in a few seconds.
    _ = pwrite(descriptor, [UInt8(ascii: "\n")], 1, off_t(Int(place) * Self.size + Self.size - 1))
  }

  /// A descriptor that can be read when a client wakes the others, comes or goes; the caller closes it.
  /// - Returns: `nil` if the system has no more of them; then the others are looked at from time to time only.
  package func watch() -> Int32? {
    let watch = inotify_init1(O_NONBLOCK | O_CLOEXEC)
    guard watch >= 0 else { return nil }
    guard inotify_add_watch(watch, path, UInt32(IN_MODIFY | IN_CLOSE_WRITE)) >= 0 else {
      close(watch)
      return nil
    }
    return watch
  }

  /// Reads the descriptor of `watch` empty, until the next event.
  package static func drain(_ watch: Int32) {
    var buffer = [UInt8](repeating: 0, count: 4096)
    while read(watch, &buffer, buffer.count) > 0 {}
  }

  /// The processes that share a directory now, ascending.
  static func processes(in directory: String) -> [Int32] {
    let descriptor = open(directory + "/" + name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard descriptor >= 0 else { return [] }
    defer { close(descriptor) }
    var processes: Set<Int32> = []
    for place in 1..<count {
      guard let text = text(at: place, descriptor) else { break }
      guard isTaken(place, descriptor) else { continue }
      if let process = process(in: text) { processes.insert(process) }
    }
    return processes.sorted()
  }

  /// The text at a place; `nil` after the last that was ever given out.
  private static func text(at place: Int, _ descriptor: Int32) -> [UInt8]? {
    var text = [UInt8](repeating: 0, count: size)
    return pread(descriptor, &text, size - 1, off_t(place * size)) > 0 ? text : nil
  }

  private static func process(in text: [UInt8]) -> Int32? {
    let digits = text.prefix { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }
    return Int32(String(decoding: digits, as: UTF8.self))
  }

  private static func isTaken(_ place: Int, _ descriptor: Int32) -> Bool {
    var lock = lock(place)
    return fcntl(descriptor, getLock, &lock) == 0 && lock.l_type != Int16(F_UNLCK)
  }

  private static func lock(_ place: Int) -> Glibc.flock {
    var lock = Glibc.flock()
    lock.l_type = Int16(F_WRLCK)
    lock.l_whence = Int16(SEEK_SET)
    lock.l_start = off_t(place * size)
    lock.l_len = off_t(size)
    return lock
  }
}

/// The turn to open a shared database: one process at a time, until `end`.
final class OpeningTurn: Sendable {
  static let name = "opening"
  /// Looking at a large log takes seconds; what takes longer has been stopped.
  private static let patience = 1000
  private static let pause: UInt32 = 10_000

  private let descriptor: Int32

  /// Waits for those that are opening it.
  /// - Throws: `locked` if that takes more than ten seconds; `notWritable`, `notPrivate`.
  init(in directory: String, _ place: String) throws(StoreError) {
    guard let file = try PrivateFile.open(directory + "/" + Self.name, creating: true) else {
      throw StoreError(.notWritable, "The \(place) cannot be shared: its file \"\(Self.name)\" cannot be made.")
    }
    descriptor = file.descriptor
    for _ in 0..<Self.patience {
      if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return }
      usleep(Self.pause)
    }
    throw StoreError(
      .locked,
      "The \(place) has been about to be opened by another process for ten seconds. If that was stopped, wake it with "
        + "kill -CONT, or end it.")
  }

  func end() { _ = flock(descriptor, LOCK_UN) }

  deinit {
    end()
    close(descriptor)
  }
}

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

/// A file that may be open in other processes.
enum OpenFile {
  /// Whether a process has the file open that a descriptor leads to: then a number that was written into it is still
  /// that of who wrote it.
  /// - Returns: false also for a process of another user, which cannot be looked at.
  static func isOpen(_ descriptor: Int32, in process: Int32) -> Bool {
    if process == getpid() { return true }
    var (wanted, found) = (stat(), stat())
    guard fstat(descriptor, &wanted) == 0, let folder = opendir("/proc/\(process)/fd") else { return false }
    defer { closedir(folder) }
    while let entry = readdir(folder) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
        pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      guard fstatat(dirfd(folder), name, &found, 0) == 0 else { continue }
      if found.st_ino == wanted.st_ino, found.st_dev == wanted.st_dev { return true }
    }
    return false
  }
}
