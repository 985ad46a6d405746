// SPDX-License-Identifier: Apache-2.0
import FirestoreLocal
import FirestoreModel
import FirestoreSimulation
public import Foundation
import Hearth
import SeededRandom
import Synchronization

/// A test environment: a backend in memory, its clients, and simulated time that jumps ahead when nothing is left to
/// do. Use it to test offline work, several clients and network failures.
///
///     @Test func stockIsCounted() async throws {
///       try await TestStage.run { stage in
///         let ada = try await stage.client("ada")
///         let bob = try await stage.client("bob")
///         try await stage.server.set("stock/tea", ["count": 1])
///         let hers = try await ada.listen(to: ada.db.collection("stock"))
///         try await hers.expect(.synced, .field("count", 1, of: "tea"))
///         try await bob.goOffline()
///         try bob.db.document("stock/tea").enqueueUpdate(["count": FieldValue.increment(Int64(1))])
///         try await hers.expectNothing(within: .seconds(3600))
///         try await bob.goOnline()
///         try await hers.expect(.field("count", 2, of: "tea"))
///         try await stage.expectSame()
///       }
///     }
///
/// The clients, the backend and the body run on one thread. Waiting takes no real time: a simulated hour takes only as
/// long as the work within it. The same body and the same seed produce the same run. Both guarantees cover the body,
/// the functions that it calls and its child tasks. The stage does not wait for work on other threads (`Task { … }`,
/// the main actor, a `DispatchQueue`). To include such work, wait for it in ``standingStill(_:)``, or run it as a task
/// on ``executor``.
public final class TestStage: Sendable {
  /// The environment variable that contains the default seed: `HEARTH_SEED`.
  public static let seedVariable = "HEARTH_SEED"

  /// The seed of all random numbers in the run.
  public let seed: UInt64
  /// The server side of the backend.
  public let server: TestServer
  let simulation: SimulatedWorld
  let world: TestWorld
  private let state = Mutex(State())

  private struct State: Sendable {
    /// The clients, in the order in which they were opened.
    var clients: [TestClient] = []
    var isOver = false
  }

  private init(seed: UInt64, project: String) throws(RPCStatus) {
    self.seed = seed
    simulation = try SimulatedWorld(DatabaseID(project: project, database: "(default)"), seed: seed)
    world = try TestWorld(simulation)
    server = TestServer(simulation)
  }

  // MARK: Running

  /// Runs a test on a new stage. The stage ends when the body returns.
  ///
  /// If the body throws, the stage reports the seed. The text of a ``StageFailure`` contains the seed; for any other
  /// error, the seed is printed to standard error.
  /// - Parameters:
  ///   - seed: the seed of all random numbers. If `nil`, the seed is the value of the environment variable
  ///     `HEARTH_SEED`, or 1 if this variable is not set.
  ///   - project: the id of the project that contains the database.
  ///   - longest: the time limit of the run, in the stage's simulated time. It ends a run that waits for an event that
  ///     never happens.
  ///   - body: the test.
  /// - Returns: the value that the body returns.
  /// - Throws: the error that the body throws; ``StageFailure`` if the run takes longer than `longest`.
  public static func run<Value: Sendable>(
    seed: UInt64? = nil, project: String = "test", longest: Duration = .seconds(30 * 86_400),
    file: String = #fileID, line: Int = #line, _ body: @escaping @Sendable (TestStage) async throws -> Value
  ) async throws -> Value {
    let stage = try TestStage(seed: seed ?? standardSeed, project: project)
    defer { stage.world.end() }
    do {
      return try await withTaskExecutorPreference(stage.simulation.loop) {
        try await stage.perform(longest, CallPlace(file: file, line: line), body)
      }
    } catch {
      if !(error is StageFailure) { stage.tellSeed() }
      throw error
    }
  }

