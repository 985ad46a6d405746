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

/// The world of a scenario: its clients and the rules that apply to them.
///
/// In a simulated world the same steps and the same seed produce the same events in the same order.
package struct ScenarioWorld: Sendable {
  /// The unnamed client in the real world.
  private struct NamelessClient {
    /// The cache; `nil` for a cache that the scenario creates.
    var store: LocalStoreConfiguration?
    var inspection: Inspection.Plan?
    var faults: FaultInjector
  }

  let clients: TestWorld
  private let rules = AccessRules()
  private let nameless: NamelessClient?
  /// The follower of a running scenario.
  package var follower: ScenarioFollower?

  /// A simulated world.
  /// - Parameter faults: the initial faults of each client.
  /// - Throws: a failure to create the folder of the caches or the backend.
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

  /// The real world.
  /// - Parameters:
  ///   - store: the cache of the unnamed client. A cache in memory is replaced by a temporary cache.
  ///   - plan: the plan for the inspection of that client.
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

  /// The initial time of day of a simulated world.
  package static var beginning: Timestamp { SimulatedWorld.beginning }

  /// The database, accessed without rules and faults.
  package var server: any Datastore { clients.server }

  /// The time of day of a simulated world; `nil` in the real one.
  package var simulatedNow: Timestamp? { clients.simulation?.now }

  /// Opens a client.
  /// - Parameters:
  ///   - cache: the cache of another client; `nil` for a separate cache.
  ///   - isShared: whether other clients may use a separate cache.
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

  /// Enforces rules for all clients, or removes them. Listeners that the rules forbid end immediately.
  /// - Throws: the reason why this world has no rules.
  func put(_ ruleset: Ruleset?) async throws(RPCStatus) {
    guard let simulation = clients.simulation else {
      throw RPCStatus(
        .unimplemented,
        "rules need simulated time. Remove --real-time and the backend options, or use 'hearth serve --rules'.")
    }
    rules.set(ruleset.map { .ruleset($0) })
    await simulation.backend.wakeWatches()
  }

  /// Calls the follower while the time of a simulated world stands still.
  func standingStill(_ body: (ScenarioFollower) async throws -> Void) async rethrows {
    guard let follower else { return }
    clients.simulation?.loop.hold()
    defer { clients.simulation?.loop.release() }
    try await body(follower)
  }
}

/// The observer of a running scenario, which also controls its pace. All calls come from the world's thread.
package struct ScenarioFollower: Sendable {
  /// Called before each step. The step waits until this closure returns. In a simulated world, time stands still
  /// meanwhile.
  /// - Throws: to end the run.
  package var before: @Sendable (_ step: Int) async throws -> Void
  /// Called with each client when it is opened or reopened, before the client does anything.
  package var opened: @Sendable (_ name: String?, Client, FaultInjector) -> Void
  /// Called after the last step, or with the error that ends the run. The clients remain open until this closure
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
