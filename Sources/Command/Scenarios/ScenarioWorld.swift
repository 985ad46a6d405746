// SPDX-License-Identifier: Apache-2.0
package import CommandOptions
package import CommandOutput
import FirestoreAccess
package import FirestoreBackend
package import FirestoreClientState
package import FirestoreLocal
package import FirestoreModel
import FirestoreProtocol
import FirestoreRules
import FirestoreSimulation
import FirestoreSync
import HearthTesting

package import class Hearth.Client
package import struct Hearth.ClientSurroundings
package import class Hearth.Inspection

/// The place where a scenario is played: a backend, clients with their caches, and the time.
///
/// A simulated world has a backend of its own in memory and a time that passes when nothing is left to do: the same steps
/// and the same seed make the same events in the same order. A real one has the backend that it is given, and real time.
package struct ScenarioWorld: Sendable {
  let database: DatabaseID
  let clock: any Clock<Duration>
  /// The simulation; `nil` in the real world.
  let simulation: SimulatedWorld?
  /// The backend without faults.
  let server: any Datastore
  /// The folder of the clients' caches; it is removed with the world.
  private let caches: CacheFolder
  /// The cache of the client without a name; `nil` for one in the folder.
  private let store: LocalStoreConfiguration?
  private let seed: UInt64
  /// The rules in front of the clients of a simulation.
  private let rules = AccessRules()
  /// The clients of each shared cache of a simulation.
  private let companies = Kept<[String: SharedCompany]>([:])
  private let plan: Inspection.Plan?
  private let faults: FaultInjector?
  /// The one who looks while a scenario is played.
  package var follower: ScenarioFollower?

  /// The loop of a simulation; `nil` in the real world.
  var loop: VirtualLoop? { simulation?.loop }

  /// A simulated world.
  /// - Parameter faults: the faults with which each client begins.
  /// - Throws: a failure to make the folder or the backend.
  package init(
    simulating database: DatabaseID, seed: UInt64, faults changes: [FaultChange] = []
  ) throws(CommandFailure) {
    let world: SimulatedWorld
    do throws(RPCStatus) { world = try SimulatedWorld(database, seed: seed, faults: changes) } catch {
      throw CommandFailure(.cannotCreate, error.message)
    }
    (simulation, clock, server, caches) = (world, world.loop.clock, world.server, world.caches)
    (self.database, self.seed, store, plan, faults) = (database, seed, nil, nil, nil)
  }

  /// The real world.
  /// - Parameters:
  ///   - store: the cache of the client without a name; one in memory stands for one that is gone afterwards.
  ///   - plan: the way in which that client can be watched.
  ///   - faults: the faults between that client and the backend.
  package init(
    at connection: BackendConnection, _ store: LocalStoreConfiguration, inspectedAs plan: Inspection.Plan?,
    disturbedBy faults: FaultInjector, seed: UInt64
  ) throws(CommandFailure) {
    do throws(RPCStatus) { caches = try CacheFolder() } catch { throw CommandFailure(.cannotCreate, error.message) }
    (simulation, clock, database, self.seed) = (nil, ContinuousClock(), connection.database, seed)
    server = connection.datastore
    self.store = store.location == .memory ? nil : store
    (self.plan, self.faults) = (plan, faults)
  }

  /// The time of day with which a simulated world begins.
  package static var beginning: Timestamp { SimulatedWorld.beginning }

  /// The time of day of a simulated world; `nil` in the real one.
  package var simulatedNow: Timestamp? { simulation?.now }

  func end() {
    simulation?.end()
    caches.remove()
  }

  // MARK: Clients

  /// One opening of a client.
  struct Opened: Sendable {
    let client: Client
    let plan: ClientPlan
    let faults: FaultInjector
    /// Whether the cache outlives the scenario.
    let keepsCache: Bool
  }

  /// Opens a client on its cache.
  /// - Parameter earlier: the faults of an opening before.
  /// - Throws: the reason why the cache that was named cannot be used.
  func open(_ plan: ClientPlan, isOnline: Bool, _ earlier: FaultInjector?) throws(CommandFailure) -> Opened {
    let kept = plan.name == nil ? store : nil
    let name = plan.name ?? ""
    let faults = earlier ?? (plan.name == nil ? self.faults : nil) ?? faults(of: name)
    var surroundings = simulation?.surroundings(of: name) ?? ClientSurroundings()
    surroundings.beginsOnline = isOnline
    let (now, clock) = (surroundings.now, plan.clock)
    surroundings.now = { now() + clock.value }
    let client = Client(
      kept ?? cache(of: plan), datastore: FaultyDatastore(way(of: plan), faults: faults, clock: self.clock),
      user: plan.user.value, in: surroundings, inspectedAs: plan.name == nil ? self.plan : nil)
    if let problem = client.engine.cacheProblem { throw CommandFailure(cache: problem.error) }
    follower?.opened(plan.name, client, faults)
    return Opened(client: client, plan: plan, faults: faults, keepsCache: kept != nil)
  }

  private func cache(of plan: ClientPlan) -> LocalStoreConfiguration {
    let owner = plan.owner ?? "client"
    var cache = LocalStoreConfiguration(
      location: .directory(caches.path(of: owner, life: plan.life)),
      policy: plan.cacheSize.map { .leastRecentlyUsed(thresholdBytes: $0) } ?? .never, database: database,
      isShared: plan.isShared)
    if plan.isShared, simulation != nil {
      let company = companies.value[owner] ?? SharedCompany()
      companies.value[owner] = company
      cache.company = company
    }
    return cache
  }

  /// The way of a client to the backend, where rules stand if there are any.
  private func way(of plan: ClientPlan) -> any Datastore {
    guard let simulation else { return server }
    let user = plan.user
    return RuledDatastore(backend: simulation.backend, database: database, rules: rules) { user.value }
  }

  /// Puts rules in front of all clients, or takes them away; listeners that they do not allow end at once.
  /// - Throws: the reason why this world has none.
  func put(_ ruleset: Ruleset?) async throws(RPCStatus) {
    guard let simulation else {
      throw RPCStatus(
        .unimplemented,
        "in real time clients are administrators, whom rules do not concern; leave the place and --real-time out, or give "
          + "the rules to 'hearth serve --rules'.")
    }
    rules.set(ruleset.map { .ruleset($0) })
    await simulation.backend.wakeWatches()
  }

  private func faults(of name: String) -> FaultInjector {
    simulation?.faults(of: name)
      ?? FaultInjector(seed: SimulatedWorld.seed(of: name, in: seed), clock: clock)
  }

  /// Copies the files of a client's cache as they are now, as a killed process would leave them.
  func copyCache(of name: String?, life: Int) throws(CommandFailure) {
    do throws(RPCStatus) { try caches.copy(name ?? "client", life: life) } catch {
      throw CommandFailure(.inputOutput, error.message)
    }
  }

  /// Whether a client's cache is in the folder, so that it can be killed.
  func makesCache(of name: String?) -> Bool { name != nil || store == nil }

  /// The time of day at the server.
  var now: Timestamp { simulation?.now ?? .now }
}

