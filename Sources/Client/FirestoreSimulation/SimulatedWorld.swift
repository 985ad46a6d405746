// SPDX-License-Identifier: Apache-2.0
package import FirestoreBackend
package import FirestoreClientState
package import FirestoreModel
package import FirestoreProtocol
import FirestoreSQLite
import Foundation
import SeededRandom
import SerialExecutors

/// A backend in memory, the ways of named clients to it, and the time, all on one thread: the same calls and the same seed
/// make the same events in the same order.
package struct SimulatedWorld: Sendable {
  /// The time at which every simulation begins: the first moment of 2026.
  package static let beginning = Timestamp(seconds: 1_767_225_600)

  package let database: DatabaseID
  package let seed: UInt64
  package let loop: VirtualLoop
  package let backend: LocalBackend
  /// The backend without faults.
  package let server: any Datastore
  /// The folder of the clients' caches; it is removed with the world.
  package let caches: CacheFolder
  /// The changes of faults with which each client begins.
  private let changes: [FaultChange]

  /// - Parameter changes: the faults with which each client begins. Words that mean nothing to a client are passed over.
  /// - Throws: a failure to make the folder or the backend.
  package init(_ database: DatabaseID, seed: UInt64, faults changes: [FaultChange] = []) throws(RPCStatus) {
    (self.database, self.seed, self.changes) = (database, seed, changes)
    caches = try CacheFolder()
    let loop = VirtualLoop()
    self.loop = loop
    do throws(StoreError) {
      backend = try LocalBackend(
        BackendConfiguration(location: .memory, now: { Self.time(of: loop) }),
        on: QueueExecutor(label: "simulated-backend", on: loop))
      server = InProcessDatastore(backend: backend, database: database)
    } catch {
      loop.end()
      caches.remove()
      throw error.status
    }
  }

  private static func time(of loop: VirtualLoop) -> Timestamp {
    let (seconds, attoseconds) = loop.now.components
    return Timestamp(seconds: beginning.seconds + seconds, nanoseconds: Int32(attoseconds / 1_000_000_000))
  }

  /// The time of day.
  package var now: Timestamp { Self.time(of: loop) }

  /// The seed of a client, of which each has its own.
  package static func seed(of name: String, in seed: UInt64) -> UInt64 {
    SeededGenerator.mixed(seed &+ name.utf8.reduce(UInt64(7)) { $0 &* 31 &+ UInt64($1) })
  }

  /// Faults of a new client.
  package func faults(of name: String) -> FaultInjector {
    let faults = FaultInjector(seed: Self.seed(of: name, in: seed), clock: loop.clock, on: loop)
    // Words that mean nothing to a client are refused where they are read.
    for change in changes { try? faults.perform(change) }
    return faults
  }

  /// Ends the thread, when what is there to do has been done, and removes the caches.
  package func end() {
    loop.end()
    caches.remove()
  }
}

/// A folder among the temporary files for the durable caches of named clients, which its owner removes.
package struct CacheFolder: Sendable {
  private let folder: URL

  /// Makes the folder, which only this user may enter.
  /// - Throws: `internal` with the folder and the reason.
  package init() throws(RPCStatus) {
    folder = FileManager.default.temporaryDirectory.appending(path: "hearth-clients-\(UUID().uuidString)")
    do {
      try FileManager.default.createDirectory(
        at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    } catch {
      throw RPCStatus(.internal, "\(folder.path) cannot be made: \(error.localizedDescription)")
    }
  }

  /// The place of a client's cache.
  /// - Parameters:
  ///   - name: letters, digits and `-`.
  ///   - life: the number of times that the client was killed: each life has a folder of its own.
  package func path(of name: String, life: Int) -> String { folder.appending(path: "\(name)-\(life)").path }

  /// Copies the files of a client's cache as they are now, as a killed process would leave them, for its next life.
  /// - Throws: `internal` with the reason.
  package func copy(_ name: String, life: Int) throws(RPCStatus) {
    do {
      try FileManager.default.copyItem(atPath: path(of: name, life: life), toPath: path(of: name, life: life + 1))
    } catch {
      throw RPCStatus(.internal, "the cache cannot be copied: \(error.localizedDescription)")
    }
  }

  package func remove() {
    // The folder lies among temporary files, if it cannot be removed.
    try? FileManager.default.removeItem(at: folder)
  }
}
