// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A directory that is removed with the value.
final class TemporaryDirectory: Sendable {
  let path: String

  init() throws {
    path = FileManager.default.temporaryDirectory.appendingPathComponent("hearth-\(UUID().uuidString)").path
  }

  func make(mode: Int = 0o700) throws {
    try FileManager.default.createDirectory(
      atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: mode])
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }
}

func mode(of path: String) throws -> Int? {
  try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
}

/// Copies a database with its log, as the end of the process would leave them.
func copy(_ path: String, to target: String) throws {
  for suffix in ["", "-wal"] { try FileManager.default.copyItem(atPath: path + suffix, toPath: target + suffix) }
}

/// Changes bytes of a file.
func edit(_ path: String, _ change: (inout Data) -> Void) throws {
  var bytes = try Data(contentsOf: URL(filePath: path))
  change(&bytes)
  try bytes.write(to: URL(filePath: path))
}
