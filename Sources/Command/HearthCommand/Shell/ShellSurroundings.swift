// SPDX-License-Identifier: Apache-2.0
import CommandOptions
import CommandOutput
import CommandTransfer
import FirestoreModel
import FirestoreProtocol
import Synchronization

/// The environment that the commands in `hearth shell` share: the default backend, the open connections, and
/// interrupts.
final class ShellSurroundings: CommandSurroundings {
  private struct State {
    var storage: StorageOptions
    var connections: [Place: BackendConnection] = [:]
    var command: Task<Void, any Error>?
    var listeners: [Int: AsyncStream<Interruptions.Cause>.Continuation] = [:]
    var lastListener = 0
    var wasInterrupted = false
    var isExpanded = false
    /// The databases that did not respond to the last request.
    var silent: Set<Place> = []
  }

  private struct Place: Hashable {
    var choice: BackendChoice
    var database: DatabaseID
  }

  let isReadOnly: Bool
  let readsCommands: Bool
  let tellsWrites: Bool
  let keepsConnections = true
  private let state: Mutex<State>

  init(
    _ storage: StorageOptions, isReadOnly: Bool = false, readsCommands: Bool = false, tellsWrites: Bool = false
  ) {
    self.tellsWrites = tellsWrites
    self.isReadOnly = isReadOnly
    self.readsCommands = readsCommands
    state = Mutex(State(storage: storage))
  }

  /// The options of the default backend, for commands that name no backend.
  var storage: StorageOptions {
    get { state.withLock { $0.storage } }
    set { state.withLock { $0.storage = newValue } }
  }

  var isExpanded: Bool {
    get { state.withLock { $0.isExpanded } }
    set { state.withLock { $0.isExpanded = newValue } }
  }

  func complete(_ options: inout StorageOptions) { options.inherit(storage) }

  // MARK: Connections

  func connection(
    _ choice: BackendChoice, _ database: DatabaseID, _ open: () throws(CommandFailure) -> BackendConnection
  ) throws(CommandFailure) -> BackendConnection {
    let place = Place(choice: choice, database: database)
    if let open = state.withLock({ $0.connections[place] }) { return open }
    var connection = try open()
    connection.datastore = InterruptibleDatastore(connection.datastore) { [weak self] answers in
      self?.state.withLock { state in
        if answers { state.silent.remove(place) } else { state.silent.insert(place) }
      }
    }
    let opened = connection
    state.withLock { $0.connections[place] = opened }
    return opened
  }

  /// Whether a backend did not respond to the last request.
  func isSilent(_ choice: BackendChoice, _ database: DatabaseID) -> Bool {
    state.withLock { $0.silent.contains(Place(choice: choice, database: database)) }
  }

  // MARK: Interruptions

  /// Runs a command in this environment, so that it can be interrupted.
  func run(_ work: @escaping @Sendable () async throws -> Void) async throws {
    let task = Task { try await Surroundings.$current.withValue(self) { try await work() } }
    state.withLock { ($0.command, $0.wasInterrupted) = (task, false) }
    defer { state.withLock { $0.command = nil } }
    try await task.value
  }

  /// Whether the last command was interrupted.
  var wasInterrupted: Bool { state.withLock { $0.wasInterrupted } }

  /// Interrupts the running command. A command that observes interruptions ends itself. Other commands are canceled.
  /// - Returns: whether a command is running.
  @discardableResult
  func interrupt(_ signal: Int32) -> Bool {
    let (command, listeners) = state.withLock { state in
      if state.command != nil { state.wasInterrupted = true }
      return (state.command, Array(state.listeners.values))
    }
    guard let command else { return false }
    if listeners.isEmpty { command.cancel() }
    for listener in listeners { listener.yield(.signal(signal)) }
    return true
  }

  /// The interruptions for a command that observes them.
  func interruptions() -> Interruptions {
    let (stream, continuation) = AsyncStream.makeStream(
      of: Interruptions.Cause.self, bufferingPolicy: .bufferingNewest(1))
    let number = state.withLock { state in
      state.lastListener += 1
      state.listeners[state.lastListener] = continuation
      return state.lastListener
    }
    continuation.onTermination = { [weak self] _ in
      self?.state.withLock { _ = $0.listeners.removeValue(forKey: number) }
    }
    return Interruptions(stream)
  }
}

/// A connection to a backend. It aborts requests when their task is canceled, and reports whether the backend responds.
struct InterruptibleDatastore: Datastore {
  private let datastore: any Datastore

  /// Called after each call that shows whether the backend is reachable.
  private let tell: @Sendable (_ answers: Bool) -> Void

  init(_ datastore: any Datastore, tell: @escaping @Sendable (_ answers: Bool) -> Void = { _ in }) {
    (self.datastore, self.tell) = (datastore, tell)
  }

  private func telling<Result>(
    _ call: () async throws(RPCStatus) -> Result
  ) async throws(RPCStatus) -> Result {
    do throws(RPCStatus) {
      let result = try await call()
      tell(true)
      return result
    } catch {
      switch error.code {
      // A caller that stopped waiting does not know whether the backend would have responded.
      case .cancelled, .deadlineExceeded: break
      default: tell(error.code != .unavailable)
      }
      throw error
    }
  }

  private func check() throws(RPCStatus) {
    if Task.isCancelled { throw RPCStatus(.cancelled, "It was interrupted.") }
  }

  // A client ends its streams itself.
  func watch(
    requests: StreamRequests<WatchRequest>, deliver: @Sendable (WatchEvent) async -> Void
  ) async throws(RPCStatus) { try await datastore.watch(requests: requests, deliver: deliver) }

  func write(
    requests: StreamRequests<WriteRequest>, deliver: @Sendable (WriteEvent) async -> Void
  ) async throws(RPCStatus) { try await datastore.write(requests: requests, deliver: deliver) }

  func commit(_ mutations: [Mutation]) async throws(RPCStatus) -> CommitResponse {
    try check()
    return try await telling { () async throws(RPCStatus) in try await datastore.commit(mutations) }
  }

  func read<Read: DatastoreRead>(_ read: Read) async throws(RPCStatus) -> Read.Answer {
    try check()
    return try await telling { () async throws(RPCStatus) in try await datastore.read(read) }
  }

  func visitDescendants(
    _ request: DescendantsRequest, deliver: @escaping @Sendable ([Document]) async -> Bool
  ) async throws(RPCStatus) {
    try check()
    try await telling { () async throws(RPCStatus) in
      try await datastore.visitDescendants(request, deliver: deliver)
    }
  }

  var canFallSilent: Bool { datastore.canFallSilent }
  func reconnect() { datastore.reconnect() }
  var traffic: DatastoreTraffic? { datastore.traffic }
}
