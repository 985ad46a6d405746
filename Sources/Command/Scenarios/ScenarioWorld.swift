// SPDX-License-Identifier: Apache-2.0
package import CommandOptions
package import CommandOutput
package import FirestoreBackend
package import FirestoreClientState
package import FirestoreLocal
package import FirestoreModel
import FirestoreProtocol
import FirestoreSQLite
import FirestoreSimulation
import FirestoreSync
import Foundation
import SeededRandom

package import class Hearth.Client
package import class Hearth.Inspection

/// The place where a scenario is played: a backend, clients with their caches, and the time.
///
/// A simulated world has a backend of its own in memory and a time that passes when nothing is left to do: the same steps
/// and the same seed make the same events in the same order. A real one has the backend that it is given, and real time.
package struct ScenarioWorld: Sendable {
  /// The time at which every simulation begins.
  private static let beginning = Timestamp(seconds: 1_767_225_600)

  let database: DatabaseID
  let clock: any Clock<Duration>
  /// The loop of a simulation; `nil` in the real world.
  let loop: VirtualLoop?
  /// The backend without faults.
  let server: any Datastore
  /// The folder of the clients' caches; it is removed with the world.
  private let folder: URL
  /// The cache of the client without a name; `nil` for one in the folder.
  private let store: LocalStoreConfiguration?
  private let seed: UInt64
  private let plan: Inspection.Plan?
  private let faults: FaultInjector?
  /// The changes of faults with which each client of a simulation begins.
  private let changes: [FaultChange]

  /// A simulated world.
  /// - Parameter faults: the faults with which each client begins.
  /// - Throws: a failure to make the folder or the backend.
  package init(
    simulating database: DatabaseID, seed: UInt64, faults changes: [FaultChange] = []
  ) throws(CommandFailure) {
    self.changes = changes
    let loop = VirtualLoop()
    (self.loop, clock, self.database, self.seed) = (loop, loop.clock, database, seed)
    (store, plan, faults) = (nil, nil, nil)
    folder = try Self.makeFolder()
    do throws(StoreError) {
      let backend = try LocalBackend(
        BackendConfiguration(location: .memory, now: { Self.time(of: loop) }),
        on: QueueExecutor(label: "scenario-backend", on: loop))
      server = InProcessDatastore(backend: backend, database: database)
    } catch { throw CommandFailure(opening: error) }
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
    (loop, clock, database, self.seed) = (nil, ContinuousClock(), connection.database, seed)
    server = connection.datastore
    folder = try Self.makeFolder()
    self.store = store.location == .memory ? nil : store
    (self.plan, self.faults, changes) = (plan, faults, [])
  }

  private static func makeFolder() throws(CommandFailure) -> URL {
    let folder = FileManager.default.temporaryDirectory.appending(path: "hearth-scenario-\(UUID().uuidString)")
    do {
      try FileManager.default.createDirectory(
        at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    } catch { throw CommandFailure(.cannotCreate, "\(folder.path) cannot be made: \(error.localizedDescription)") }
    return folder
  }

  private static func time(of loop: VirtualLoop) -> Timestamp {
    let (seconds, attoseconds) = loop.now.components
    return Timestamp(seconds: beginning.seconds + seconds, nanoseconds: Int32(attoseconds / 1_000_000_000))
  }

  func end() {
    loop?.end()
    // The folder lies among temporary files, if it cannot be removed.
    try? FileManager.default.removeItem(at: folder)
  }

  // MARK: Clients

  /// One opening of a client: `close` ends it and keeps its cache, `run` keeps its streams going until then.
  struct Opened: Sendable {
    let engine: SyncEngine
    let faults: FaultInjector
    let run: @Sendable () async -> Void
    let close: @Sendable () async -> Void
    /// Whether the cache outlives the scenario.
    let keepsCache: Bool
  }

  /// Opens a client on its cache.
  /// - Parameters:
  ///   - name: `nil` for the client without a name.
  ///   - life: how often it was killed: each life has a folder of its own.
  ///   - earlier: the faults of an opening before.
  /// - Throws: the reason why the cache that was named cannot be used.
  func open(_ name: String?, life: Int, user: String?, isOnline: Bool, _ earlier: FaultInjector?) throws(CommandFailure)
    -> Opened
  {
    let number = (name ?? "").utf8.reduce(UInt64(7)) { $0 &* 31 &+ UInt64($1) }
    let mixed = SeededGenerator.mixed(seed &+ number)
    let faults =
      earlier ?? (name == nil ? self.faults : nil) ?? begin(FaultInjector(seed: mixed, clock: clock, on: loop))
    let datastore = FaultyDatastore(server, faults: faults, clock: clock)
    var configuration = name == nil ? store : nil
    if configuration == nil {
      configuration = LocalStoreConfiguration(
        location: .directory(cache(of: name, life: life).path), policy: .never, database: database)
    }
    guard let store = configuration else { preconditionFailure("A client has a cache.") }
    guard let loop else {
      let client = Client(
        store, datastore: datastore, isNetworkEnabled: isOnline, inspectedAs: name == nil ? plan : nil)
      if let problem = client.engine.cacheProblem { throw CommandFailure(cache: problem.error) }
      if let user { client.engine.changeUser(to: user) {} }
      return Opened(
        engine: client.engine, faults: faults, run: {}, close: { await client.terminate() },
        keepsCache: name == nil && self.store != nil)
    }
    var settings = SyncConfiguration(store: store, user: user)
    settings.isNetworkEnabled = isOnline
    let engine = SyncEngine(
      settings, datastore: datastore, clock: clock, now: { Self.time(of: loop) },
      random: SeededGenerator(seed: mixed), on: loop)
    if let problem = engine.cacheProblem { throw CommandFailure(cache: problem.error) }
    return Opened(
      engine: engine, faults: faults, run: { await engine.run() }, close: { await engine.terminate() },
      keepsCache: false)
  }

  private func begin(_ faults: FaultInjector) -> FaultInjector {
    // Words that mean nothing to a client are refused where they are read.
    for change in changes { try? faults.perform(change) }
    return faults
  }

  private func cache(of name: String?, life: Int) -> URL {
    folder.appending(path: "\(name ?? "client")-\(life)")
  }

  /// Copies the files of a client's cache as they are now, as a killed process would leave them.
  func copyCache(of name: String?, life: Int) throws(CommandFailure) {
    do {
      try FileManager.default.copyItem(at: cache(of: name, life: life), to: cache(of: name, life: life + 1))
    } catch { throw CommandFailure(.inputOutput, "the cache cannot be copied: \(error.localizedDescription)") }
  }

  /// Whether a client's cache is in the folder, so that it can be killed.
  func canKill(_ name: String?) -> Bool { name != nil || store == nil }
}
