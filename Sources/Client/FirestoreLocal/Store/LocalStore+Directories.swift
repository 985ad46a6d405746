// SPDX-License-Identifier: Apache-2.0
package import FirestoreSQLite
import Foundation

extension LocalStore {
  /// Whether a directory holds a durable cache, in whatever state.
  package static func exists(in path: String) -> Bool { CacheDatabase.files(in: path).exists }
}

extension LocalStore {
  /// Tells the clients that share a durable cache, if there are any, that it is about to be deleted, so that they let
  /// go of it. Nothing happens if there is no cache.
  package static func announceErasure(of path: String) throws(StoreError) {
    guard exists(in: path) else { return }
    let database = try CacheDatabase.open(in: path, claim: nil, use: .shared)
    defer { database.close() }
    try database.transaction { () throws(StoreError) in try database.sharing?.tell(.cleared) }
  }

  /// Deletes a durable cache, and ends the clients that share it before.
  /// - Parameter clock: measures the time that the clients may take to let go of it: five seconds.
  /// - Throws: as `erase`; `locked` also for a client that does not let go, because its process is stopped.
  package static func eraseShared(_ path: String, clock: any Clock<Duration>) async throws(StoreError) {
    let refusal: StoreError
    do throws(StoreError) { return try erase(path) } catch { refusal = error }
    guard refusal.kind == .locked else { throw refusal }
    // A client that has the cache alone gets no notice.
    do throws(StoreError) { try announceErasure(of: path) } catch { throw refusal }
    for _ in 0..<100 {
      do throws(StoreError) { return try erase(path) } catch { if error.kind != .locked { throw error } }
      // A cancelled task means that the cache is not to be deleted.
      guard (try? await clock.sleep(for: .milliseconds(50))) != nil else { throw refusal }
    }
    throw refusal
  }

  /// Deletes a durable cache: the database with its log, and files that were moved aside. Nothing happens if there is
  /// none.
  /// - Throws: `locked` if a store has it open; `notWritable`.
  package static func erase(_ path: String) throws(StoreError) {
    guard FileManager.default.fileExists(atPath: path) else { return }
    // Held until all is gone, so that no store opens what is being deleted.
    let directory = try CacheDatabase.hold(path)
    do {
      try FileManager.default.removeItem(atPath: directory.path)
    } catch {
      throw StoreError(
        .notWritable,
        "The cache in \(path) cannot be deleted: \(error.localizedDescription). Check its permissions.")
    }
  }
}
