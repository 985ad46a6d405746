// SPDX-License-Identifier: Apache-2.0
import FirestoreBackend
import FirestoreServer
import FirestoreSharing
import Synchronization

/// What a port gives access to.
enum PortSource: Sendable {
  case memory(LocalBackend)
  case shared(SharedData)
}

/// A port on which the embedded backend is served, wherever it is open: here, or in another process that shares its
/// data. When that one ends, connections end with it, and the next lead to the one that took its place.
struct ServedPort: Sendable {
  private let configuration: FirestoreServer.Configuration
  private let source: PortSource

  init(_ configuration: FirestoreServer.Configuration, _ source: PortSource) {
    self.configuration = configuration
    self.source = source
  }

  /// Serves until there is a stop; then calls have a moment to end.
  /// - Parameter ready: called once, with the bound port, when connections are accepted.
  /// - Throws: `RPCStatus` that says why the address cannot be listened on.
  func run(until stop: StopSignal, ready: @escaping @Sendable (Int) -> Void) async throws {
    switch source {
    case .memory(let backend): try await serve(backend, configuration, until: stop, ready: ready)
    case .shared(let data):
      let bound = BoundPort(configuration, ready)
      while try await !relay(data, bound, until: stop) {
        if case (.own(let backend), _) = try await data.access() {
          return try await serve(backend, bound.configuration, until: stop) { bound.isReady(at: $0) }
        }
      }
    }
  }

  private func serve(
    _ backend: LocalBackend, _ configuration: FirestoreServer.Configuration, until stop: StopSignal,
    ready: @escaping @Sendable (Int) -> Void
  ) async throws {
    let server = FirestoreServer(configuration, backend: backend)
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await server.run(ready: ready) }
      group.addTask { for await _ in stop.stops() { await server.shutDown() } }
      _ = try await group.next()
      group.cancelAll()
    }
  }

  /// Leads to other processes as long as those have the data.
  /// - Returns: whether there was a stop; false if this process has the data.
  private func relay(_ data: SharedData, _ bound: BoundPort, until stop: StopSignal) async throws -> Bool {
    try await withThrowingTaskGroup(of: Bool.self) { group in
      group.addTask {
        for await _ in stop.stops() { return true }
        return true
      }
      group.addTask {
        while true {
          guard case (.over(let socket, _), let ended?) = try await data.access() else { return false }
          try await PortRelay(bound.configuration, to: socket).run(until: ended) { bound.isReady(at: $0) }
        }
      }
      defer { group.cancelAll() }
      return try await group.next() ?? true
    }
  }
}

/// The port that the system chose stays the same when the data changes hands.
private final class BoundPort: Sendable {
  private let state: Mutex<(configuration: FirestoreServer.Configuration, isReady: Bool)>
  private let ready: @Sendable (Int) -> Void

  init(_ configuration: FirestoreServer.Configuration, _ ready: @escaping @Sendable (Int) -> Void) {
    state = Mutex((configuration, false))
    self.ready = ready
  }

  var configuration: FirestoreServer.Configuration { state.withLock { $0.configuration } }

  func isReady(at port: Int) {
    let isFirst = state.withLock { state in
      state.configuration.port = port
      defer { state.isReady = true }
      return !state.isReady
    }
    if isFirst { ready(port) }
  }
}

/// The wish that something ends, which comes once and stays.
final class StopSignal: Sendable {
  private let state = Mutex((isStopped: false, waiting: [AsyncStream<Void>.Continuation]()))

  func stop() {
    let waiting = state.withLock { state in
      state.isStopped = true
      return state.waiting
    }
    for continuation in waiting { continuation.yield() }
  }

  /// For one who waits: wakes when there is a stop, and with each further one.
  func stops() -> AsyncStream<Void> {
    let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    let isStopped = state.withLock { state in
      state.waiting.append(continuation)
      return state.isStopped
    }
    if isStopped { continuation.yield() }
    return stream
  }
}
