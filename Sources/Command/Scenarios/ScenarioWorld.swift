// SPDX-License-Identifier: Apache-2.0
package import CommandOptions
package import CommandOutput
import FirestoreAccess
package import FirestoreBackend
package import FirestoreClientState
package import FirestoreLocal
package import FirestoreModel
package import FirestoreProtocol
import FirestoreRules
import FirestoreSimulation
import FirestoreSync
import HearthTesting

package import class Hearth.Client
package import class Hearth.Inspection

/// The environment in which a scenario runs: its clients and the security rules.
///
/// In a simulated environment, the same steps and the same seed produce the same events in the same order. A real
/// environment uses an existing backend in real time.
package struct ScenarioWorld: Sendable {
  /// The client without a name in a real environment.
  private struct NamelessClient {
    /// The cache of the client; `nil` if the scenario creates the cache.
    var store: LocalStoreConfiguration?
    var inspection: Inspection.Plan?
    var faults: FaultInjector
  }

  let clients: TestWorld
  private let rules = AccessRules()
  private let nameless: NamelessClient?
  /// Observes a run of a scenario.
  package var follower: ScenarioFollower?

  /// Creates a simulated environment.
  /// - Parameter faults: the faults of each client at the start.
  /// - Throws: if the folder of the caches or the backend cannot be created.
  package init(
    simulating database: DatabaseID, seed: UInt64, faults changes: [FaultChange] = []
  ) throws(CommandFailure) {
    nameless = nil
    do throws(RPCStatus) {
      let (simulation, rules) = (try SimulatedWorld(database, seed: seed, faults: changes), rules)
      clients = try TestWorld(simulation) { users in
        RuledDatastore(backend: simulation.backend, database: database, rules: rules) { users.userID }
      }
    } catch { throw CommandFailure(.cannotCreate, error.message) }
  }

  /// Creates a real environment.
  /// - Parameters:
  ///   - store: the cache of the client without a name. If it is in memory, a temporary cache on disk is used instead.
  ///   - plan: determines how that client can be inspected.
  ///   - faults: the faults between that client and the backend.
  package init(
    at connection: BackendConnection, _ store: LocalStoreConfiguration, inspectedAs plan: Inspection.Plan?,
    disturbedBy faults: FaultInjector, seed: UInt64
  ) throws(CommandFailure) {
    nameless = NamelessClient(store: store.location == .memory ? nil : store, inspection: plan, faults: faults)
    do throws(RPCStatus) {
      clients = try TestWorld(inRealTime: connection.datastore, connection.database, seed: seed)
    } catch { throw CommandFailure(.cannotCreate, error.message) }
  }

  /// The time of day at which a simulated environment starts.
  package static var beginning: Timestamp { SimulatedWorld.beginning }

  /// The database, accessed without rules and faults.
  package var server: any Datastore { clients.server }

  /// The time of day in a simulated environment; `nil` in a real environment.
  package var simulatedNow: Timestamp? { clients.simulation?.now }

  /// Opens a client.
  /// - Parameters:
  ///   - cache: the client whose cache is shared; `nil` for a separate cache.
  ///   - isShared: whether other clients may share this client's cache.
  /// - Throws: the reason why the named cache cannot be used.
  func open(
    _ name: String?, user: String?, on cache: ClientCache?, isShared: Bool
  ) throws(CommandFailure) -> WorldClient {
    let peers = isShared && clients.simulation != nil ? SimulatedPeers() : nil
    let owner = name ?? "client"
    var plan = ClientPlan(name, user: user, on: cache ?? ClientCache(of: owner, isShared: isShared, peers: peers))
    if name == nil, let nameless {
      if let store = nameless.store { plan.cache = ClientCache(of: owner, keptAt: store) }
      (plan.faults, plan.inspection) = (nameless.faults, nameless.inspection)
    }
    let client = clients.open(plan)
    try checkCache(of: client)
    return client
  }

  /// - Throws: the reason why the client's cache cannot be used.
  func checkCache(of client: WorldClient) throws(CommandFailure) {
    if let problem = client.opening.engine.cacheProblem { throw CommandFailure(cache: problem.error) }
  }

  /// Enforces rules for all clients, or removes the rules. Listeners that are no longer allowed end immediately.
  /// - Throws: the reason why this environment cannot have rules.
  func put(_ ruleset: Ruleset?) async throws(RPCStatus) {
    guard let simulation = clients.simulation else {
      throw RPCStatus(
        .unimplemented,
        "rules need simulated time. Remove --real-time and the backend options, or use 'hearth serve --rules'.")
    }
    rules.set(ruleset.map { .ruleset($0) })
    await simulation.backend.wakeWatches()
  }

  /// Calls the follower. In a simulated environment, the time does not advance during this call.
  func standingStill(_ body: (ScenarioFollower) async throws -> Void) async rethrows {
    guard let follower else { return }
    clients.simulation?.loop.hold()
    defer { clients.simulation?.loop.release() }
    try await body(follower)
  }
}

/// Observes a run of a scenario and controls its pace. All calls come from the thread of the environment.
package struct ScenarioFollower: Sendable {
  /// Called before each step. The step starts when this closure returns. In a simulated environment, the time does not
  /// advance while the closure runs.
  /// - Throws: an error to end the run.
  package var before: @Sendable (_ step: Int) async throws -> Void
  /// Called with each client when it is opened or reopened, before the client does anything.
  package var opened: @Sendable (_ name: String?, Client, FaultInjector) -> Void
  /// Called after the last step, or with the error that ended the run. The clients remain open until this closure
  /// returns.
  package var ended: @Sendable ((any Error)?) async -> Void

  package init(
    before: @escaping @Sendable (_ step: Int) async throws -> Void,
    opened: @escaping @Sendable (_ name: String?, Client, FaultInjector) -> Void = { _, _, _ in },
    ended: @escaping @Sendable ((any Error)?) async -> Void = { _ in }
  ) {
    (self.before, self.opened, self.ended) = (before, opened, ended)
  }
}
