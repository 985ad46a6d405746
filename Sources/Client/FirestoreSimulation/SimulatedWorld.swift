// SPDX-License-Identifier: Apache-2.0
package import FirestoreBackend
package import FirestoreClientState
package import FirestoreModel
package import FirestoreProtocol
import FirestoreSQLite
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
  /// The changes of faults with which each client begins.
  private let changes: [FaultChange]

  /// - Parameter changes: the faults with which each client begins. Words that mean nothing to a client are passed over.
  /// - Throws: a failure to make the backend.
  package init(_ database: DatabaseID, seed: UInt64, faults changes: [FaultChange] = []) throws(RPCStatus) {
    (self.database, self.seed, self.changes) = (database, seed, changes)
    let loop = VirtualLoop()
    self.loop = loop
    do throws(StoreError) {
      backend = try LocalBackend(
        BackendConfiguration(location: .memory, now: { Self.time(of: loop) }),
        on: QueueExecutor(label: "simulated-backend", on: loop))
      server = InProcessDatastore(backend: backend, database: database)
    } catch {
      loop.end()
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

  /// Ends the thread after the remaining work.
  package func end() { loop.end() }
}
