// SPDX-License-Identifier: Apache-2.0
package import FirestoreBackend
package import FirestoreClientState
package import FirestoreModel
import FirestoreSimulation
package import FirestoreSync
package import Hearth
import Synchronization

/// A client of a `TestWorld`. It can be closed or killed, and then reopened with its cache.
package final class WorldClient: Sendable {
  /// The properties of a client that do not change when it is closed and reopened.
  struct Identity: Sendable {
    let name: String?
    let users = UserSession()
    let faults: FaultInjector
    let clock = ClientClock()
    let inspection: Inspection.Plan?
  }

  private struct State: Sendable {
    var opening: ClientOpening
    var isOnline: Bool
  }

  private let identity: Identity
  private let world: TestWorld
  private let state: Mutex<State>

  init(_ plan: ClientPlan, in world: TestWorld) {
    let identity = Identity(
      name: plan.name, faults: plan.faults ?? world.faults(of: plan.name ?? ""), inspection: plan.inspection)
    if let user = plan.user { identity.users.signIn(userID: user) { _ in user } }
    (self.identity, self.world) = (identity, world)
    state = Mutex(State(opening: world.open(identity, on: plan.cache, isOnline: true), isOnline: true))
  }

  /// The client's name; `nil` for the only client of a scenario.
  package var name: String? { identity.name }
  /// The session of the client's user, who can change at any time.
  package var users: UserSession { identity.users }
  /// The fault injector between the client and the backend.
  package var faults: FaultInjector { identity.faults }
  package var opening: ClientOpening { state.withLock(\.opening) }
  package var isOnline: Bool { state.withLock(\.isOnline) }

  /// The parts of the client that the agreement checks need.
  package var agreeing: AgreeingClient {
    let (opening, isOnline) = state.withLock { ($0.opening, $0.isOnline) }
    return AgreeingClient(name, opening.engine, isOnline: isOnline, opening.listeners)
  }

  // MARK: Settings

  package func goOffline() async {
    await opening.engine.disableNetwork()
    state.withLock { $0.isOnline = false }
  }

  package func goOnline() async {
    await opening.engine.enableNetwork()
    state.withLock { $0.isOnline = true }
  }

  /// Signs a user in. If `user` is `nil`, signs the current user out. Waits until the client uses the new user's queue.
  package func changeUser(to user: String?) async {
    if let user { users.signIn(userID: user) { _ in user } } else { users.signOut() }
    _ = await opening.engine.statusNow()
  }

  /// Sets the difference between the client's clock and the world's time. Positive values set the clock ahead; negative
  /// values set it back.
  package func setClock(ahead lead: Duration) { identity.clock.lead = lead }

  // MARK: Openings

  /// Closes the client and reopens it with the same cache.
  /// - Parameter sizeLimit: the new size limit of the cache in bytes; `nil` to keep the current limit.
  package func restart(sizeLimit: Int64? = nil) async {
    let (before, isOnline) = state.withLock { ($0.opening, $0.isOnline) }
    await before.close()
    var cache = before.cache
    if let sizeLimit { cache.sizeLimit = sizeLimit }
    open(cache, isOnline: isOnline)
  }

  /// Abandons the client without closing it, as after `kill -9`, and reopens it with a copy of its current files. If
  /// other clients use the cache, the client is reopened without a copy.
  /// - Throws: `internal` if the files cannot be copied.
  package func kill() async throws(RPCStatus) {
    let (before, isOnline) = state.withLock { ($0.opening, $0.isOnline) }
    let cache = before.cache.isShared ? before.cache : try world.copy(before.cache)
    await before.close(isKilled: cache.isShared)
    open(cache, isOnline: isOnline)
  }

  private func open(_ cache: ClientCache, isOnline: Bool) {
    let next = world.open(identity, on: cache, isOnline: isOnline)
    state.withLock { $0.opening = next }
  }

  package func close() async { await opening.close() }
}

/// One use of a world's client, from opening the cache until the client is closed or killed.
package final class ClientOpening: Sendable {
  package let client: Client
  package let cache: ClientCache
  let surroundings: ClientSurroundings
  private let state = Mutex(State())

  private struct State: Sendable {
    var listeners: [ListenerProbe] = []
    var tasks: [Task<Void, Never>] = []
    var isClosed = false
  }

  init(_ client: Client, on cache: ClientCache, in surroundings: ClientSurroundings) {
    (self.client, self.cache, self.surroundings) = (client, cache, surroundings)
  }

  package var engine: SyncEngine { client.engine }

  /// The listeners, in the order in which they were opened.
  package var listeners: [ListenerProbe] { state.withLock(\.listeners) }

  /// Whether the client is closing or closed. After that, it receives no more replies.
  package var isClosed: Bool { state.withLock(\.isClosed) }

  /// Reports a listener's events until the listener or the client ends.
  package func follow(_ probe: ListenerProbe, _ report: @escaping @Sendable (ListenerProbe.Event) -> Void) {
    state.withLock { $0.listeners.append(probe) }
    start { await probe.follow(report) }
  }

  package func stop(_ probe: ListenerProbe) {
    state.withLock { state in state.listeners.removeAll { $0 === probe } }
    probe.stop()
  }

  /// Reports the outcomes of writes until the client ends. Includes writes that were made before the client was
  /// reopened.
  package func followAnswers(_ report: @escaping @Sendable (WriteOutcome) -> Void) {
    start { [engine] in
      var seen = 0
      for await status in engine.status(queueEnds: 0) {
        for outcome in status.recentOutcomes where outcome.sequence > seen {
          seen = outcome.sequence
          report(outcome)
        }
      }
    }
  }

  /// Runs work on the world's thread until the client is closed.
  private func start(_ work: @escaping @Sendable () async -> Void) {
    let task = Task(executorPreference: surroundings.loop) { await work() }
    state.withLock { $0.tasks.append(task) }
  }

  /// Closes the client.
  /// - Parameter isKilled: whether to end the client like a killed process, without notifying the clients that share
  ///   its cache.
  package func close(isKilled: Bool = false) async {
    let tasks = state.withLock { state in
      state.isClosed = true
      return state.tasks
    }
    if isKilled { await engine.abandon() }
    await client.terminate()
    for task in tasks {
      task.cancel()
      await task.value
    }
  }
}

/// The clock of a client, with its difference from the world's time.
final class ClientClock: Sendable {
  private let state = Mutex(Duration.zero)

  var lead: Duration {
    get { state.withLock { $0 } }
    set { state.withLock { $0 = newValue } }
  }
}
