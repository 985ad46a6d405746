// SPDX-License-Identifier: Apache-2.0
package import FirestoreBackend
package import FirestoreLocal
package import FirestoreModel
package import FirestoreProtocol
package import FirestoreSimulation
import FirestoreSync
import Foundation
package import Hearth
import SeededRandom
import Synchronization

/// A backend, its clients, their durable caches, and their clock. Tests and scenarios run in such a world.
///
/// A simulated world has a backend in memory, one thread, and simulated time that jumps ahead when no work is left.
/// Otherwise, a world uses an existing backend and real time.
package final class TestWorld: Sendable {
  /// A function that creates the datastore of a client. The parameter is the session of the client's user.
  package typealias Route = @Sendable (UserSession) -> any Datastore

  package let database: DatabaseID
  package let clock: any Clock<Duration>
  /// The simulation; `nil` in real time.
  package let simulation: SimulatedWorld?
  /// The backend, accessed without faults.
  package let server: any Datastore
  private let seed: UInt64
  private let route: Route
  /// The folder with the clients' caches, which is removed together with the world.
  private let caches: CacheFolder
  private let opened = Mutex<[WorldClient]>([])

  /// Creates a simulated world.
  /// - Parameter route: creates the clients' datastores; `nil` to connect the clients directly to the backend.
  /// - Throws: an error if the folder for the caches cannot be created.
  package init(_ simulation: SimulatedWorld, route: Route? = nil) throws(RPCStatus) {
    let server = simulation.server
    (self.simulation, self.server, self.route) = (simulation, server, route ?? { _ in server })
    (database, seed, clock) = (simulation.database, simulation.seed, simulation.loop.clock)
    do throws(RPCStatus) { caches = try CacheFolder() } catch {
      simulation.end()
      throw error
    }
  }

  /// Creates a world with the given backend, in real time.
  /// - Throws: an error if the folder for the caches cannot be created.
  package init(inRealTime server: any Datastore, _ database: DatabaseID, seed: UInt64) throws(RPCStatus) {
    (simulation, self.server, self.route) = (nil, server, { _ in server })
    (self.database, self.seed, clock) = (database, seed, ContinuousClock())
    caches = try CacheFolder()
  }

  /// The server's time of day.
  package var now: FirestoreModel.Timestamp { simulation?.now ?? .now() }

  /// The clients, in the order in which they were opened.
  package var clients: [WorldClient] { opened.withLock { $0 } }

  /// Opens a client.
  package func open(_ plan: ClientPlan) -> WorldClient {
    let client = WorldClient(plan, in: self)
    opened.withLock { $0.append(client) }
    return client
  }

  /// Ends the thread of a simulation after all remaining work, and removes the caches.
  package func end() {
    simulation?.end()
    caches.remove()
  }

  // MARK: Facts

  /// - Returns: a description of the first client that has unacknowledged writes or, while online, a listener that is
  ///   not in sync; `nil` if there is none.
  package func missing() async -> String? { await Agreement.missing(clients.map(\.agreeing)) }

  /// - Returns: a description of the first disagreement; `nil` if every listener has the server's current result.
  /// - Throws: the server's error.
  package func disagreement() async throws(RPCStatus) -> String? {
    try await Agreement.disagreement(clients.map(\.agreeing), with: server)
  }

  // MARK: The parts of a client

  func faults(of name: String) -> FaultInjector {
    simulation?.faults(of: name) ?? FaultInjector(seed: SimulatedWorld.seed(of: name, in: seed), clock: clock)
  }

  /// Opens a client on its cache.
  func open(_ client: WorldClient.Identity, on cache: ClientCache, isOnline: Bool) -> ClientOpening {
    var surroundings = simulation?.surroundings(of: client.name ?? "") ?? ClientSurroundings()
    surroundings.beginsOnline = isOnline
    let (now, clientClock) = (surroundings.now, client.clock)
    surroundings.now = { now() + clientClock.lead }
    let way = FaultyDatastore(route(client.users), faults: client.faults, clock: clock)
    let opened = Client(
      configuration(of: cache), datastore: way, credentials: client.users, in: surroundings,
      inspectedAs: client.inspection)
    return ClientOpening(opened, on: cache, in: surroundings)
  }

  private func configuration(of cache: ClientCache) -> LocalStoreConfiguration {
    if let kept = cache.kept { return kept }
    var configuration = LocalStoreConfiguration(
      location: .directory(Firestore.cacheDirectory(of: database, below: folder(of: cache))),
      policy: cache.sizeLimit.map { .leastRecentlyUsed(thresholdBytes: $0) } ?? .never, database: database,
      isShared: cache.isShared)
    configuration.peers = cache.peers
    return configuration
  }

  /// The folder of a cache.
  func folder(of cache: ClientCache) -> String { caches.path(of: cache.owner, life: cache.life) }

  /// Copies the current files of a cache, in the state in which a killed process would leave them.
  /// - Returns: the copy.
  /// - Throws: `internal` with the reason.
  func copy(_ cache: ClientCache) throws(RPCStatus) -> ClientCache {
    var next = cache
    next.life += 1
    try caches.copy(folder(of: cache), to: folder(of: next))
    return next
  }
}