/// The one who looks at a scenario while it is played, and says when it goes on. All calls come from the world's thread.
package struct ScenarioFollower: Sendable {
  /// Called before each step, which waits until it returns; in a simulated world the time stands still meanwhile.
  /// - Throws: to end the run.
  package var before: @Sendable (_ step: Int) async throws -> Void
  /// Called with each client when it is opened, before it does anything, also when it is opened again.
  package var opened: @Sendable (_ name: String?, Client, FaultInjector) -> Void
  /// Called after the last step, or with the error that ends the run; the clients live until it returns.
  package var ended: @Sendable ((any Error)?) async -> Void

  package init(
    before: @escaping @Sendable (_ step: Int) async throws -> Void,
    opened: @escaping @Sendable (_ name: String?, Client, FaultInjector) -> Void = { _, _, _ in },
    ended: @escaping @Sendable ((any Error)?) async -> Void = { _ in }
  ) {
    (self.before, self.opened, self.ended) = (before, opened, ended)
  }
}

extension ScenarioWorld {
  /// Lets the follower look, while the time of a simulated world stands still.
  func standingStill(_ body: (ScenarioFollower) async throws -> Void) async rethrows {
    guard let follower else { return }
    loop?.hold()
    defer { loop?.release() }
    try await body(follower)
  }
}
