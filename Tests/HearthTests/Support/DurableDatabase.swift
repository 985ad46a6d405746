// SPDX-License-Identifier: Apache-2.0
import FirestoreTesting
import Foundation
import Hearth

/// A folder with an embedded backend and a cache, for clients one after another.
struct DurableDatabase {
  private let folder = TemporaryFolder()
  private var cache: String { folder("cache") }

  /// Runs the test and removes the folder.
  static func run(_ test: nonisolated(nonsending) (DurableDatabase) async throws -> Void) async throws {
    try await test(DurableDatabase())
  }

  /// The next client of the same app; the one before has to be terminated.
  func firestore() -> Firestore {
    .firestore(
      app: FirestoreApp(
        name: folder.path, backend: .embedded(directory: folder("backend")).patient, cacheDirectory: cache))
  }

  /// The files of all caches below the cache's folder; none if there is no such folder.
  var cacheFiles: [String] {
    (FileManager.default.enumerator(atPath: cache)?.allObjects as? [String] ?? [])
      .map { ($0 as NSString).lastPathComponent }.filter { $0.hasPrefix("cache.sqlite3") }.sorted()
  }
}
