// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc

/// A text file that says how to serve.
struct ServedFile {
  private let path: String
  /// What is in it.
  private let content: String

  init(_ path: String, of content: String) {
    self.path = path
    self.content = content
  }

  private func read() -> Result<String, CommandFailure> { Result { () throws(CommandFailure) in try text() } }

  func text() throws(CommandFailure) -> String {
    guard let data = FileManager.default.contents(atPath: path) else {
      var (isFolder, reason) = (ObjCBool(false), String(cString: strerror(access(path, R_OK) == 0 ? EIO : errno)))
      if FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), isFolder.boolValue {
        reason = "Is a directory"
      }
      throw CommandFailure(.noInput, "The \(content) in \(path) cannot be read: \(reason).")
    }
    guard let text = String(validating: data, as: UTF8.self) else {
      throw CommandFailure(.badData, "The \(content) in \(path) cannot be read: this is not UTF-8.")
    }
    return text
  }

  /// Tells what the file says whenever it says something else, or that it cannot be read any more, until the watch is
  /// stopped.
  @MainActor
  func watch(_ changed: @escaping @MainActor (Result<String, CommandFailure>) -> Void) -> FileWatch? {
    let folder = URL(filePath: path).resolvingSymlinksInPath().deletingLastPathComponent().path
    var last = read()
    return FileWatch(folders: [folder]) {
      let now = read()
      guard now != last else { return }
      last = now
      changed(now)
    }
  }
}
