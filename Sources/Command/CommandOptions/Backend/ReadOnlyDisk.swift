// SPDX-License-Identifier: Apache-2.0
import CommandOutput
import FirestoreBackend
import FirestoreSQLite
import Foundation
import Glibc

/// Data on a file system that is mounted read-only, such as a failing disk or a snapshot. Neither the lock nor SQLite's log
/// can be opened there, so commands that read use a copy:
/// ```
/// folder ──copy──► a private temporary folder ──open──► backend, then the folder is deleted
/// ```
/// The open files can still be read, whenever the process ends, and the backend refuses every commit.
package enum ReadOnlyDisk {
  /// Whether a folder with data lies on a read-only file system.
  package static func holds(_ folder: String) -> Bool {
    var information = statvfs()
    return LocalBackend.exists(in: folder) && statvfs(folder, &information) == 0
      && information.f_flag & UInt(ST_RDONLY) != 0
  }

  /// Opens a copy of the data.
  /// - Throws: `notWritable` if there is no room for the copy; `corrupt`.
  static func open(_ folder: String) throws(StoreError) -> LocalBackend {
    var template = Array((FileManager.default.temporaryDirectory.path + "/hearth-XXXXXX").utf8CString)
    guard mkdtemp(&template) != nil else {
      throw StoreError(.notWritable, "No temporary folder can be made: \(StoreError.reason(errno)).")
    }
    let copy = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    // A folder that cannot be deleted is private, and holds a copy only.
    defer { try? FileManager.default.removeItem(atPath: copy) }
    for name in ["backend.sqlite3", "backend.sqlite3-wal"] where access("\(folder)/\(name)", F_OK) == 0 {
      do { try FileManager.default.copyItem(atPath: "\(folder)/\(name)", toPath: "\(copy)/\(name)") } catch {
        throw StoreError(.notWritable, "\(folder)/\(name) cannot be copied to \(copy): \(error.localizedDescription)")
      }
    }
    var configuration = BackendConfiguration(
      location: .directory(copy), now: { .now }, report: { StandardError.remark($0) })
    configuration.isPrivateCopy = true
    return try LocalBackend(configuration)
  }
}