  /// Runs a test once for each seed, one after the other, each time on a new stage. Stops at the first failure.
  /// - Throws: the error of the first run that fails.
  public static func run(
    seeds: some Sequence<UInt64> & Sendable, project: String = "test", longest: Duration = .seconds(30 * 86_400),
    file: String = #fileID, line: Int = #line, _ body: @escaping @Sendable (TestStage) async throws -> Void
  ) async throws {
    for seed in seeds {
      try await run(seed: seed, project: project, longest: longest, file: file, line: line, body)
    }
  }

  private static var standardSeed: UInt64 {
    ProcessInfo.processInfo.environment[seedVariable].flatMap { UInt64($0) } ?? 1
  }

  private func perform<Value: Sendable>(
    _ longest: Duration, _ place: CallPlace, _ body: @escaping @Sendable (TestStage) async throws -> Value
  ) async throws -> Value {
    let clock = simulation.loop.clock
    let result: Result<Value, any Error>
    do {
      result = .success(
        try await withThrowingTaskGroup(of: Value?.self) { group in
          group.addTask { try await body(self) }
          group.addTask {
            try await clock.sleep(for: longest)
            return nil
          }
          defer { group.cancelAll() }
          guard let value = try await group.next() ?? nil else {
            throw self.failure(.notInTime, "the run did not end within \(longest).", place)
          }
          return value
        })
    } catch { result = .failure(error) }
    let clients = state.withLock { state in
      state.isOver = true
      return state.clients
    }
    for client in clients { await client.close() }
    await server.close()
    return try result.get()
  }

  private func tellSeed() {
    let line = "HearthTesting: a run failed with the seed \(seed). To repeat it, set \(Self.seedVariable)=\(seed).\n"
    // A failure to write the line must not end the test.
    try? FileHandle.standardError.write(contentsOf: Data(line.utf8))
  }

  // MARK: Clients

  /// Opens a client with its own cache and queue.
  /// - Parameters:
  ///   - name: a name that is unique within the stage. It may contain letters, digits and `-`.
  ///   - user: the id of the user to sign in; `nil` for none.
  ///   - cache: the cache to use. It can be another client's cache, as with two tabs of a browser.
  /// - Throws: ``StageFailure`` if the name is invalid or in use, if the cache belongs to a client that does not share
  ///   it, or if the stage has ended.
  public func client(
    _ name: String = "client", user: String? = nil, cache: TestCache = .own, file: String = #fileID, line: Int = #line
  ) async throws -> TestClient {
    let place = CallPlace(file: file, line: line)
    try check(place)
    guard !name.isEmpty, name.allSatisfy({ $0.isLetter || $0.isNumber || $0 == "-" }) else {
      throw failure(.misuse, "\"\(name)\" is not a client name. Use letters, digits and -.", place)
    }
    if clients.contains(where: { $0.name == name }) {
      throw failure(.misuse, "a client \(name) already exists. Choose another name.", place)
    }
    // The default cache size of a `Firestore`.
    let size = PersistentCacheSettings().sizeBytes
    let opened: ClientCache
    switch cache {
    case .own: opened = ClientCache(of: name, sizeLimit: size)
    case .shared: opened = ClientCache(of: name, isShared: true, peers: SimulatedPeers(), sizeLimit: size)
    case .of(let other):
      guard other.stage === self, other.cache.isShared else {
        throw failure(.misuse, "\(other.name) does not share its cache; open it with cache: .shared.", place)
      }
      opened = other.cache
    }
    let client = TestClient(name, world.open(ClientPlan(name, user: user, on: opened)), self)
    state.withLock { $0.clients.append(client) }
    return client
  }

  /// The clients, in the order in which they were opened.
  public var clients: [TestClient] { state.withLock(\.clients) }

  // MARK: Time

  /// The simulated time since the start of the run.
  public var elapsed: Duration { simulation.loop.now }

  /// The current date of the clients and the backend. A run starts at 2026-01-01T00:00:00Z.
  public var date: Date {
    let now = world.now
    return Date(timeIntervalSince1970: Double(now.seconds) + Double(now.nanoseconds) / 1e9)
  }

  /// A clock that shows the stage's time, for code that has a clock parameter.
  public var clock: any Clock<Duration> { simulation.loop.clock }

