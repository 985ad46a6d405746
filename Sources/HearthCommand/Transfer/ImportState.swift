// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc

/// How far an import came, in a file that survives the process.
struct ImportState: Codable, Hashable {
  /// What the import was of and where to; another one does not go on where this ended.
  struct Identity: Codable, Hashable {
    var backend: String
    var database: String
    var into: String?
    var idField: String?
    var format: TransferFormat
    /// Of the input file; absent for standard input.
    var size: Int?
    var modified: Double?
  }

  var identity: Identity
  /// Everything before it is imported.
  var position: InputPosition
  var documents: Int
  var rejected: Int

  /// - Returns: `nil` if there is no such file, or none that can be read: then the import begins anew, without harm.
  static func read(_ path: String) -> ImportState? {
    guard let data = FileManager.default.contents(atPath: path) else { return nil }
    return try? JSONDecoder().decode(ImportState.self, from: data)
  }

  /// Replaces the file in one step: whoever is killed meanwhile leaves the old one.
  func write(to path: String) throws(CommandFailure) {
    guard let data = try? JSONEncoder().encode(self) else {
      throw CommandFailure(.failure, "how far the import came cannot be written as JSON.")
    }
    let part = path + ".part"
    let descriptor = open(part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    let written = descriptor < 0 ? -1 : data.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
    if written != data.count || rename(part, path) != 0 {
      let reason = String(cString: strerror(errno))
      unlink(part)
      if descriptor >= 0 { close(descriptor) }
      throw CommandFailure(.cannotCreate, "\(path) cannot be written, so the import could not go on later: \(reason).")
    }
    close(descriptor)
  }
}
