// SPDX-License-Identifier: Apache-2.0
package import FirestoreBackend
package import FirestoreClientState
package import FirestoreModel
package import FirestoreProtocol
import FirestoreSQLite
import SeededRandom
import SerialExecutors

/// An in-memory backend, named clients that connect to it, and simulated time. All of them run on one thread. The same
/// calls and the same seed produce the same events in the same order.
package struct SimulatedWorld: Sendable {
  /// The time at which every simulation starts: 2026-01-01T00:00:00Z.
  package static let beginning = Timestamp(seconds: 1_767_225_600)

  package let database: DatabaseID
  package let seed: UInt64
  package let loop: VirtualLoop
  package let backend: LocalBackend
  /// The backend, accessed without faults.
  package let server: any Datastore
  /// The initial faults of each client.
  private let changes: [FaultChange]

  /// - Parameter changes: the initial faults of each client. Faults that do not apply to clients are ignored.
  /// - Throws: an error if the backend cannot be created.
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

  /// The simulated time of day.
  package var now: Timestamp { Self.time(of: loop) }

  /// The random seed for a client; it differs for each client name.
  package static func seed(of name: String, in seed: UInt64) -> UInt64 {
    SeededGenerator.mixed(seed &+ name.utf8.reduce(UInt64(7)) { $0 &* 31 &+ UInt64($1) })
  }

  /// The fault injector for a new client.
  package func faults(of name: String) -> FaultInjector {
    let faults = FaultInjector(seed: Self.seed(of: name, in: seed), clock: loop.clock, on: loop)
    // Errors are ignored: faults that do not apply to clients have no effect.
    for change in changes { try? faults.perform(change) }
    return faults
  }

  /// Ends the thread after all remaining work.
  package func end() { loop.end() }
}
