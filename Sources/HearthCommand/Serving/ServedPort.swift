// SPDX-License-Identifier: Apache-2.0
import FirestoreBackend
import FirestoreModel
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
  private var configuration: FirestoreServer.Configuration
  private let source: PortSource
  private let enforced: String?

  /// - Parameter enforced: for which the port never leads to another process, which knows nothing of it.
  init(_ configuration: FirestoreServer.Configuration, _ source: PortSource, enforcing enforced: String? = nil) {
    self.configuration = configuration
    self.source = source
    self.enforced = enforced
  }

  /// Has data open here that another process has, which is told to let it go.
  /// - Parameter enforced: what the port holds requests to.
  /// - Throws: `unavailable` where that one keeps it.
  static func claim(_ data: SharedData, for enforced: String) async throws(RPCStatus) {
    do throws(RPCStatus) { try await data.claim() } catch {
      if error.code == .cancelled { throw error }
      throw RPCStatus(
        .unavailable,
        "\(error.message) Only who has it open can enforce \(enforced): end that process, or serve other data (--data).")
    }
  }

  /// Serves until there is a stop; then calls have a moment to end.
  /// - Parameter ready: called once, with the bound port, when connections are accepted.
  /// - Throws: `RPCStatus` that says why the address cannot be listened on.
  func run(until stop: StopSignal, ready: @escaping @Sendable (Int) -> Void) async throws {
    switch source {
    case .memory(let backend): try await serve(backend, until: stop, orEnd: nil, ready)
    case .shared(let data):
      // Connections that come while the data changes hands wait.
      var port = self
      port.configuration.kept = KeptPort()
      let first = FirstCall(ready)
      while try await port.turn(with: data, until: stop, { first($0) }) {}
    }
  }

  /// Leads to other processes, and then serves the data when it is open here, for as long as it is.
  /// - Returns: false if there was a stop.
  private func turn(
    with data: SharedData, until stop: StopSignal, _ ready: @escaping @Sendable (Int) -> Void
  ) async throws -> Bool {
    guard let (backend, end) = try await relay(data, until: stop, ready) else { return false }
    try await serve(backend, until: stop, orEnd: end, ready)
    return !stop.isStopped
  }

  /// - Parameter end: of the time for which the backend is to be served.
  private func serve(
    _ backend: LocalBackend, until stop: StopSignal, orEnd end: SharedData.End?,
    _ ready: @escaping @Sendable (Int) -> Void
  ) async throws {
    let server = FirestoreServer(configuration, backend: backend)
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        for await _ in stop.stops() {
          configuration.kept?.letGo()
          await server.shutDown()
        }
      }
      if let end {
        group.addTask {
          await end()
          if !Task.isCancelled { await server.shutDown() }
        }
      }
      defer { group.cancelAll() }
      try await server.run(ready: ready)
    }
  }

  /// Leads to other processes as long as those have the data.
  /// - Returns: the data when it is open here; `nil` if there was a stop.
  private func relay(
    _ data: SharedData, until stop: StopSignal, _ ready: @escaping @Sendable (Int) -> Void
  ) async throws -> (LocalBackend, SharedData.End)? {
    try await withThrowingTaskGroup(of: (LocalBackend, SharedData.End)?.self) { group in
      group.addTask {
        for await _ in stop.stops() { break }
        return nil
      }
      group.addTask {
        while true {
          let (access, end) = try await data.access()
          switch access {
          case .own(let backend): return (backend, end)
          case .over(let socket, _):
            if let enforced {
              try await Self.claim(data, for: enforced)
              continue
            }
            try await PortRelay(configuration, to: socket).run(until: end, ready: ready)
          }
          // Cancelled while the way is there still, it would open the port again and again.
          if Task.isCancelled { return nil }
        }
      }
      defer { group.cancelAll() }
      return try await group.next() ?? nil
    }
  }
}

/// Passes the first call on.
private final class FirstCall: Sendable {
  private let isOver = Atomic(false)
  private let call: @Sendable (Int) -> Void

  init(_ call: @escaping @Sendable (Int) -> Void) { self.call = call }

  func callAsFunction(_ number: Int) { if !isOver.exchange(true, ordering: .relaxed) { call(number) } }
}

/// The wish that something ends, which comes once and stays.
final class StopSignal: Sendable {
  private let state = Mutex((isStopped: false, waiting: [AsyncStream<Void>.Continuation]()))

  var isStopped: Bool { state.withLock { $0.isStopped } }

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
