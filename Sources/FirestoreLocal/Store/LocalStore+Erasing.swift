// SPDX-License-Identifier: Apache-2.0
import FirestoreSQLite
import Foundation

extension LocalStore {
  /// Deletes a durable cache: the database with its log, and what was moved aside. Nothing happens where there is none.
  /// - Throws: `locked` if a store has it open; `notWritable`.
  package static func erase(_ path: String) throws(LocalStoreError) {
    guard FileManager.default.fileExists(atPath: path) else { return }
    // Held until all is gone, so that nobody opens what is being deleted.
    let directory = try CacheDatabase.hold(path)
    do {
      try FileManager.default.removeItem(atPath: directory.path)
    } catch {
      throw LocalStoreError(
        .notWritable,
        "The cache in \(path) cannot be deleted: \(error.localizedDescription). Check its permissions.")
    }
  }
}