/// The properties of a client that stay the same each time it is opened.
package struct ClientPlan: Sendable {
  /// The client's name; `nil` for the only client of a scenario.
  package var name: String?
  package var user: String?
  package var cache: ClientCache
  /// The fault injector between the client and the backend; `nil` to create one from the world's seed.
  package var faults: FaultInjector?
  /// Describes how watchers can connect to the client; `nil` if they must not be able to connect.
  package var inspection: Inspection.Plan?

  package init(_ name: String?, user: String? = nil, on cache: ClientCache) {
    (self.name, self.user, self.cache) = (name, user, cache)
  }
}

/// The cache of a client.
package struct ClientCache: Sendable {
  /// The name of the client that opened the cache first.
  package let owner: String
  /// The number of times that the client of a separate cache was killed. After each kill, the cache gets a new folder.
  fileprivate(set) var life = 0
  /// Whether other clients may use the cache.
  package let isShared: Bool
  /// The clients of a simulation that share the cache; `nil` in real time.
  package let peers: SimulatedPeers?
  /// The size limit in bytes, above which the client evicts documents from the cache; `nil` for no limit.
  package var sizeLimit: Int64?
  /// A cache outside of the world's folder, which is not removed when the world ends; `nil` for a cache in the folder.
  package private(set) var kept: LocalStoreConfiguration?

  /// Describes a cache in the world's folder.
  package init(of owner: String, isShared: Bool = false, peers: SimulatedPeers? = nil, sizeLimit: Int64? = nil) {
    (self.owner, self.isShared, self.peers, self.sizeLimit) = (owner, isShared, peers, sizeLimit)
  }

  package init(of owner: String, keptAt configuration: LocalStoreConfiguration) {
    (self.owner, isShared, peers, kept) = (owner, configuration.isShared, nil, configuration)
  }
}

/// A temporary folder for durable caches. Its owner removes it.
private struct CacheFolder: Sendable {
  private let folder: URL

  /// Creates the folder, which only this user can access.
  /// - Throws: `internal`, with the folder and the reason, if the folder cannot be created.
  init() throws(RPCStatus) {
    folder = FileManager.default.temporaryDirectory.appending(path: "hearth-clients-\(UUID().uuidString)")
    do {
      try FileManager.default.createDirectory(
        at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    } catch {
      throw RPCStatus(.internal, "\(folder.path) cannot be created: \(error.localizedDescription)")
    }
  }

  /// - Parameter name: a name that consists of letters, digits and `-`.
  func path(of name: String, life: Int) -> String { folder.appending(path: "\(name)-\(life)").path }

  func copy(_ source: String, to destination: String) throws(RPCStatus) {
    do { try FileManager.default.copyItem(atPath: source, toPath: destination) } catch {
      throw RPCStatus(.internal, "the cache cannot be copied: \(error.localizedDescription)")
    }
  }

  func remove() {
    // A failure is ignored: the folder then remains among the temporary files.
    try? FileManager.default.removeItem(at: folder)
  }
}

extension SimulatedWorld {
  /// The clock, random source and thread that a client uses.
  package func surroundings(of name: String) -> ClientSurroundings {
    let seed = Self.seed(of: name, in: seed)
    var surroundings = ClientSurroundings()
    surroundings.clock = loop.clock
    surroundings.now = { now }
    surroundings.random = SeededGenerator(seed: seed)
    let ids = SeededIDs(seed: SeededGenerator.mixed(seed))
    surroundings.documentID = { ids.next() }
    surroundings.loop = loop
    return surroundings
  }
}

/// Generates the ids of new documents. The same seed produces the same ids.
private final class SeededIDs: Sendable {
  private let generator: Mutex<SeededGenerator>

  init(seed: UInt64) { generator = Mutex(SeededGenerator(seed: seed)) }

  func next() -> String { generator.withLock { AutomaticID.make(using: &$0) } }
}
