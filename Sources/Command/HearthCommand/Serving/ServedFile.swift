// SPDX-License-Identifier: Apache-2.0
import CDispatch
import CommandOutput
import CoreFoundation
// `stat` belongs to whichever of these modules the compiler has read first.
import DashboardHost
import Foundation
import Glibc

/// A text file that is read again when it changes, such as a server's settings or a scenario.
struct ServedFile {
  /// The way in which the file must be protected from other users.
  enum Protection {
    case none
    /// Other users may read the file but must not be able to change it.
    case fromWriters
    /// Other users must not be able to read or change the file.
    case fromReaders

    /// - Parameter isOwn: whether this user owns the file. If so, its group needs no access. If another user manages
    ///   the file, such as a secret in a container, a group may be allowed to read it.
    func objection(to mode: mode_t, isOwn: Bool) -> String? {
      let others: mode_t = isOwn ? 0o077 : 0o007
      switch self {
      case .none: return nil
      case .fromWriters: return mode & others & 0o022 == 0 ? nil : "go-w"
      case .fromReaders: return mode & others == 0 ? nil : isOwn ? "600" : "o-rwx"
      }
    }
  }

  private static let mostBytes = 16 * 1024 * 1024

  private let path: String
  /// The kind of the contents, for messages.
  private let content: String
  private let protection: Protection

  init(_ path: String, of content: String, protection: Protection = .none) {
    self.path = path
    self.content = content
    self.protection = protection
  }

  /// - Parameter waits: whether to read a pipe, which blocks until its contents arrive. If not, only a regular file is
  ///   read.
  func text(waits: Bool = true) throws(CommandFailure) -> String {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | (waits ? 0 : O_NONBLOCK))
    guard descriptor >= 0 else { throw unreadable(String(cString: strerror(errno))) }
    defer { close(descriptor) }
    var status = stat()
    guard waits || (fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG) else {
      throw unreadable("it is no longer a regular file")
    }
    try checkProtection(of: descriptor)
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 64 * 1024)
    while true {
      let count = read(descriptor, &piece, piece.count)
      if count == 0 { break }
      if count < 0, errno == EINTR { continue }
      if count < 0 { throw unreadable(String(cString: strerror(errno))) }
      bytes += piece[..<count]
      if bytes.count > Self.mostBytes {
        throw CommandFailure(.badData, "The \(content) in \(path) cannot be read: the file is larger than 16 MiB.")
      }
    }
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw CommandFailure(.badData, "The \(content) in \(path) cannot be read: the file is not UTF-8.")
    }
    return text
  }

  /// Checks the permissions of a regular file. For a pipe, the user who started this process is responsible.
  private func checkProtection(of descriptor: CInt) throws(CommandFailure) {
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
      let mode = protection.objection(to: status.st_mode, isOwn: status.st_uid == geteuid())
    else { return }
    let access = protection == .fromReaders ? "read or change" : "change"
    throw CommandFailure(
      .permissionDenied,
      "Other users can \(access) the \(content) in \(path) (mode 0\(String(status.st_mode & 0o777, radix: 8))). Run "
        + "'chmod \(mode) \(path)'.")
  }

  private func unreadable(_ reason: String) -> CommandFailure {
    CommandFailure(.noInput, "The \(content) in \(path) cannot be read: \(reason).")
  }

  /// Reports the new contents after each change, or that the file can no longer be read. Ends when the watch is
  /// stopped. A pipe is read only once.
  @MainActor
  func watch(_ changed: @escaping @MainActor (Result<String, CommandFailure>) -> Void) -> FileWatch? {
    let again = { Result { () throws(CommandFailure) in try text(waits: false) } }
    var last = again()
    guard case .success = last else { return nil }
    let folder = URL(filePath: path).resolvingSymlinksInPath().deletingLastPathComponent().path
    return FileWatch(folders: [folder]) {
      let now = again()
      guard now != last else { return }
      last = now
      changed(now)
    }
  }
}
