// SPDX-License-Identifier: Apache-2.0
import Foundation

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
