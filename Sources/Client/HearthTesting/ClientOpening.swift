// SPDX-License-Identifier: Apache-2.0
import FirestoreBackend
import FirestoreClientState
import FirestoreLocal
import FirestoreModel
package import FirestoreSimulation
import FirestoreSync
package import Hearth
import SeededRandom
import Synchronization

/// A client of a stage from one opening of its cache to the next.
final class ClientOpening: Sendable {
  /// An answer to a write.
  struct Answer: Sendable {
    var paths: [String]
    /// The backend's error; `nil` for an acknowledgement.
    var error: FirestoreError?
  }

  let db: Firestore
  let engine: SyncEngine
  /// The acknowledgements and the rejections that no expectation has read.
  let acknowledgements = EventQueue<Answer>()
  let rejections = EventQueue<Answer>()
  private let state = Mutex(State())
  private let loop: VirtualLoop

  private struct State: Sendable {
    var listeners: [ListenerProbe] = []
    var tasks: [Task<Void, Never>] = []
    var isClosed = false
  }

  /// Opens the client.
  /// - Parameters:
  ///   - cache: the cache, which may be one of another client.
  ///   - clock: the time by which the client's clock is ahead.
  /// - Throws: the reason why the client cannot be opened.
  init(
    _ name: String, on cache: OpenedCache, isOnline: Bool, _ users: UserSession, _ faults: FaultInjector,
    clock: @escaping @Sendable () -> Duration, in world: SimulatedWorld
  ) throws(FirestoreError) {
    loop = world.loop
    var surroundings = world.surroundings(of: name)
    surroundings.beginsOnline = isOnline
    surroundings.now = { world.now + clock() }
    surroundings.company = cache.company
    let way = FaultyDatastore(world.server, faults: faults, clock: world.loop.clock)
    db = Firestore.firestore(
      app: FirestoreApp(
        name: name, projectID: world.database.project, backend: .datastore(way, in: surroundings),
        cacheDirectory: world.caches.path(of: cache.owner, life: cache.life), credentials: users))
    if cache.company != nil {
      let settings = FirestoreSettings()
      settings.cacheSettings = PersistentCacheSettings(tabManager: .multiple)
      db.settings = settings
    }
    engine = try db.client().engine
    start { [self] in await followAnswers() }
  }

  var listeners: [ListenerProbe] { state.withLock(\.listeners) }

  /// Runs work of the test on the stage's thread until the client is closed.
  private func start(_ work: @escaping @Sendable () async -> Void) {
    let task = Task(executorPreference: loop) { await work() }
    state.withLock { $0.tasks.append(task) }
  }

  /// Follows a listener until it ends.
  func follow(_ probe: ListenerProbe, _ tell: @escaping @Sendable (ListenerProbe.News) -> Void) {
    state.withLock { $0.listeners.append(probe) }
    start { await probe.follow(tell) }
  }

  func stop(_ probe: ListenerProbe) {
    state.withLock { state in state.listeners.removeAll { $0 === probe } }
    probe.stop()
  }

  private func followAnswers() async {
    var seen = 0
    for await status in engine.status(queueEnds: 0) {
      for outcome in status.recentOutcomes where outcome.sequence > seen {
        seen = outcome.sequence
        let answer = Answer(
          paths: outcome.documents?.first.map(\.key.path.text) ?? [],
          error: outcome.rejection.map { FirestoreError($0) })
        (answer.error == nil ? acknowledgements : rejections).put(answer)
      }
    }
  }

  /// Ends the client.
  /// - Parameter isKilled: whether clients that share its cache are told nothing.
  func close(isKilled: Bool = false) async {
    if isKilled { await engine.abandon() }
    let tasks = state.withLock { state in
      state.isClosed = true
      return state.tasks
    }
    // A client that the test has terminated is closed already.
    try? await db.terminate()
    for task in tasks {
      task.cancel()
      await task.value
    }
  }
}

/// The cache with which a client of a stage is opened.
public enum TestCache: Sendable {
  /// A cache of its own.
  case own
  /// A cache of its own that other clients may open, as with `PersistentTabManager.multiple`.
  case shared
  /// The cache of another client, which was opened as `shared`, or with such a cache.
  case of(TestClient)
}

/// A cache as a client has it open.
struct OpenedCache: Sendable {
  /// The client that was the first to open it.
  var owner: String
  /// The number of times that a client on a cache of its own was killed.
  var life = 0
  /// The clients that share it; `nil` for a client on a cache of its own.
  var company: SharedCompany?
}

/// The lead of a client's clock.
final class TestClock: Sendable {
  private let state = Mutex(Duration.zero)

  var lead: Duration {
    get { state.withLock { $0 } }
    set { state.withLock { $0 = newValue } }
  }
}

extension SimulatedWorld {
  /// The time, the chance and the thread of a client.
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

/// Ids of new documents, the same for the same seed.
private final class SeededIDs: Sendable {
  private let generator: Mutex<SeededGenerator>

  init(seed: UInt64) { generator = Mutex(SeededGenerator(seed: seed)) }

  func next() -> String { generator.withLock { AutomaticID.make(using: &$0) } }
}
