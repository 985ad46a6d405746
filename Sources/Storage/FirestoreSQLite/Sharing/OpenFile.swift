// SPDX-License-Identifier: Apache-2.0
import Glibc

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
