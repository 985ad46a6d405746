// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A regular file that belongs to this user and that only this user can read (0600). No link leads to it: someone else
/// could have put that there to have another file written.
package enum PrivateFile {
  /// Opens the file to read and write; the caller closes it.
  /// - Returns: also what was changed, for people; `nil` when there is no such file and none is to be made.
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
        throw StoreError(.notPrivate, "\(path) is a symbolic link, which is not followed. Put the file there itself.")
      case let code: throw StoreError(.notWritable, "\(path) cannot be opened: \(StoreError.reason(code)).")
      }
    }
    do throws(StoreError) { return (descriptor, try secure(descriptor, path)) } catch {
      close(descriptor)
      throw error
    }
  }

  /// Makes sure that a file, if there is one, is private.
  /// - Precondition: nothing in this process has the file open: closing it again drops the locks of all.
  /// - Returns: what was changed, for people.
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
        .notPrivate, "\(path) has another name as well (a hard link). Put a copy there, or choose another directory.")
    }
    guard information.st_uid == geteuid() || geteuid() == 0 else {
      throw StoreError(
        .notPrivate, "\(path) belongs to another user (\(information.st_uid)). Choose another directory.")
    }
    let mode = information.st_mode & 0o7777
    guard mode & 0o077 != 0 else { return nil }
    guard fchmod(descriptor, 0o600) == 0 else {
      throw StoreError(.notPrivate, "\(path) is open to others and cannot be narrowed: \(StoreError.reason(errno)).")
    }
    return "\(path) was open to others (mode \(DirectoryPermissions.text(mode))); it is 0600 now."
  }
}
