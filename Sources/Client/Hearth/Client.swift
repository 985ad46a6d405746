// SPDX-License-Identifier: Apache-2.0
package import FirestoreLocal
package import FirestoreModel
package import FirestoreProtocol
package import FirestoreSync
package import SerialExecutors
import Synchronization

/// One open client: its engine and cache, its connection to a backend, and its tasks.
package final class Client: Sendable {
  package let engine: SyncEngine
  package let datastore: any Datastore
  package let database: DatabaseID
  let callbackTasks: CallbackTasks
  let callbackListeners = CallbackListeners()
  let transactionTurns: TransactionQueue
  let log: ClientLog
  let outages: OutageReporter
  /// Makes the client visible to watchers such as `hearth attach`; `nil` if watching is not allowed.
  package let inspection: Inspection?
  /// The task that runs the streams and timers; `terminate()` ends it.
  private let running: Task<Void, Never>
  /// Stops following the changes of the app's user.
  private let endUsers: @Sendable () -> Void

  package convenience init(
    _ cache: LocalStoreConfiguration, datastore: any Datastore, isNetworkEnabled: Bool = true,
    clock: any Clock<Duration> = ContinuousClock(), inspectedAs plan: Inspection.Plan? = nil
  ) {
    var surroundings = ClientSurroundings()
    (surroundings.clock, surroundings.beginsOnline) = (clock, isNetworkEnabled)
    self.init(cache, datastore: datastore, users: nil, in: surroundings, inspectedAs: plan)
  }

  /// Opens a client with a given clock, random source and thread, for example for a simulation.
  /// - Parameter credentials: the source of the app's user. The client is notified of each change of the user.
  package convenience init(
    _ cache: LocalStoreConfiguration, datastore: any Datastore, credentials: any CredentialsProvider,
    in surroundings: ClientSurroundings, inspectedAs plan: Inspection.Plan? = nil
  ) {
    let users = AppUsers(credentials: credentials, appCheck: nil)
    let changes = users.authorization().map { UserChanges(credentials, $0) }
    self.init(cache, datastore: datastore, users: changes, in: surroundings, inspectedAs: plan)
  }

  /// Opens a client.
  /// - Parameters:
  ///   - users: reports changes of the app's user to the client; `nil` if there is no user.
  ///   - surroundings: the client's clock, random source and thread, and whether it connects and sends pending writes
  ///     as soon as it opens.
  ///   - plan: describes how to make the client visible to watchers such as `hearth attach`. If this is impossible, the
  ///     client works without it and logs the reason.
  init(
    _ cache: LocalStoreConfiguration, datastore: any Datastore, users: UserChanges?,
    in surroundings: ClientSurroundings,
    inspectedAs plan: Inspection.Plan? = nil
  ) {
    var configuration = SyncConfiguration(store: cache, user: users?.first)
    configuration.isNetworkEnabled = surroundings.beginsOnline
    let (clock, loop) = (surroundings.clock, surroundings.loop)
    let engine = SyncEngine(
      configuration, datastore: datastore, clock: clock, now: surroundings.now, random: surroundings.random, on: loop)
    callbackTasks = CallbackTasks(on: loop)
    transactionTurns = loop.map { TransactionQueue(clock: clock, on: $0) } ?? TransactionQueue()
    self.engine = engine
    self.datastore = datastore
    database = cache.database
    log = ClientLog(database: database, engine: engine, tasks: callbackTasks)
    outages = OutageReporter(database, clock: clock, tasks: callbackTasks)
    inspection = plan.flatMap { Inspection.open($0, engine, cache.database) }
    running = Task(executorPreference: engine.loop) { await engine.run() }
    if let users { endUsers = users.follow(engine) } else { endUsers = {} }
  }

  /// Creates a client that never connects to a backend and only reads its cache.
  package convenience init(onlyCache cache: LocalStoreConfiguration) {
    self.init(
      cache, datastore: UnavailableDatastore(because: "This client reads only the cache."), isNetworkEnabled: false)
  }

  /// Stops streams, closes the cache, and ends every listener and completion. A second call waits for the first one.
  package func terminate() async {
    endUsers()
    await inspection?.end()
    callbackListeners.finish()
    await engine.terminate()
    running.cancel()
    await running.value
    await callbackTasks.cancelAndWait()
  }

  /// Closes the client as abruptly as if its process were killed: it does not notify the clients that share its cache.
  package func abandon() async {
    await engine.abandon()
    await terminate()
  }
}

/// The tasks of listeners and completion handlers. Each task ends together with its listener or operation. Terminating
/// the client ends all tasks.
final class CallbackTasks: Sendable {
  private struct State {
    var tasks: [Int: Task<Void, Never>] = [:]
    var next = 0
    var isFinished = false
  }

  private let state = Mutex(State())
  private let executor: (any TaskExecutor)?

  /// - Parameter executor: the executor of the tasks; `nil` for the default executor.
  init(on executor: (any TaskExecutor)? = nil) { self.executor = executor }

  /// Starts a task, unless `cancelAndWait()` was called before.
  /// - Returns: whether the task was started.
  @discardableResult
  func start(_ operation: @escaping @Sendable () async -> Void) -> Bool {
    state.withLock { state in
      if state.isFinished { return false }
      let number = state.next
      state.next += 1
      // The task must not remove itself before it is stored: both need the lock.
      state.tasks[number] = Task(executorPreference: executor) {
        await operation()
        self.forget(number)
      }
      return true
    }
  }

  private func forget(_ number: Int) {
    state.withLock { _ = $0.tasks.removeValue(forKey: number) }
  }

  func cancelAndWait() async {
    let tasks = state.withLock { state in
      state.isFinished = true
      return Array(state.tasks.values)
    }
    for task in tasks { task.cancel() }
    for task in tasks { await task.value }
  }
}

/// The clock, random source and thread that an app's clients use. They belong to this machine or to a simulation.
package struct ClientSurroundings: Sendable {
  /// The clock for every delay and timeout.
  package var clock: any Clock<Duration> = ContinuousClock()
  /// Returns the time of day.
  package var now: @Sendable () -> FirestoreModel.Timestamp = FirestoreModel.Timestamp.now
  /// The source of randomness. Each client and each transaction has its own copy.
  package var random: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()
  /// Generates an id for a document that is created without one.
  package var documentID: @Sendable () -> String = { AutomaticID.make() }
  /// Whether clients connect to the network as soon as they open.
  package var beginsOnline = true
  /// The thread of a simulation, which runs clients and their callbacks. If `nil`, clients have separate threads, and
  /// callbacks run on the queue that the settings name.
  package var loop: (any WorkLoop & TaskExecutor)?
  /// The clients that share a cache on the simulation's thread.
  package var peers: SimulatedPeers?

  package init() {}
}
