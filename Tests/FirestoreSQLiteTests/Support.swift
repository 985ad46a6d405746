// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDBSQLite

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

struct SQLiteFailure: Error {
  let code: Int32
  let message: String
}

/// An SQLite connection.
final class TestDatabase {
  private var connection: OpaquePointer?

  /// - Parameter reservedBytes: at the end of each page of a database that is made.
  init(_ path: String, reservedBytes: Int32 = 0) throws {
    try check(sqlite3_open(path, &connection))
    var count = reservedBytes
    try check(sqlite3_file_control(connection, "main", SQLITE_FCNTL_RESERVE_BYTES, &count))
  }

  deinit { sqlite3_close(connection) }

  func run(_ sql: String) throws { try check(sqlite3_exec(connection, sql, nil, nil, nil)) }

  func integer(_ sql: String) throws -> Int64 {
    var statement: OpaquePointer?
    defer { sqlite3_finalize(statement) }
    try check(sqlite3_prepare_v2(connection, sql, -1, &statement, nil))
    let code = sqlite3_step(statement)
    if code != SQLITE_ROW { try check(code) }
    return sqlite3_column_int64(statement, 0)
  }

  /// Closes without bringing the log back, as the end of the process would.
  func abandon(copyingTo target: String, from path: String) throws {
    for suffix in ["", "-wal"] { try FileManager.default.copyItem(atPath: path + suffix, toPath: target + suffix) }
  }

  private func check(_ code: Int32) throws {
    guard code != SQLITE_OK else { return }
    throw SQLiteFailure(
      code: sqlite3_extended_errcode(connection), message: String(cString: sqlite3_errmsg(connection)))
  }
}

/// Changes bytes of a file.
func edit(_ path: String, _ change: (inout Data) -> Void) throws {
  var bytes = try Data(contentsOf: URL(filePath: path))
  change(&bytes)
  try bytes.write(to: URL(filePath: path))
}
