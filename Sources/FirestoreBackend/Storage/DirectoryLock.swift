// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Holds a data directory for this process, by an advisory lock on a file that names the holder. The kernel drops the
/// lock when the process ends in whatever way, so a stale file locks nobody out.
struct DirectoryLock: ~Copyable {
  private let descriptor: Int32

  /// Makes the directory (0700, with its parents) and locks it.
  init(directory: String) throws(BackendError) {
    try Self.makeDirectory(directory)
    let path = directory + "/lock"
    let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      throw BackendError(.notWritable, "The data directory \(directory) cannot be written: \(Self.reason()).")
    }
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      let holder = Self.holder(descriptor)
      close(descriptor)
      throw BackendError(
        .locked, "The data directory \(directory) is in use by \(holder). End it, or choose another directory.")
    }
    let line = Array("\(getpid())\n".utf8)
    // The number only serves the message of a second process: failing to write it does not weaken the lock.
    _ = ftruncate(descriptor, 0)
    _ = pwrite(descriptor, line, line.count, 0)
    self.descriptor = descriptor
  }

  deinit {
    // A child process that is just being started shares the lock until it runs its program; closing alone would leave
    // it.
    _ = flock(descriptor, LOCK_UN)
    close(descriptor)
  }

  private static func makeDirectory(_ path: String) throws(BackendError) {
    var made = path.hasPrefix("/") ? "/" : ""
    for segment in path.split(separator: "/") {
      made += (made.isEmpty || made == "/") ? String(segment) : "/" + segment
      if mkdir(made, 0o700) != 0, errno != EEXIST, errno != EISDIR {
        throw BackendError(.notWritable, "The data directory \(path) cannot be made at \(made): \(reason()).")
      }
    }
    var information = stat()
    guard stat(path, &information) == 0, information.st_mode & S_IFMT == S_IFDIR else {
      throw BackendError(.notWritable, "The data directory \(path) is not a directory.")
    }
  }

  private static func holder(_ descriptor: Int32) -> String {
    var buffer = [UInt8](repeating: 0, count: 32)
    let count = pread(descriptor, &buffer, buffer.count, 0)
    let digits = buffer.prefix(max(count, 0)).prefix { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }
    return digits.isEmpty ? "another process" : "process " + String(decoding: digits, as: UTF8.self)
  }

  private static func reason() -> String { String(cString: strerror(errno)) }
}
