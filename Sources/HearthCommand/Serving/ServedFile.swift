// SPDX-License-Identifier: Apache-2.0
// `stat` belongs to whichever of these the compiler has read first.
import CDispatch
import CoreFoundation
import Foundation
import Glibc

/// A text file that says how to serve.
struct ServedFile {
  /// From whom a file is kept.
  enum Protection {
    case none
    /// Others may read it and not change it.
    case fromWriters
    /// Nobody else gets to see it.
    case fromReaders

    /// - Parameter isOwn: the file is this user's, whose group is then nobody else's affair. That of a file which others
    ///   manage, as containers have their secrets, may be theirs to give.
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
  /// What is in it.
  private let content: String
  private let protection: Protection

  init(_ path: String, of content: String, protection: Protection = .none) {
    self.path = path
    self.content = content
    self.protection = protection
  }

  /// - Parameter waits: for what comes through a pipe; else only a regular file is read.
  func text(waits: Bool = true) throws(CommandFailure) -> String {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | (waits ? 0 : O_NONBLOCK))
    guard descriptor >= 0 else { throw unreadable(String(cString: strerror(errno))) }
    defer { close(descriptor) }
    var status = stat()
    guard waits || (fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG) else {
      throw unreadable("It is no regular file any more")
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
        throw CommandFailure(.badData, "The \(content) in \(path) cannot be read: they have more than 16 MiB.")
      }
    }
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw CommandFailure(.badData, "The \(content) in \(path) cannot be read: this is not UTF-8.")
    }
    return text
  }

  /// What comes through a pipe is who started this process's affair.
  private func checkProtection(of descriptor: CInt) throws(CommandFailure) {
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
      let mode = protection.objection(to: status.st_mode, isOwn: status.st_uid == geteuid())
    else { return }
    let what = protection == .fromReaders ? "open to others" : "for others to change"
    throw CommandFailure(
      .permissionDenied,
      "The \(content) in \(path) is \(what) (mode 0\(String(status.st_mode & 0o777, radix: 8))). Mend that with 'chmod "
        + "\(mode) \(path)'.")
  }

  private func unreadable(_ reason: String) -> CommandFailure {
    CommandFailure(.noInput, "The \(content) in \(path) cannot be read: \(reason).")
  }

  /// Tells what the file says whenever it says something else, or that it cannot be read any more, until the watch is
  /// stopped. What came through a pipe came once.
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
