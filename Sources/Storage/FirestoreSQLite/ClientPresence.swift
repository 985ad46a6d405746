// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Tracks the clients that share a database. Each client opens a small file in the database's directory and locks one
/// slot of it.
///
/// When a process ends in any way, the kernel releases its slot. A client wakes the others by writing a byte to the
/// file. The kernel also wakes them when a client's file is closed (`watch`). Therefore clients need not poll.
package final class ClientPresence: Sendable {
  static let name = "clients"
  /// The size of a slot in bytes. A slot contains the client's process id as decimal text.
  private static let size = 16
  /// The number of slots. The first slot is not used.
  private static let count = 1024
  // Linux has locks that belong to the open file and not to the process. With them, two clients in one process have
  // separate locks.
  private static let setLock: Int32 = 37  // F_OFD_SETLK
  private static let getLock: Int32 = 36  // F_OFD_GETLK

  private let descriptor: Int32
  private let path: String
  /// The number of this client's slot, from 1. It is unique among the current clients.
  package let place: Int64

  /// - Throws: `notWritable`, `notPrivate`.
  package init(in directory: String) throws(StoreError) {
    path = directory + "/" + Self.name
    guard let file = try PrivateFile.open(path, creating: true) else {
      throw StoreError(.notWritable, "\(path), which lists the clients of the directory, cannot be created.")
    }
    descriptor = file.descriptor
    for place in 1..<Self.count {
      var lock = Self.lock(place)
      guard fcntl(descriptor, Self.setLock, &lock) == 0 else {
        if errno == EAGAIN || errno == EACCES { continue }
        let reason = StoreError.reason(errno)
        close(descriptor)
        throw StoreError(.notWritable, "The directory cannot be shared, because \(path) cannot be locked: \(reason).")
      }
      let text = Array("\(getpid())".utf8) + Array(repeating: UInt8(ascii: " "), count: Self.size)
      // The process id is used only in messages.
      _ = pwrite(descriptor, text, Self.size - 1, off_t(place * Self.size))
      self.place = Int64(place)
      return
    }
    close(descriptor)
    throw StoreError(.locked, "\(directory) already has the maximum of \(Self.count - 1) clients. End one of them.")
  }

  deinit {
    // A child process that is being started shares the lock until it runs its program, so closing the file is not
    // enough to release the lock.
    var lock = Self.lock(Int(place))
    lock.l_type = Int16(F_UNLCK)
    _ = fcntl(descriptor, Self.setLock, &lock)
    close(descriptor)
  }

  /// Whether the client in this slot is alive. A stopped process counts as alive.
  package func isTaken(_ place: Int64) -> Bool {
    if place == self.place { return true }
    guard (1..<Int64(Self.count)).contains(place) else { return false }
    return Self.isTaken(Int(place), descriptor)
  }

  /// The process id of the client with this slot; `nil` if the client has not written one.
  package func process(at place: Int64) -> Int32? {
    guard (1..<Int64(Self.count)).contains(place) else { return nil }
    return Self.text(at: Int(place), descriptor).flatMap(Self.process(in:))
  }

  /// Wakes all watching clients.
  package func wakeOthers() {
    // Clients also check the file every few seconds, so a lost wake-up only causes a delay.
    _ = pwrite(descriptor, [UInt8(ascii: "\n")], 1, off_t(Int(place) * Self.size + Self.size - 1))
  }

  /// A descriptor that becomes readable when a client wakes the others, opens the file or ends. The caller closes the
  /// descriptor.
  /// - Returns: `nil` if the system has no more descriptors. The client must then poll.
  package func watch() -> Int32? {
    let watch = inotify_init1(O_NONBLOCK | O_CLOEXEC)
    guard watch >= 0 else { return nil }
    guard inotify_add_watch(watch, path, UInt32(IN_MODIFY | IN_CLOSE_WRITE)) >= 0 else {
      close(watch)
      return nil
    }
    return watch
  }

  /// Reads and discards all events of the descriptor that `watch` returned.
  package static func drain(_ watch: Int32) {
    var buffer = [UInt8](repeating: 0, count: 4096)
    while read(watch, &buffer, buffer.count) > 0 {}
  }

  /// The ids of the processes that currently share a directory, in ascending order.
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

  /// The text in a slot; `nil` after the last slot that was ever used.
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

/// The lock that a process holds while it opens a shared database. `end` releases it.
final class OpeningLock: Sendable {
  static let name = "opening"
  /// The maximum number of attempts, which together take ten seconds. A process needs seconds to inspect a large log.
  /// If it takes longer than ten seconds, it has probably been stopped.
  private static let patience = 1000
  private static let pause: UInt32 = 10_000

  private let descriptor: Int32

  /// Waits for other processes that are opening the database.
  /// - Throws: `locked` after ten seconds; `notWritable`, `notPrivate`.
  init(in directory: String, _ place: String) throws(StoreError) {
    guard let file = try PrivateFile.open(directory + "/" + Self.name, creating: true) else {
      throw StoreError(.notWritable, "The \(place) cannot be shared: its file \"\(Self.name)\" cannot be created.")
    }
    descriptor = file.descriptor
    for _ in 0..<Self.patience {
      if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return }
      usleep(Self.pause)
    }
    throw StoreError(
      .locked,
      "Another process has been opening the \(place) for more than ten seconds. If it is stopped, resume it with "
        + "kill -CONT, or end it.")
  }

  func end() { _ = flock(descriptor, LOCK_UN) }

  deinit {
    end()
    close(descriptor)
  }
}

/// Finds the process that has a shared database locked for writing. The error after a timeout names this process.
package enum WriteLockHolder {
  /// The offset of the byte in the index of the write-ahead log that SQLite locks for writing (WAL_WRITE_LOCK).
  private static let byte = "120"

  /// - Parameter database: the path of the database.
  /// - Returns: `nil` if unknown.
  package static func process(of database: String) -> Int32? {
    var information = stat()
    guard stat(database + "-shm", &information) == 0, let file = fopen("/proc/locks", "re") else { return nil }
    defer { fclose(file) }
    var line = [CChar](repeating: 0, count: 256)
    while fgets(&line, Int32(line.count), file) != nil {
      // A line has the format "12: POSIX  ADVISORY  WRITE 4711 08:02:131 120 120".
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

enum OpenFile {
  /// Whether a process has the descriptor's file open. If so, the process id in the file is still valid.
  /// - Returns: false also for a process of another user, because such a process cannot be inspected.
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