  /// The stage's thread, for tasks that a test starts: `Task(executorPreference: stage.executor) { … }`.
  public var executor: any TaskExecutor { simulation.loop }

  /// Advances the stage's time, and processes all events that happen during this period.
  public func wait(_ time: Duration) async throws { try await simulation.loop.clock.sleep(for: time) }

  /// Runs a body while the stage's time is stopped. Use it to wait for work on other threads. Meanwhile, work on the
  /// stage continues, except work that waits for the time to advance.
  public func standingStill<Value: Sendable>(
    _ body: @Sendable () async throws -> Value
  ) async rethrows -> Value {
    simulation.loop.hold()
    defer { simulation.loop.release() }
    return try await body()
  }

  /// A random number generator for the test itself, derived from the stage's seed. In runs with the same seed,
  /// generators with the same number produce the same sequence.
  /// - Parameter number: distinguishes the generators within one run.
  public func random(_ number: UInt64 = 0) -> StageRandom { StageRandom(seed: seed, number) }

  // MARK: Failures

  func failure(_ kind: StageFailure.Kind, _ reason: String, _ place: CallPlace) -> StageFailure {
    StageFailure(kind: kind, reason: reason, file: place.file, line: place.line, seed: seed, elapsed: elapsed)
  }

  /// - Throws: ``StageFailure`` if the stage has ended, because after that no events happen.
  func check(_ place: CallPlace) throws(StageFailure) {
    if state.withLock(\.isOver) { throw failure(.misuse, "the stage is over: the body of run has returned.", place) }
  }
}

/// A reproducible random number generator: the same seed produces the same numbers.
public struct StageRandom: RandomNumberGenerator, Sendable {
  private var generator: SeededGenerator

  init(seed: UInt64, _ number: UInt64) {
    generator = SeededGenerator(seed: SeededGenerator.mixed(seed) ^ SeededGenerator.mixed(number &+ 1))
  }

  /// The next number.
  public mutating func next() -> UInt64 { generator.next() }
}

/// The reason why a test on a ``TestStage`` failed: an unmet expectation or an invalid call.
///
/// Expectations throw this error, so a test ends at its first failure, as with `#require` and `XCTUnwrap`. Swift
/// Testing and XCTest both report thrown errors, so this module does not need to link either of them. The error's text
/// contains the file and line of the call, and the seed.
public struct StageFailure: Error, Hashable, Sendable {
  /// The kinds of failures.
  public enum Kind: Hashable, Sendable {
    /// An expectation was not met before the timeout.
    case notInTime
    /// An unexpected event arrived.
    case surprise
    /// Two clients, or a client and the server, have different results.
    case disagreement
    /// The call is invalid. For example, its syntax is invalid, a name is already in use, or the stage has ended.
    case misuse
  }

  /// The kind of the failure.
  public let kind: Kind
  /// The expectation and what actually happened. Does not contain the location and the seed.
  public let reason: String
  /// The file of the call, in the format of `#fileID`.
  public let file: String
  /// The line of the call, counted from 1.
  public let line: Int
  /// The seed of the run.
  public let seed: UInt64
  /// The time from the start of the run to the failure.
  public let elapsed: Duration
}

extension StageFailure: CustomStringConvertible, LocalizedError {
  /// The location of the call, the reason, and the seed that reproduces the run.
  public var description: String {
    let time = (elapsed / .milliseconds(1)).rounded() / 1000
    return "\(file):\(line): \(reason) "
      + "(\(time) s after the start; \(TestStage.seedVariable)=\(seed) repeats the run)"
  }

  /// The same as `description`.
  public var errorDescription: String? { description }
}

/// The kind of cache that a client of a stage uses.
public enum TestCache: Sendable {
  /// A separate cache, which other clients cannot open.
  case own
  /// A separate cache that other clients can open, as with `PersistentTabManager.multiple`.
  case shared
  /// The shared cache of another client.
  case of(TestClient)
}

/// The location of a call in a test.
struct CallPlace: Sendable {
  var file: String
  var line: Int
}
