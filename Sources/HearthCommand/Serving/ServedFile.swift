// SPDX-License-Identifier: Apache-2.0
// `stat` belongs to whichever of these the compiler has read first.
import CDispatch
import CoreFoundation
import Foundation
import Glibc

/// A text file that says how to serve.
struct ServedFile {
  private static let mostBytes = 16 * 1024 * 1024

  private let path: String
  /// What is in it.
  private let content: String

  init(_ path: String, of content: String) {
    self.path = path
    self.content = content
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
