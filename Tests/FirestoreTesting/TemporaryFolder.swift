// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The path of a folder, or of a file, that is removed with the value. Nothing is made there unless a test says so: most
/// tests are about what makes it.
package final class TemporaryFolder: Sendable {
  package let path: String

  package init() {
    path = FileManager.default.temporaryDirectory.appending(path: "hearth-\(UUID().uuidString)").path
  }

  deinit {
    // A test in which nothing was made leaves nothing to remove.
    try? FileManager.default.removeItem(atPath: path)
  }

  /// A folder that is there, and empty.
  package static func made() throws -> TemporaryFolder {
    let folder = TemporaryFolder()
    try folder.make()
    return folder
  }

  package func make(mode: Int = 0o700) throws {
    try FileManager.default.createDirectory(
      atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: mode])
  }

  package func copy() throws -> TemporaryFolder {
    let other = TemporaryFolder()
    try FileManager.default.copyItem(atPath: path, toPath: other.path)
    return other
  }

  /// The path of a file or folder in it.
  package func callAsFunction(_ name: String) -> String { path + "/" + name }

  /// The names of what is in it, ascending.
  package var names: [String] { get throws { try FileManager.default.contentsOfDirectory(atPath: path).sorted() } }

  /// Writes a file, and makes the folders above it.
  package func write(_ name: String, _ text: String) throws {
    let file = URL(filePath: self(name))
    try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(text.utf8).write(to: file)
  }
}
